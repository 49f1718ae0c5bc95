"""What happens at a deadline, and what does not happen any more."""

from __future__ import annotations

import threading
import time

from lmms_tasks.utils.judge.deadlines import Deadlines


def test_each_action_runs_once_at_its_moment_whatever_the_order_in_which_they_came() -> None:
    deadlines, began, ran = Deadlines(), time.monotonic(), []
    with (
        deadlines.at(began + 0.3, lambda: ran.append(("late", time.monotonic() - began))),
        deadlines.at(began + 0.1, lambda: ran.append(("early", time.monotonic() - began))),
    ):
        time.sleep(0.6)
    assert [name for name, _ in ran] == ["early", "late"]
    assert ran[0][1] >= 0.1 and ran[1][1] >= 0.3


def test_nothing_runs_once_the_block_has_ended() -> None:
    deadlines, ran = Deadlines(), []
    for _ in range(100):
        with deadlines.at(time.monotonic() + 0.001, lambda: ran.append(threading.current_thread().name)):
            time.sleep(0.0009)
        inside = len(ran)
        time.sleep(0.001)
        assert len(ran) == inside


def test_one_thread_serves_all() -> None:
    deadlines, before = Deadlines(), threading.active_count()
    blocks = [deadlines.at(time.monotonic() + 60, lambda: None) for _ in range(50)]
    for block in blocks:
        block.__enter__()
    assert threading.active_count() == before + 1
    for block in blocks:
        block.__exit__(None, None, None)
