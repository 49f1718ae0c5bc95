"""The commands of docs/recipes.md, taken from the page and run in a shell as a user runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT
from tests.judge_server import JudgeServer
from tests.test_sources import local, mmst_row  # noqa: F401 - a fixture

PAGE = (CHECKOUT / "docs" / "recipes.md").read_text(encoding="utf-8")
VERDICT = json.dumps({"accuracy": 4, "relevance": 4, "completeness": 4, "parsimony": 4})
TASK = "mirage_mmst_mg"


def sections() -> dict[str, str]:
    return dict(re.findall(r"^## (.+?)\n(.+?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def run(title: str, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    """Run a recipe's shell blocks as one script, in `folder`, with the programs of this environment."""
    blocks = re.findall(r"^```sh\n(.+?)^```", sections()[title], re.MULTILINE | re.DOTALL)
    assert blocks
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {"PATH": path, "OMP_NUM_THREADS": "1", "MODEL": "reference", "MODEL_ARGS": "", "TASKS": TASK, **variables}
    return subprocess.run(
        ["bash", "-euc", "\n".join(blocks)],
        cwd=folder,
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=900,
    )


def results(folder: Path) -> dict[str, float]:
    """The numbers of the one results file below `folder`, without NaN."""
    (path,) = folder.rglob("*_results.json")
    row = json.loads(path.read_text())["results"][TASK]
    return {key: value for key, value in row.items() if isinstance(value, float) and value == value}


@pytest.fixture
def rows(local):  # noqa: F811
    """Five rows where MIRAGE_DATA finds them."""
    return local([mmst_row(number) for number in range(5)])


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def judge(monkeypatch):
    """One server for every judge, which always gives full marks."""
    with JudgeServer(VERDICT) as server:
        for name in ("QWEN3", "PHI4", "DEEPSEEK", "SINGLE"):
            monkeypatch.setenv(f"LMMS_TASKS_JUDGE_{name}_BASE_URL", server.base_url)
        monkeypatch.setenv("LMMS_TASKS_JUDGE_SINGLE_MODEL", "judge")
        yield server


def test_each_recipe_says_whether_it_was_run_and_those_that_were_have_a_test():
    told = {title: text.strip().split("\n")[0] for title, text in sections().items()}
    assert len(told) == 8 and all(re.match(r"\*.*([Rr]un by a test|[Nn]ot run here)", line) for line in told.values())
    source = Path(__file__).read_text(encoding="utf-8")
    claimed = [title for title, line in told.items() if "run by a test" in line.lower()]
    assert [title for title in claimed if f'run("{title}"' not in source] == []
    with_commands = [title for title, text in sections().items() if "```sh" in text]
    assert with_commands == claimed


@pytest.mark.long
def test_reproducing_a_leaderboard(rows, work, judge):
    done = run("Reproduce a leaderboard", work)
    assert done.returncode == 0, done.stdout + done.stderr
    assert results(work)["w_sum,none"] == 1.0
    assert results(work)["judgements_per_sample,none"] == 9.0
    # Two tiny calls of the doctor go to each judge's address; equal judges share none of the 5 × 9 judgements.
    assert judge.count >= 45
    assert "5 rows" in done.stdout and (work / "report.html").stat().st_size > 10_000


@pytest.mark.long
def test_judging_later_gives_the_numbers_of_the_run(rows, work, judge, monkeypatch):
    done = run("Generate on GPUs, judge later", work, JUDGES="single")
    assert done.returncode == 0, done.stdout + done.stderr
    assert results(work / "scores")["w_sum,none"] == 1.0 and judge.count == 5
    assert (work / "report.html").is_file()


@pytest.mark.long
def test_a_sweep_skips_what_is_done_and_survives_a_broken_checkpoint(rows, work, judge, monkeypatch):
    from lmms_tasks.baselines.tiny_checkpoint import checkpoint

    folder = work / "checkpoints"
    for name in ("step1", "step2"):
        shutil.copytree(checkpoint(), folder / name)
    (folder / "step3").mkdir()
    given = {
        "CHECKPOINTS": str(folder),
        "MODEL": "gemma3",
        "MODEL_ARGS": ",device=cpu,device_map=cpu",
        "FIRST": "step1",
        "SECOND": "step2",
        "LMMS_TASKS_JUDGES": "single",
    }
    done = run("Sweep a folder of checkpoints every night", work, **given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "step3 failed" in done.stderr and "step1 failed" not in done.stderr
    assert results(work / "results" / "step1") == results(work / "results" / "step2")
    assert "w_sum" in done.stdout
    # Started again, only the broken one is tried.
    again = run("Sweep a folder of checkpoints every night", work, **given)
    assert again.returncode == 0 and len(list((work / "results").rglob("*_results.json"))) == 2


@pytest.mark.long
def test_several_ranks(rows, work, judge):
    done = run("Several ranks", work, RANKS="2", LMMS_TASKS_JUDGES="single")
    assert done.returncode == 0, done.stdout + done.stderr
    assert results(work)["w_sum,none"] == 1.0 and judge.count == 5


@pytest.mark.long
def test_a_cluster_without_a_network(rows, work, monkeypatch):
    monkeypatch.delenv("MIRAGE_DATA")
    done = run("A cluster without a network", work, ROWS=str(rows))
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (work / "answers").rglob(f"*_samples_{TASK}.jsonl")
    assert len(log.read_text().splitlines()) == 5


@pytest.mark.long
def test_reasoning_models(rows, work, judge):
    limits = []

    def answer(body: dict, number: int) -> str:
        limits.append(body.get("max_tokens") or body.get("max_completion_tokens"))
        return "<think>It may be rust.</think>Cut it back."

    with JudgeServer(answer) as model:
        arguments = f"model=scripted,base_url={model.base_url},api_key=none"
        done = run("Reasoning models", work, MODEL="openai", MODEL_ARGS=arguments, LMMS_TASKS_JUDGES="single")
    assert done.returncode == 0, done.stdout + done.stderr
    assert limits == [16384] * 5
    assert results(work)["w_sum,none"] == 1.0
    assert judge.count == 5 and not any("may be rust" in request.prompt for request in judge.requests)


@pytest.mark.long
def test_weights_and_biases(rows, work, judge):
    pytest.importorskip("wandb", reason="needs wandb: pip install wandb")
    done = run("Weights & Biases", work, WANDB_MODE="offline", LMMS_TASKS_JUDGES="single")
    assert done.returncode == 0, done.stdout + done.stderr
    assert results(work)["w_sum,none"] == 1.0
    (log,) = work.glob("wandb/offline-run-*/*.wandb")
    assert f"{TASK}/w_sum".encode() in log.read_bytes()
