"""How many calls at the same time, and how many in all."""

from __future__ import annotations

import threading
import time

import pytest

from lmms_tasks.utils.judge.limits import Budget, BudgetSpent, ConcurrencyLimit, Workers, rank_share


@pytest.mark.parametrize(
    "total, world, shares", [(16, 1, [16]), (16, 2, [8, 8]), (16, 3, [6, 5, 5]), (2, 4, [1, 1, 1, 1])]
)
def test_the_ranks_shares_add_up_to_the_total(monkeypatch, total: int, world: int, shares: list[int]) -> None:
    monkeypatch.setenv("WORLD_SIZE", str(world))
    found = []
    for rank in range(world):
        monkeypatch.setenv("RANK", str(rank))
        found.append(rank_share(total))
    assert found == shares


@pytest.mark.parametrize("world", ["", "x", "0", "-2"])
def test_a_world_of_no_size_is_one_rank(monkeypatch, world: str) -> None:
    monkeypatch.setenv("WORLD_SIZE", world)
    assert rank_share(16) == 16


def test_a_budget_may_leave_a_rank_nothing(monkeypatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert rank_share(1, least=0) == 0


def test_too_many_requests_halve_the_limit_once_for_calls_that_ran_together() -> None:
    limit = ConcurrencyLimit(8)
    with limit.slot() as first, limit.slot() as second:
        limit.halve(first)
        limit.halve(second)
        assert limit.limit == 4
    with limit.slot() as later:
        limit.halve(later)
        assert limit.limit == 2


def test_the_limit_recovers_by_one_for_as_many_good_calls_as_it_allows() -> None:
    limit = ConcurrencyLimit(8)
    with limit.slot() as seen:
        limit.halve(seen)
    for _ in range(5):  # 4 → 5 takes a little more than four: each adds 1 / limit of the moment
        limit.recover()
    assert limit.limit == 5
    for _ in range(100):
        limit.recover()
    assert limit.limit == 8


def test_the_limit_never_falls_below_one() -> None:
    limit = ConcurrencyLimit(2)
    for _ in range(5):
        with limit.slot() as seen:
            limit.halve(seen)
    with limit.slot():
        assert limit.limit == 1


def test_nobody_starts_while_the_endpoint_wants_a_pause() -> None:
    limit = ConcurrencyLimit(4)
    with limit.slot() as seen:
        limit.halve(seen, pause=0.3)
    began = time.monotonic()
    with limit.slot():
        assert time.monotonic() - began >= 0.29


def test_no_more_calls_run_than_the_limit_allows() -> None:
    limit, lock, running, most = ConcurrencyLimit(3), threading.Lock(), [0], [0]

    def call() -> None:
        with limit.slot():
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            time.sleep(0.01)
            with lock:
                running[0] -= 1

    threads = [threading.Thread(target=call) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 3


def test_a_budget_of_calls_ends_with_one_sentence(log: list[str]) -> None:
    budget = Budget(2, None)
    budget.take()
    budget.take()
    for _ in range(3):
        with pytest.raises(BudgetSpent, match="max_calls = 2"):
            budget.take()
    assert len(log) == 1


def test_a_budget_of_tokens_ends_once_they_are_spent() -> None:
    budget = Budget(None, 100)
    budget.take()
    budget.spend(100)
    with pytest.raises(BudgetSpent, match="max_tokens = 100"):
        budget.take()


def test_workers_never_outnumber_their_bound_and_keep_the_order() -> None:
    workers, done = Workers(1, "test"), []
    futures = [workers.submit(lambda n=n: done.append(n)) for n in range(20)]
    for future in futures:
        future.result()
    assert done == list(range(20))
    workers.close()


def test_abort_frees_whoever_waits() -> None:
    workers, hold = Workers(1, "test"), threading.Event()
    running, waiting = workers.submit(hold.wait), workers.submit(lambda: "never")
    workers.abort(KeyError("over"))
    for future in (running, waiting):
        with pytest.raises(KeyError):
            future.result(timeout=1)
    hold.set()
    assert workers.submit(lambda: "alive").result(timeout=1) == "alive"
    workers.close()


def test_an_error_of_a_call_is_its_futures() -> None:
    workers = Workers(2, "test")
    with pytest.raises(ZeroDivisionError):
        workers.submit(lambda: 1 / 0).result(timeout=1)
    assert workers.submit(lambda: "next").result(timeout=1) == "next"
    workers.close()
