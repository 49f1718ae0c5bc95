"""Ctrl-C while judges are asked, and the line that each judge's calls are announced with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest

from tests.judge_server import Answer, JudgeServer
from tests.lmms_eval_process import BIN
from tests.test_score import sample_answers

FULL = json.dumps({"accuracy": 4, "relevance": 4, "completeness": 4, "parsimony": 4})


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(
        "[mirage.mmst]\ngenerations = 2\nconcurrency = 4\n"
        '[[mirage.mmst.judges]]\nname = "a"\nmodel = "judge-a"\n[[mirage.mmst.judges]]\nname = "b"\nmodel = "judge-b"\n'
    )
    return path


def start(server, profile, home, *arguments):
    environment = {
        **os.environ,
        "LMMS_TASKS_HOME": str(home),
        "LMMS_TASKS_JUDGES": str(profile),
        "OPENAI_BASE_URL": server.base_url,
    }
    command = [str(BIN / "lmms-tasks"), "score", *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_returns_at_once_and_the_next_run_asks_only_for_the_rest(tmp_path, home, profile):
    answers, rows = sample_answers(tmp_path, "mirage_mmst_mg_sample")

    def script(body, number):
        # The first ten are quick, all others take as long as a reasoning judge may.
        return FULL if number < 10 else Answer(FULL, latency=60)

    with JudgeServer(script, models=["judge-a", "judge-b"]) as server:
        process = start(server, profile, home, "mirage_mmst_mg_sample", answers)
        deadline = time.monotonic() + 60
        while server.count < 14 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        assert time.monotonic() - pressed < 3
        assert process.returncode == 130
        assert "the same command goes on from there" in told and "Traceback" not in told
    with JudgeServer(FULL, models=["judge-a", "judge-b"], port=server.port) as server:
        process = start(server, profile, home, "mirage_mmst_mg_sample", answers, "--json")
        out, told = process.communicate(timeout=60)
        assert process.returncode == 0, told
        assert json.loads(out)["results"]["mirage_mmst_mg_sample"]["w_sum,none"] == 1.0
        # Two judges, two generations a row; ten replies had arrived.
        assert server.count == rows * 4 - 10


def test_before_the_first_call_each_judge_has_one_line_with_calls_cached_tokens_and_host(tmp_path, home, profile):
    first_two, _ = sample_answers(tmp_path, "mirage_mmst_mg_sample", count=2)
    all_rows, rows = sample_answers(tmp_path, "mirage_mmst_mg_sample", name="all.jsonl")
    with JudgeServer(FULL, models=["judge-a", "judge-b"]) as server:
        for file, calls, cached in ((first_two, 4, 0), (all_rows, 2 * rows - 4, 4), (all_rows, 0, 2 * rows)):
            asked = server.count
            process = start(server, profile, home, "mirage_mmst_mg_sample", file)
            _, told = process.communicate(timeout=60)
            assert server.count - asked == 2 * calls
            for name in ("a", "b"):
                (line,) = [line for line in told.splitlines() if f"Judge {name}: model judge-{name}" in line]
                assert f"at 127.0.0.1:{server.port}, {calls} calls to make and {cached} answered by the cache" in line
                assert "leaves this machine for 127.0.0.1" in line
                tokens = int(line.split("about ")[1].split(" tokens")[0].replace(",", ""))
                # A prompt of ours has some hundred tokens.
                assert 200 * calls <= tokens <= 3000 * calls
