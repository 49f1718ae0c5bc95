"""A scripted judge behind the real profile, and the sample twin's rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loguru import logger

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.mmdeepresearch_bench.samples.reports import TASKS
from lmms_tasks.sources import load_rows
from tests.judge_server import JudgeServer
from tests.mmdeepresearch_bench.web import picture

SAMPLE = "mmdeepresearch_bench_sample"
PROFILE = """
[mmdeepresearch_bench]
concurrency = 16

[[mmdeepresearch_bench.judges]]
name = "scripted"
model = "judge"
retry_delay = 0.01
tries = 2
"""


@pytest.fixture
def judged_by(monkeypatch, tmp_path) -> Iterator[Callable[..., JudgeServer]]:
    """Starts a scripted judge and lets the profile point to it; `name` is the judge that it is, for profiles of several."""
    servers: list[JudgeServer] = []
    file = tmp_path / "scripted.toml"

    def start(script, profile: str = PROFILE, name: str = "SCRIPTED") -> JudgeServer:
        server = JudgeServer(script)
        server.__enter__()
        servers.append(server)
        file.write_text(profile)
        monkeypatch.setenv("LMMS_TASKS_JUDGES", str(file))
        monkeypatch.setenv(f"LMMS_TASKS_JUDGE_{name}_BASE_URL", server.base_url)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def warned() -> Iterator[list[str]]:
    """What is written to the log from warnings on."""
    told: list[str] = []
    sink = logger.add(lambda message: told.append(str(message).strip()), level="WARNING", format="{message}")
    yield told
    logger.remove(sink)


@pytest.fixture
def sample_rows():
    """The rows of the sample twin by number."""
    return {row["id"]: row for row in load_rows(read_catalogue().tasks[SAMPLE])}


@pytest.fixture
def score(capsys) -> Callable[..., dict]:
    """`lmms-tasks score TASK FILE… --json` in this process: what it prints."""

    def run(task: str, *arguments: object) -> dict:
        assert main(["score", task, *map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def folder(tmp_path) -> Path:
    """The six sample reports as Markdown files named by id."""
    reports = tmp_path / "reports"
    reports.mkdir()
    for task in TASKS:
        (reports / f"Q{task.id}.md").write_text(task.report)
    return reports


def metrics(printed, task=SAMPLE) -> dict:
    """A task's results by the metric's own name."""
    return {name.removesuffix(",none"): value for name, value in printed["results"][task].items()}


def real_rows(tmp_path, reports) -> str:
    """The tasks in the official form, with an image each; the file's path."""
    images = tmp_path / "images"
    images.mkdir()
    lines = []
    for task in reports:
        (images / f"Q{task.id}I0.png").write_bytes(picture())
        told = {"language": task.language, "difficulty": task.difficulty, "image_url": [f"Q{task.id}I0.png"]}
        lines.append(json.dumps({"id": task.id, "caption": task.caption, "body": task.body, **told}))
    (tmp_path / "quiz.jsonl").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "quiz.jsonl")
