"""Every call accounted for: asked once, kept when it arrives, never asked again, whatever ends the process."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import time
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from tests.judge_server import Answer, JudgeServer
from tests.lmms_eval_process import BIN, lmms_tasks

from .conftest import (
    GENERATIONS,
    JUDGES,
    ROWS,
    TASK,
    integrity,
    judge_of,
    read_scored,
    row_of,
    scores_of,
    stored,
    varied,
)

CALLS = ROWS * len(JUDGES) * GENERATIONS  # 180


def score_arguments(material, output: Path) -> tuple[str, ...]:
    return ("score", TASK, str(material.answers), "--json", "--output", str(output))


def test_three_judges_of_three_generations_ask_180_times_for_20_rows_and_never_again(material, score):
    with JudgeServer(varied()) as server:
        material.judged_at(server.base_url)
        first = score()
        assert server.count == CALLS
        again = lmms_tasks(*score_arguments(material, material.folder / "again"), **material.variables())
        assert server.count == CALLS, again.text
    assert set(Counter((judge_of(r.body), row_of(r.body)) for r in server.requests).values()) == {GENERATIONS}
    verdicts = first.all_verdicts()
    assert len({verdict["key"] for verdict in verdicts}) == len(stored(material.home)) == CALLS
    assert not any(verdict["cached"] for verdict in verdicts)
    second = read_scored(again.stdout, material.folder / "again")
    assert all(verdict["cached"] for verdict in second.all_verdicts())
    assert second.metrics == first.metrics
    assert first.metrics["judgements_per_sample,none"] == 9.0
    # Judges differ by construction, so the mean over them is none of theirs.
    row = first.rows[0]["mg_accuracy"]["score"]
    expected = sum(scores_of(judge, 0, turn)["accuracy"] for judge in JUDGES for turn in range(GENERATIONS)) / 9
    assert row == pytest.approx(expected, abs=1e-12)


def test_replies_that_are_stored_are_not_kept_in_memory(material, score):
    """Judges that reason write tens of kB a verdict; ten thousand rows of nine would fill the machine."""
    thought = f"<think>{'It names the cause. ' * 1500}</think>"  # 30 kB
    with JudgeServer(lambda body, number: thought + json.dumps(scores_of(row_of(body)))) as server:
        material.judged_at(server.base_url)
        score()  # whatever the first run imports and keeps is no part of this
        server.requests.clear()
        material.judged_at(server.base_url, temperature=0.7)
        tracemalloc.start()
        score()
        server.requests.clear()
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert kept < 180 * len(thought) / 4  # of 5.4 MB of replies


CONCURRENCY = 2  # a judge; six in all


@pytest.mark.parametrize(
    "kills, seed", [(3, 1), pytest.param(10, 2, marks=pytest.mark.long), pytest.param(10, 3, marks=pytest.mark.long)]
)
def test_a_run_that_is_killed_and_started_again_asks_for_nothing_that_was_stored(material, kills: int, seed: int):
    """SIGKILL at seeded moments. Each reply bears the number of its request, so the cache tells whose reply it holds."""
    moments = random.Random(seed)
    numbers = itertools.count()

    def script(body: dict, number: int) -> Answer:
        # What precedes the object is prose to the parser, and the number of the request to this test.
        text = f"{next(numbers)}: {json.dumps(scores_of(judge_of(body), row_of(body)))}"
        return Answer(text, latency=0.1 + 0.1 * (number % 2))

    before: dict[str, str] = {}
    with JudgeServer(script) as server:
        material.judged_at(server.base_url, concurrency=CONCURRENCY)
        for kill in range(kills):
            asked = server.count
            process = start(material)
            try:
                wait_for(lambda asked=asked: server.count > asked, process)
                # In mid-run: all the work takes 180 × 0.15 s / 6 = 4.5 s, ten such pauses 4 s at the most.
                time.sleep(moments.uniform(0.0, 4.0 / kills))
                assert process.poll() is None, f"run {kill} ended before it was killed"
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            time.sleep(0.3)  # requests that were on their way reach the server's list
            after = stored(material.home)
            assert before.items() <= after.items()  # asked again, a reply would bear another number
            # Requests whose reply was not stored: in flight at the kill.
            assert 0 <= (server.count - asked) - (len(after) - len(before)) <= CONCURRENCY * len(JUDGES)
            before = after
        assert len(before) < CALLS
        left = CALLS - len(before)
        asked = server.count
        last = lmms_tasks(*score_arguments(material, material.folder / "last"), **material.variables())
        assert last.code == 0, last.text
        assert server.count - asked == left
    assert before.items() <= stored(material.home).items() and len(stored(material.home)) == CALLS
    assert integrity(material.home) == "ok"
    scored = read_scored(last.stdout, material.folder / "last")
    assert scored.metrics["judged_coverage,none"] == 1.0
    assert {verdict["status"] for verdict in scored.all_verdicts()} == {"valid"}
    assert sum(verdict["cached"] for verdict in scored.all_verdicts()) == CALLS - left


def test_two_independent_runs_at_once_share_one_cache_and_leave_it_sound(material):
    with JudgeServer(varied(latency=0.02)) as server:
        material.judged_at(server.base_url)
        both = [start(material, material.folder / name) for name in ("one", "two")]
        outputs = [process.communicate(timeout=120)[0] for process in both]
        assert [process.returncode for process in both] == [0, 0]
        assert CALLS <= server.count <= 2 * CALLS
        asked = server.count
        third = lmms_tasks(*score_arguments(material, material.folder / "third"), **material.variables())
        assert server.count == asked
    assert integrity(material.home) == "ok" and len(stored(material.home)) == CALLS
    assert not list(material.home.glob("*.aside"))
    for printed, name in (*zip(outputs, ("one", "two"), strict=True),):
        scored = read_scored(printed, material.folder / name)
        assert [verdict["status"] for verdict in scored.all_verdicts()] == ["valid"] * CALLS
    assert read_scored(third.stdout, material.folder / "third").metrics["judged_coverage,none"] == 1.0


def start(material, output: Path | None = None) -> subprocess.Popen:
    """`lmms-tasks score` in a process group of its own."""
    return subprocess.Popen(
        [str(BIN / "lmms-tasks"), *score_arguments(material, output or material.folder / "killed")],
        env={**os.environ, **material.variables()},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def wait_for(happened, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert process.poll() is None and time.monotonic() < deadline, "the run ended, or asks nobody"
        time.sleep(0.01)
