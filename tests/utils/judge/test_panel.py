"""A panel against real servers: what it asks, what it never asks twice, what it may spend."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lmms_tasks.utils.judge import Rubric, panel_for
from tests.judge_server import Answer, JudgeServer

from .conftest import GONE, numbered, refused, verdict_text

# --- judgements ---


def test_every_judge_and_generation_is_asked_and_reduced(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(lambda body, n: verdict_text(n % 3)) as first, JudgeServer(verdict_text(4, "Yes")) as second:
        panel = panel_of(
            judge_of(first, generations=3, temperature=0.6), judge_of(second, name="second", generations=1)
        )
        judgement = panel.judge(rubric, texts)
    assert (first.count, second.count, panel.judgements_per_sample) == (3, 1, 4.0)
    # first: (0 + 1 + 2) / 3 = 1; second: 4; row: 2.5
    assert judgement.fields == {"accuracy": 2.5, "spurious": 0.5}
    assert [(one.judge, one.generation) for one in judgement.verdicts] == [
        ("first", 0),
        ("first", 1),
        ("first", 2),
        ("second", 0),
    ]


def test_all_judgements_of_a_row_are_asked_at_once(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(Answer(verdict_text(), latency=0.3)) as server:
        panel = panel_of(judge_of(server, generations=6, concurrency=6))
        began = time.monotonic()
        panel.judge(rubric, texts)
    assert time.monotonic() - began < 1.0  # one after the other: 1.8 s
    assert server.most_at_once == 6


def test_a_judges_concurrency_limit_holds_over_all_rows(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(Answer(verdict_text(), latency=0.02)) as server:
        panel = panel_of(judge_of(server, generations=2, concurrency=3))
        with ThreadPoolExecutor(8) as rows:
            list(rows.map(lambda n: panel.judge(rubric, numbered(texts, n)), range(12)))
    assert (server.count, server.most_at_once) == (24, 3)


def test_a_rank_takes_its_share_of_the_concurrency(judge_of, panel_of, monkeypatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "3")
    panel = panel_of(judge_of(GONE, concurrency=16), judge_of(GONE, name="second", concurrency=2))
    assert panel.concurrency == 4


def test_a_slow_judge_does_not_hold_up_the_others_calls(judge_of, panel_of, rubric, texts) -> None:
    """Each judge has threads of its own: the fast one is through with all rows while the slow one is at its first."""
    hold = threading.Event()

    def slow_script(body: dict, n: int) -> str:
        hold.wait(10)
        return verdict_text()

    with JudgeServer(slow_script) as slow, JudgeServer(verdict_text()) as fast:
        panel = panel_of(judge_of(slow, concurrency=1), judge_of(fast, name="second", concurrency=1))
        with ThreadPoolExecutor(5) as rows:
            waiting = [rows.submit(panel.judge, rubric, numbered(texts, n)) for n in range(5)]
            deadline = time.monotonic() + 5
            while fast.count < 5 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert (fast.count, slow.count) == (5, 1)
            hold.set()
            assert all(row.result().scored for row in waiting)


@pytest.mark.parametrize("dead, scored", [(0, True), (1, True), (2, False)])
def test_two_thirds_of_three_judges_make_a_quorum(judge_of, panel_of, rubric, texts, dead: int, scored: bool) -> None:
    with JudgeServer(verdict_text()) as server:
        judges = [judge_of(GONE if n < dead else server, name=f"judge{n}", tries=1) for n in range(3)]
        judgement = panel_of(*judges).judge(rubric, texts)
    assert judgement.scored == scored
    if not scored:
        assert judgement.reason.startswith("1 of 3 judges gave a valid verdict, 2 needed (judge0: 127.0.0.1:9: ")


# --- what is asked once ---


def test_a_second_run_asks_nothing(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(verdict_text(2)) as server:
        first = panel_of(judge_of(server)).judge(rubric, texts)
        second = panel_of(judge_of(server)).judge(rubric, texts)
    assert server.count == 1
    assert (first.verdicts[0].cached, second.verdicts[0].cached) == (False, True)
    assert first.fields == second.fields and first.verdicts[0].key == second.verdicts[0].key


def test_another_process_asks_nothing(judge_of, panel_of, rubric, texts, home: Path) -> None:
    program = f"""
from lmms_tasks.utils.judge import Panel, Profile, Judge, Rubric
from tests.utils.judge.conftest import Scores
import sys
rubric = Rubric("correctness", "1", {rubric.template!r}, Scores, reference="gold", candidate="answer")
judge = Judge(name="first", model="judge", base_url=sys.argv[1], api_key="x", temperature=0.0)
print(Panel(Profile("p", "u", (judge,))).judge(rubric, {texts!r}).verdicts[0].cached)
"""
    with JudgeServer(verdict_text()) as server:
        panel_of(judge_of(server)).judge(rubric, texts)
        done = subprocess.run(
            [sys.executable, "-c", program, server.base_url],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[3],
        )
    assert done.stdout.strip() == "True", done.stderr
    assert server.count == 1


def test_rows_that_ask_the_same_at_the_same_time_make_one_request(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(Answer(verdict_text(), latency=0.2)) as server:
        panel = panel_of(judge_of(server, concurrency=8))
        with ThreadPoolExecutor(8) as rows:
            judgements = list(rows.map(lambda _: panel.judge(rubric, texts), range(8)))
    assert server.count == 1
    assert sorted(one.verdicts[0].cached for one in judgements) == [False] + [True] * 7
    assert panel.summary()[0]["input_tokens"] == 100


def test_an_answered_key_is_not_asked_again_without_a_cache(judge_of, panel_of, rubric, texts, monkeypatch) -> None:
    monkeypatch.setenv("LMMS_TASKS_CACHE", "off")
    with JudgeServer(verdict_text()) as server:
        panel = panel_of(judge_of(server))
        assert panel.judge(rubric, texts).fields == panel.judge(rubric, texts).fields
    assert server.count == 1


def test_refresh_asks_each_key_once_more(judge_of, panel_of, rubric, texts, monkeypatch) -> None:
    with JudgeServer(lambda body, n: verdict_text(n)) as server:
        panel_of(judge_of(server)).judge(rubric, texts)
        monkeypatch.setenv("LMMS_TASKS_CACHE", "refresh")
        fresh = panel_of(judge_of(server))
        assert [fresh.judge(rubric, texts).fields["accuracy"] for _ in range(3)] == [1.0, 1.0, 1.0]
        monkeypatch.delenv("LMMS_TASKS_CACHE")
        assert panel_of(judge_of(server)).judge(rubric, texts).fields["accuracy"] == 1.0
    assert server.count == 2


def test_a_judgement_without_a_verdict_is_asked_again_by_the_next_run(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(lambda body, n: "no idea" if n < 3 else verdict_text()) as server:
        assert not panel_of(judge_of(server)).judge(rubric, texts).scored
        assert panel_of(judge_of(server)).judge(rubric, texts).scored
    assert server.count == 4


# --- budgets ---


def test_no_request_goes_out_beyond_max_calls(judge_of, panel_of, rubric, texts, log: list[str]) -> None:
    with JudgeServer(verdict_text()) as server:
        panel = panel_of(judge_of(server, generations=2), max_calls=5)
        judgements = [panel.judge(rubric, numbered(texts, n)) for n in range(5)]
        assert panel.judge(rubric, numbered(texts, 0)).scored  # what is done stays
    assert server.count == 5
    assert [one.scored for one in judgements] == [True, True, True, False, False]
    assert "the budget is spent (max_calls = 5)" in judgements[4].reason
    assert sum("budget is spent" in line for line in log) == 1


def test_retries_count_against_max_calls(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(refused(503)) as server:
        panel = panel_of(judge_of(server), max_calls=2)
        (verdict,) = panel.judge(rubric, texts).verdicts
    assert (server.count, verdict.status) == (2, "budget")


def test_no_request_goes_out_once_max_tokens_are_spent(judge_of, panel_of, rubric, texts) -> None:
    with JudgeServer(verdict_text()) as server:
        panel = panel_of(judge_of(server), max_tokens=240)  # 120 a reply
        scored = [panel.judge(rubric, numbered(texts, n)).scored for n in range(4)]
    assert (server.count, scored) == (2, [True, True, False, False])


# --- a user's rubric ---


def test_a_users_rubric_is_what_the_judge_reads(judge_of, panel_of, rubric, texts, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("My own words for {{answer}}.")
    with JudgeServer(verdict_text()) as server:
        panel = panel_of(judge_of(server), rubric_files={"correctness": str(file)})
        panel.check([rubric])
        panel.judge(rubric, texts)
    assert server.requests[0].prompt.startswith("My own words for <<<BEGIN answer>>>")


def test_a_users_rubric_that_cannot_serve_is_found_before_the_run(judge_of, panel_of, rubric, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("{{anwser}}")
    with JudgeServer(verdict_text()) as server, pytest.raises(SystemExit, match="anwser"):
        panel_of(judge_of(server), rubric_files={"correctness": str(file)}).check([rubric])


# --- one panel a configuration ---


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Callable[[JudgeServer], None]:
    def serve(server: JudgeServer) -> None:
        monkeypatch.setenv("LMMS_TASKS_JUDGES", "single")
        monkeypatch.setenv("LMMS_TASKS_JUDGE_SINGLE_BASE_URL", server.base_url)
        monkeypatch.setenv("LMMS_TASKS_JUDGE_SINGLE_MODEL", "judge")

    return serve


def test_the_same_configuration_has_one_panel(served) -> None:
    with JudgeServer(verdict_text()) as server:
        served(server)
        with ThreadPoolExecutor(8) as rows:
            panels = set(rows.map(lambda _: panel_for("mirage.mmst", False), range(16)))
    assert len(panels) == 1


@pytest.mark.parametrize(
    "variable, value",
    [
        ("LMMS_TASKS_JUDGES", "offline"),
        ("LMMS_TASKS_JUDGE_SINGLE_MODEL", "other"),
        ("LMMS_TASKS_JUDGE_SINGLE_API_KEY", "another-key"),
        ("LMMS_TASKS_CACHE", "off"),
        ("WORLD_SIZE", "2"),
    ],
)
def test_another_configuration_has_another_panel(served, monkeypatch, variable: str, value: str) -> None:
    with JudgeServer(verdict_text()) as server:
        served(server)
        first = panel_for("mirage.mmst", False)
        monkeypatch.setenv(variable, value)
        assert panel_for("mirage.mmst", False) is not first
        monkeypatch.delenv(variable)


def test_two_uses_have_two_panels(served) -> None:
    with JudgeServer(verdict_text()) as server:
        served(server)
        assert panel_for("mirage.mmst", False) is not panel_for("mirage.mmmt", False)


def test_no_judge_is_no_panel_and_no_word(log: list[str]) -> None:
    assert panel_for("mirage.mmst", on_samples=False) is None
    assert log == []


def test_the_stand_in_needs_no_server_and_no_file(rubric: Rubric, texts: dict[str, str], home: Path) -> None:
    panel = panel_for("mirage.mmst", on_samples=True)
    panel.check()
    judgement = panel.judge(rubric, {**texts, "answer": texts["gold"]})
    assert judgement.fields == {"accuracy": 4.0, "spurious": 0.0}
    assert (panel.judgements_per_sample, panel.concurrency, judgement.verdicts[0].judge) == (0.0, 1, "offline")
    assert not (home / "judge.sqlite").exists()
