"""How much a panel asks: calls at the same time, and calls and tokens over a run."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from loguru import logger

T = TypeVar("T")


def rank_share(total: int, least: int = 1) -> int:
    """This rank's part of `total`, by torchrun's WORLD_SIZE and RANK: the parts add up, save for the `least` of each."""
    world, rank = _number("WORLD_SIZE", 1), _number("RANK", 0)
    share = total // world + (rank % world < total % world)
    return max(least, share)


def _number(name: str, default: int) -> int:
    value = os.environ.get(name, "")
    return int(value) if value.isdigit() and int(value) >= default else default


class ConcurrencyLimit:
    """The most calls at the same time: halved when the endpoint says "too many", one more after as many good calls.

    Additive increase, multiplicative decrease, as in TCP's congestion avoidance (Jacobson 1988).
    """

    def __init__(self, most: int):
        self._most = most
        self._limit = float(most)
        self._running = 0
        self._halvings = 0
        self._pause_until = 0.0
        self._free = threading.Condition()

    @property
    def limit(self) -> int:
        """The present limit, at least 1."""
        return int(self._limit)

    @contextmanager
    def slot(self) -> Iterator[int]:
        """Wait for a place and hold it; yields the number of halvings so far, which `halve` wants back."""
        with self._free:
            while self._running >= int(self._limit) or (pause := self._pause_until - time.monotonic()) > 0:
                self._free.wait(None if self._running >= int(self._limit) else pause)
            self._running += 1
            seen = self._halvings
        try:
            yield seen
        finally:
            with self._free:
                self._running -= 1
                self._free.notify_all()

    def halve(self, seen: int, pause: float = 0.0) -> None:
        """Halve the limit, unless that happened since the call began, and start no call for `pause` seconds.

        Calls that run at the same time are refused for one and the same reason, which must not count once for each.
        """
        with self._free:
            if seen == self._halvings:
                self._limit = max(1.0, self._limit / 2)
                self._halvings += 1
            self._pause_until = max(self._pause_until, time.monotonic() + pause)

    def recover(self) -> None:
        """A call went well."""
        with self._free:
            self._limit = min(float(self._most), self._limit + 1 / self._limit)
            self._free.notify_all()


class BudgetSpent(Exception):
    """No further call: the run's budget is spent."""


class Budget:
    """What a run may spend, in requests and in tokens; None is unbounded.

    A request is counted before it is sent, so `max_calls` is never exceeded. Tokens are known afterwards: requests
    under way when `max_tokens` is reached are finished.
    """

    def __init__(self, max_calls: int | None, max_tokens: int | None):
        self.max_calls = max_calls
        self.max_tokens = max_tokens
        self.calls = 0
        self.tokens = 0
        self._told = False
        self._lock = threading.Lock()

    def take(self) -> None:
        """Count one request. Raises BudgetSpent, and says so once, if none is left."""
        with self._lock:
            if self.max_calls is not None and self.calls >= self.max_calls:
                limit = f"max_calls = {self.max_calls}"
            elif self.max_tokens is not None and self.tokens >= self.max_tokens:
                limit = f"max_tokens = {self.max_tokens}"
            else:
                self.calls += 1
                return
            told, self._told = self._told, True
        if not told:
            logger.warning(
                f"The judges' budget is spent ({limit}): no further calls, and what is not judged yet stays unscored; "
                "the replies so far are stored, so a later run with a larger budget goes on from here."
            )
        raise BudgetSpent(f"the budget is spent ({limit})")

    def spend(self, tokens: int) -> None:
        """Count the tokens of one reply."""
        with self._lock:
            self.tokens += tokens


def report_usage(model: str, input_tokens: int, output_tokens: int, reasoning_tokens: int) -> None:
    """Add one reply to lmms-eval's own summary of usage, where lmms-eval runs."""
    usage = sys.modules.get("lmms_eval.models.model_utils.usage_metrics")
    if usage is not None:
        usage.log_usage(
            model_name=model,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            reasoning_tokens=reasoning_tokens,
            source="judge",
        )


class Workers:
    """A bounded number of threads that run calls in the order they came.

    Daemons, unlike the threads of `concurrent.futures`, which Python joins at its end: a run that must stop with one
    sentence would first wait for the slowest judge's time-out.
    """

    def __init__(self, most: int, name: str):
        self._most = most
        self._name = name
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._pending: set[Future[Any]] = set()
        self._threads = 0
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Run `call` in a thread; the future has its result."""
        future: Future[T] = Future()
        with self._lock:
            self._pending.add(future)
            starts = self._threads < self._most and len(self._pending) > self._threads
            self._threads += starts
        self._calls.put((future, call))
        if starts:
            threading.Thread(target=self._work, name=self._name, daemon=True).start()
        return future

    def abort(self, error: BaseException) -> None:
        """Give every call that has no result this error, so that nobody waits for it any longer."""
        with self._lock:
            pending = list(self._pending)
        for future in pending:
            _settle(future, lambda future=future: future.set_exception(error))

    def close(self) -> None:
        """End the threads once they have finished what they do."""
        with self._lock:
            threads, self._most = self._threads, 0
        for _ in range(threads):
            self._calls.put(None)

    def _work(self) -> None:
        while (item := self._calls.get()) is not None:
            future, call = item
            if not future.done():
                try:
                    result = call()
                except BaseException as error:
                    _settle(future, lambda error=error, future=future: future.set_exception(error))
                else:
                    _settle(future, lambda result=result, future=future: future.set_result(result))
            with self._lock:
                self._pending.discard(future)


def _settle(future: Future[Any], settle: Callable[[], None]) -> None:
    with suppress(InvalidStateError):  # aborted meanwhile
        settle()
