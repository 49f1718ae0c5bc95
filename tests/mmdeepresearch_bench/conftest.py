"""A scripted judge behind the real profile, and the sample twin's rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.sources import load_rows
from tests.judge_server import JudgeServer

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
    """Starts a scripted judge and lets the profile point to it."""
    servers: list[JudgeServer] = []
    profile = tmp_path / "scripted.toml"
    profile.write_text(PROFILE)

    def start(script) -> JudgeServer:
        server = JudgeServer(script)
        server.__enter__()
        servers.append(server)
        monkeypatch.setenv("LMMS_TASKS_JUDGES", str(profile))
        monkeypatch.setenv("LMMS_TASKS_JUDGE_SCRIPTED_BASE_URL", server.base_url)
        return server

    yield start
    for server in servers:
        server.close()


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
