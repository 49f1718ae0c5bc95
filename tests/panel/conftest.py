"""Generated rows, a panel of three judges × three generations, and scoring by the real command."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from lmms_tasks.cli import main
from tests.judge_server import Answer, Reply

TASK = "mirage_mmst_mg"
ROWS = 20
JUDGES = ("ada", "bea", "cas")
GENERATIONS = 3
FACETS = ("accuracy", "relevance", "completeness", "parsimony")
_ROW = re.compile(r"What ails plant (\d+)\?")


@dataclass(frozen=True)
class Material:
    """Files of one test: rows, answers to them, the judges' profile."""

    folder: Path
    rows: Path
    answers: Path
    profile: Path
    home: Path

    def variables(self) -> dict[str, str]:
        """The environment of a command that scores these answers."""
        return {
            "MIRAGE_DATA": str(self.rows),
            "LMMS_TASKS_JUDGES": str(self.profile),
            "LMMS_TASKS_HOME": str(self.home),
        }

    def judged_at(self, urls: str | Mapping[str, str], **keys: Any) -> Material:
        """Write the profile: every judge at one URL, or each at its own; `keys` hold for each judge."""
        settings = {"temperature": 0.6, "retry_delay": 0.001, "concurrency": 4, **keys}
        lines = ["[mirage.mmst]", f"generations = {GENERATIONS}"]
        for judge in JUDGES:
            url = urls if isinstance(urls, str) else urls[judge]
            lines += ["[[mirage.mmst.judges]]", f'name = "{judge}"', f'model = "{judge}-1"', f'base_url = "{url}"']
            lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        self.profile.write_text("\n".join(lines) + "\n")
        return self


@dataclass(frozen=True)
class Scored:
    """What `lmms-tasks score` left: metrics, manifest, and each row's items."""

    metrics: dict[str, float | None]
    manifest: dict[str, Any]
    rows: list[dict[str, dict[str, Any]]]

    def verdicts(self, row: int) -> list[dict[str, Any]]:
        """The nine verdicts on a row."""
        ((judgement),) = self.rows[row]["judged_coverage"]["judgements"]
        return judgement["verdicts"]

    def all_verdicts(self) -> list[dict[str, Any]]:
        """The verdicts on all rows."""
        return [verdict for row in range(len(self.rows)) for verdict in self.verdicts(row)]


@pytest.fixture
def material(tmp_path: Path, home: Path) -> Material:
    """Twenty rows with an image each, and an answer to each."""
    return make_material(tmp_path, home)


def make_material(folder: Path, home: Path, rows: int = ROWS) -> Material:
    """Rows, answers and the place of a profile in `folder`."""
    PIL.Image.new("RGB", (8, 8), "green").save(folder / "leaf.png")
    paths = {name: folder / name for name in ("standard.json", "answers.jsonl", "panel.toml")}
    written = [
        {
            "id": f"row-{number}",
            "question": f"What ails plant {number}?",
            "answer": f"Plant {number} lacks iron; lower the pH of its soil.",
            "category": "Plant Disease Management" if number % 2 else "Insect and Pest Management",
            "entity_name": "plant",
            "images": ["leaf.png"],
        }
        for number in range(rows)
    ]
    paths["standard.json"].write_text(json.dumps(written))
    answers = [{"doc_id": number, "prediction": f"Answer {number}: feed it iron."} for number in range(rows)]
    paths["answers.jsonl"].write_text("\n".join(map(json.dumps, answers)))
    return Material(folder, *paths.values(), home)


@pytest.fixture
def score(material: Material, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> Callable[[], Scored]:
    """Score the material's answers by `lmms-tasks score` inside this process."""
    runs = 0

    def run() -> Scored:
        nonlocal runs
        runs += 1
        for name, value in material.variables().items():
            monkeypatch.setenv(name, value)
        output = material.folder / f"output{runs}"
        capsys.readouterr()
        assert main(["score", TASK, str(material.answers), "--json", "--output", str(output)]) == 0
        return read_scored(capsys.readouterr().out, output)

    return run


def read_scored(printed: str, output: Path) -> Scored:
    """What a run of `score --json --output` printed and wrote."""
    told = json.loads(printed)
    (items,) = output.glob(f"*_samples_{TASK}.jsonl")
    rows = [json.loads(line) for line in items.read_text().splitlines()]
    return Scored(told["results"][TASK], told["manifests"][TASK], rows)


def row_of(body: Mapping[str, Any]) -> int:
    """The number of the row that a request asks about."""
    return int(_ROW.search(body["messages"][-1]["content"])[1])


def judge_of(body: Mapping[str, Any]) -> str:
    """The name of the judge that a request asks."""
    return body["model"].removesuffix("-1")


def scores_of(*what: Any) -> dict[str, int]:
    """Scores from 1 to 3 that depend on nothing but `what`: 0 and 4 are left to replies that must never count."""
    digest = hashlib.sha256(repr(what).encode()).digest()
    return {facet: 1 + byte % 3 for facet, byte in zip(FACETS, digest, strict=False)}


def turns() -> Callable[[Mapping[str, Any]], int]:
    """Counts how often each judge was asked about each row, from 0.

    A request does not say its generation. Replies that depend on the turn are the same three for a judge and row in
    whatever order its generations come, and so are all means over them.
    """
    asked: dict[tuple[str, int], int] = {}

    def turn(body: Mapping[str, Any]) -> int:
        place = judge_of(body), row_of(body)
        asked[place] = asked.get(place, -1) + 1
        return asked[place]

    return turn


def varied(latency: float = 0.0) -> Callable[[dict[str, Any], int], Reply]:
    """A script whose judges differ from one another, from row to row and from turn to turn."""
    turn = turns()
    return lambda body, number: Answer(json.dumps(scores_of(judge_of(body), row_of(body), turn(body))), latency=latency)


def stored(home: Path) -> dict[str, str]:
    """The replies in the cache by key, as text."""
    path = home / "judge.sqlite"
    if not path.exists():
        return {}
    connection = sqlite3.connect(path)
    try:
        return dict(connection.execute("SELECT key, text FROM replies"))
    except sqlite3.OperationalError:
        return {}  # killed before the tables were there
    finally:
        connection.close()


def integrity(home: Path) -> str:
    """SQLite's own verdict on the cache: "ok"."""
    connection = sqlite3.connect(home / "judge.sqlite")
    try:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        connection.close()
