"""One judge of a panel against a real server: replies of no use, refusals, failures, and what is told of it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lmms_tasks.utils.judge.session import OUTAGES
from tests.judge_server import Answer, JudgeServer, completion

from .conftest import GONE, KEY, numbered, refused, verdict_text

# --- replies that cannot be used ---


def test_an_invalid_reply_is_asked_for_again_twice_at_the_most(judge_of, panel_of, rubric, texts, home: Path) -> None:
    with JudgeServer("4 out of 4") as server:
        (verdict,) = panel_of(judge_of(server)).judge(rubric, texts).verdicts
    assert server.count == 3
    assert (verdict.status, verdict.reason, verdict.fields) == ("invalid", "no JSON object", None)
    assert verdict.input_tokens == 300  # all three were paid for
    rows = sqlite3.connect(home / "judge.sqlite").execute("SELECT key, status, reply FROM attempts").fetchall()
    assert [(key, status) for key, status, _ in rows] == [(verdict.key, "invalid")] * 3
    assert all("4 out of 4" in reply for *_, reply in rows)


def test_the_first_valid_reply_counts(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(lambda body, n: verdict_text(1) if n == 2 else "hm") as server:
        judgement = panel_of(judge_of(server)).judge(rubric, texts)
    assert (server.count, judgement.fields["accuracy"]) == (3, 1.0)


def test_a_truncated_reply_is_asked_for_once_more_with_a_larger_limit(judge_of, panel_of, rubric, texts) -> None:
    def script(body: dict, n: int):
        return completion("<think>so", finish_reason="length") if body["max_tokens"] == 50 else verdict_text()

    with JudgeServer(script) as server:
        panel = panel_of(judge_of(server, max_tokens=50))
        first = panel.judge(rubric, texts).verdicts[0]
        second = panel.judge(rubric, texts).verdicts[0]
    assert [request.body["max_tokens"] for request in server.requests] == [50, 100]
    assert first.valid and second.cached and first.key == second.key  # the larger limit is no other question


def test_a_reply_that_stays_truncated_is_no_verdict(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(completion(verdict_text(), finish_reason="length")) as server:
        (verdict,) = panel_of(judge_of(server)).judge(rubric, texts).verdicts
    assert (server.count, verdict.status) == (2, "truncated")


def test_reasoning_is_never_read_as_the_answer(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(completion(None, reasoning_content=verdict_text(4))) as server:
        (verdict,) = panel_of(judge_of(server)).judge(rubric, texts).verdicts
    assert (verdict.status, verdict.reason) == ("invalid", "an empty reply")


# --- judges that refuse ---


@pytest.mark.parametrize(
    "status, words, advice",
    [
        (401, "Incorrect API key provided", "LMMS_TASKS_JUDGE_FIRST_API_KEY"),
        (403, "Country not supported", "LMMS_TASKS_JUDGE_FIRST_API_KEY"),
        (404, "The model `judge` does not exist", "LMMS_TASKS_JUDGE_FIRST_BASE_URL"),
        (400, "max_tokens is not supported with this model", "`omit`"),
        (422, "field required", "`omit`"),
    ],
)
def test_a_judge_that_refuses_from_the_start_ends_the_run_with_its_words(
    judge_of, panel_of, rubric, texts, status: int, words: str, advice: str
) -> None:
    with JudgeServer(refused(status, words)) as server:
        panel = panel_of(judge_of(server, generations=3, concurrency=1))
        with pytest.raises(SystemExit) as end:
            panel.judge(rubric, texts)
        with pytest.raises(SystemExit) as again:
            panel.judge(rubric, numbered(texts, 1))
    sentence = str(end.value.code)
    assert sentence.startswith(f"judge first at 127.0.0.1:{server.port} refused ({status}): {words}; ")
    assert advice in sentence and again.value.code == sentence
    assert server.count == 1  # neither the other generations nor the next row


def test_rows_that_wait_for_another_judge_end_too(judge_of, panel_of, rubric, texts) -> None:
    """The slow judge needs 10 s; nobody waits for it once the other has refused."""
    go = threading.Event()

    def refusal_later(body: dict, n: int) -> Answer:
        go.wait(10)
        return refused(401)

    with JudgeServer(Answer(verdict_text(), latency=10)) as slow, JudgeServer(refusal_later) as wrong:
        panel = panel_of(judge_of(slow, concurrency=4), judge_of(wrong, name="second", concurrency=1))
        with ThreadPoolExecutor(4) as rows:
            waiting = [rows.submit(panel.judge, rubric, numbered(texts, n)) for n in range(4)]
            while slow.count < 4:
                time.sleep(0.01)
            began = time.monotonic()
            go.set()
            for row in waiting:
                with pytest.raises(SystemExit, match="judge second"):
                    row.result(timeout=5)
    assert time.monotonic() - began < 2


def test_a_process_that_is_refused_does_not_wait_for_slow_judges() -> None:
    """Python joins ordinary pool threads at its end: with them, this process would live as long as the slow reply."""
    program = """
import sys
from lmms_tasks.utils.judge import Judge, Panel, Profile, Rubric
from tests.utils.judge.conftest import Scores
rubric = Rubric("r", "1", "{{answer}}", Scores, reference="gold", candidate="answer")
judges = [Judge(name=n, model="m", base_url=u) for n, u in zip(["slow", "wrong"], sys.argv[1:])]
Panel(Profile("p", "u", tuple(judges))).judge(rubric, {"answer": "a"})
"""
    began = time.monotonic()
    with (
        JudgeServer(Answer(verdict_text(), latency=30)) as slow,
        JudgeServer(Answer(refused(401).body, 401, latency=0.3)) as wrong,
    ):
        done = subprocess.run(
            [sys.executable, "-c", program, slow.base_url, wrong.base_url],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[3],
        )
    assert done.returncode == 1 and done.stderr.strip().splitlines()[-1].startswith("judge wrong at")
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("status", [400, 404, 413])
def test_a_refusal_after_a_success_costs_that_verdict_only(judge_of, panel_of, rubric, texts, status: int) -> None:
    with JudgeServer(lambda body, n: refused(status, "context too long") if n == 1 else verdict_text()) as server:
        panel = panel_of(judge_of(server))
        judgements = [panel.judge(rubric, numbered(texts, n)) for n in range(3)]
    assert [one.scored for one in judgements] == [True, False, True]
    assert f"{status}: context too long" in judgements[1].reason


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_withdrawn_closes_the_judge(judge_of, panel_of, rubric, texts, status: int) -> None:
    with JudgeServer(lambda body, n: verdict_text() if n == 0 else refused(status, "key revoked")) as server:
        panel = panel_of(judge_of(server))
        judgements = [panel.judge(rubric, numbered(texts, n)) for n in range(4)]
    assert [one.scored for one in judgements] == [True, False, False, False]
    assert server.count == 2
    assert judgements[3].verdicts[0].status == "closed" and "key revoked" in judgements[3].reason


def test_a_new_evaluation_of_the_process_may_ask_again(judge_of, panel_of, rubric, texts) -> None:
    answers = [refused(401)]
    with JudgeServer(lambda body, n: answers.pop() if answers else verdict_text()) as server:
        panel = panel_of(judge_of(server))
        with pytest.raises(SystemExit):
            panel.judge(rubric, texts)
        panel.check()
        assert panel.judge(rubric, texts).scored


# --- judges that fail ---


def test_a_judge_that_dies_in_the_middle_costs_verdicts_and_no_exception(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(verdict_text()) as lasting:
        dying = JudgeServer(verdict_text()).__enter__()
        panel = panel_of(judge_of(lasting), judge_of(dying, name="second", tries=2))
        first = panel.judge(rubric, numbered(texts, 0))
        dying.close()
        second = panel.judge(rubric, numbered(texts, 1))
    assert first.scored and not second.scored
    assert [one.status for one in second.verdicts] == ["valid", "failed"]


def test_a_dead_judge_is_tried_once_a_call_and_recovers(judge_of, panel_of, rubric, texts, log: list[str]) -> None:
    dead = [True]
    with JudgeServer(lambda body, n: Answer(drop=True) if dead[0] else verdict_text()) as server:
        panel = panel_of(judge_of(server, tries=3, retry_delay=0.001))
        for n in range(OUTAGES):
            assert not panel.judge(rubric, numbered(texts, n)).scored
        assert server.count == 3 * OUTAGES
        panel.judge(rubric, numbered(texts, 100))
        assert server.count == 3 * OUTAGES + 1
        dead[0] = False
        assert panel.judge(rubric, numbered(texts, 101)).scored
        dead[0] = True
        before = server.count
        panel.judge(rubric, numbered(texts, 102))
        assert server.count == before + 3
    assert sum(f"failed {OUTAGES} calls in a row" in line for line in log) == 1


def test_a_judge_that_has_gone_silent_costs_one_time_out_at_a_time(judge_of, panel_of, rubric, texts) -> None:
    """Each call would wait its whole time-out; once the judge counts as gone, one waits and the others fail at once."""
    with JudgeServer(Answer(verdict_text(), latency=20)) as server:
        panel = panel_of(judge_of(server, tries=1, timeout=0.4, concurrency=8))
        with ThreadPoolExecutor(8) as rows:
            list(rows.map(lambda n: panel.judge(rubric, numbered(texts, n)), range(OUTAGES)))
            assert server.count == OUTAGES
            began = time.monotonic()
            later = list(rows.map(lambda n: panel.judge(rubric, numbered(texts, n)), range(100, 108)))
    assert time.monotonic() - began < 1.2
    assert server.count < OUTAGES + 8 and not any(one.scored for one in later)


def test_too_many_requests_slow_the_judge_down_and_lose_nothing(judge_of, panel_of, rubric, texts) -> None:
    """A server that bears two calls at a time and turns the others away, as a rate limit does."""
    lock, running = threading.Lock(), [0]

    def script(body: dict, n: int):
        with lock:
            if running[0] >= 2:
                return Answer({"error": {"message": "Rate limit reached"}}, 429, {"Retry-After": "0.05"})
            running[0] += 1
        time.sleep(0.02)
        with lock:
            running[0] -= 1
        return verdict_text()

    with JudgeServer(script) as server:
        panel = panel_of(judge_of(server, concurrency=16))
        with ThreadPoolExecutor(16) as rows:
            judgements = list(rows.map(lambda n: panel.judge(rubric, numbered(texts, n)), range(40)))
    assert all(judgement.scored for judgement in judgements)


# --- what is told ---


def test_before_the_first_request_one_line_says_what_goes_where(judge_of, panel_of, rubric, texts, log) -> None:
    with JudgeServer(verdict_text()) as server:
        panel = panel_of(judge_of(server, model="m"))
        panel.judge(rubric, texts)
        panel.judge(rubric, numbered(texts, 1))
        panel_of(judge_of(server, model="m")).judge(rubric, texts)  # from the cache: nothing leaves
    (line,) = [line for line in log if "leaves this machine" in line]
    assert all(part in line for part in ("Judge first", "model m", f"127.0.0.1:{server.port}", "questions and answers"))


def test_a_model_that_changes_its_name_during_a_run_is_told_once(judge_of, panel_of, rubric, texts, log) -> None:
    with JudgeServer(lambda body, n: completion(verdict_text(), model=f"gpt-{min(n, 2)}")) as server:
        panel = panel_of(judge_of(server))
        verdicts = [panel.judge(rubric, numbered(texts, n)).verdicts[0] for n in range(4)]
    assert [verdict.model for verdict in verdicts] == ["gpt-0", "gpt-1", "gpt-2", "gpt-2"]
    assert panel.summary()[0]["models_returned"] == ["gpt-0", "gpt-1", "gpt-2"]
    assert sum("now says that it is gpt-1, and was gpt-0" in line for line in log) == 1
    assert sum("now says" in line for line in log) == 1


def test_tokens_of_real_calls_reach_lmms_evals_usage(judge_of, panel_of, rubric, texts, monkeypatch) -> None:
    logged: list[dict] = []
    usage = types.ModuleType("lmms_eval.models.model_utils.usage_metrics")
    usage.log_usage = lambda **values: logged.append(values)
    monkeypatch.setitem(sys.modules, usage.__name__, usage)
    with JudgeServer(verdict_text()) as server:
        panel = panel_of(judge_of(server))
        panel.judge(rubric, texts)
        panel.judge(rubric, texts)
    assert logged == [
        {"model_name": "judge", "input_tokens": 100, "output_tokens": 20, "reasoning_tokens": 0, "source": "judge"}
    ]


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_a_key_is_nowhere_but_in_the_request(
    judge_of, panel_of, rubric, texts, home: Path, log: list[str], capfd, status: int
) -> None:
    """The server repeats the key wherever it can: in errors, in its reply, in its model's name."""
    body = (
        completion(f"{KEY} {verdict_text()}", model=f"m-{KEY}") if status == 200 else refused(status, f"bad {KEY}").body
    )
    told = ""
    with JudgeServer(Answer(body, status)) as server:
        panel = panel_of(judge_of(server, tries=2))
        try:
            told = json.dumps(panel.judge(rubric, texts).record())
        except SystemExit as end:
            told = str(end.code)
        told += json.dumps(panel.summary()) + repr(panel.profile)
    assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    panel.close()
    stored = b"".join(file.read_bytes() for file in home.glob("judge.sqlite*"))
    captured = capfd.readouterr()
    for place in (told, "".join(log), captured.out, captured.err):
        assert KEY not in place
    assert KEY.encode() not in stored


# --- before the run ---


def test_check_passes_where_the_judges_are_there(judge_of, panel_of, log: list[str]) -> None:
    with JudgeServer("", models=["judge", "other"]) as server:
        panel_of(judge_of(server), judge_of(server, name="second")).check()
    assert (server.count, server.models_count) == (0, 1)  # no judgement; one endpoint and model is looked at once
    assert log == []


@pytest.mark.parametrize("status", [401, 403])
def test_check_ends_the_run_where_the_key_is_wrong(judge_of, panel_of, status: int) -> None:
    sentence = "Incorrect API key provided; set LMMS_TASKS_JUDGE_FIRST_API_KEY"
    with (
        JudgeServer("", models=refused(status, "Incorrect API key provided")) as server,
        pytest.raises(SystemExit, match=sentence),
    ):
        panel_of(judge_of(server)).check()


@pytest.mark.parametrize("url", [GONE, "http://no-such-host.invalid/v1"])
def test_check_ends_the_run_where_nobody_listens(judge_of, panel_of, url: str) -> None:
    with pytest.raises(SystemExit, match="correct LMMS_TASKS_JUDGE_FIRST_BASE_URL"):
        panel_of(judge_of(url)).check()


@pytest.mark.parametrize("answer", [refused(404), refused(405), refused(500), Answer(b"<html>"), Answer(drop=True)])
def test_check_asks_for_no_list_of_models(judge_of, panel_of, answer: Answer) -> None:
    """Many gateways have none; a server that drops that one request is no judge that is not there... unless twice."""
    with JudgeServer("", models=answer) as server:
        panel = panel_of(judge_of(server))
        if answer.drop:
            with pytest.raises(SystemExit, match="cannot be reached"):
                panel.check()
        else:
            panel.check()


def test_check_warns_where_the_model_is_not_listed(judge_of, panel_of, log: list[str]) -> None:
    with JudgeServer("", models=["Qwen3-32B-AWQ", "other"]) as server:
        panel_of(judge_of(server, model="Qwen/Qwen3-32B")).check()
    (line,) = log
    assert line.startswith("WARNING") and "Qwen/Qwen3-32B" in line and "it serves Qwen3-32B-AWQ, other." in line
