"""Groups what threads that wait at the same time ask of one model into one call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Question = TypeVar("Question")
Reply = TypeVar("Reply")


class Batcher(Generic[Question, Reply]):
    """Calls `compute` with the questions of all threads that wait, one call at a time.

    Nobody waits for company: a thread that finds the model idle asks at once, and what others ask meanwhile goes into
    the next call. `compute` gets at most `limit` questions (or those of one thread, if these are more) and returns as
    many replies in the same order.
    """

    def __init__(self, compute: Callable[[list[Question]], Sequence[Reply]], limit: int = 256):
        self._compute = compute
        self._limit = limit
        self._waiting: list[tuple[Sequence[Question], Future[Sequence[Reply]]]] = []
        self._turn = threading.Condition()
        self._busy = False

    def __call__(self, questions: Sequence[Question]) -> Sequence[Reply]:
        """The replies to `questions` in their order; what `compute` raises is raised for every thread of that call."""
        if not questions:
            return []
        mine: Future[Sequence[Reply]] = Future()
        with self._turn:
            self._waiting.append((questions, mine))
            # Not on a lock of the model: who has been answered would stand in line behind those that come anew, and
            # these would each be a call of their own.
            while self._busy and not mine.done():
                self._turn.wait()
            if mine.done():
                return mine.result()
            self._busy = True
        try:
            while not mine.done():
                self._answer_next()
                with self._turn:
                    self._turn.notify_all()
        finally:
            with self._turn:
                self._busy = False
                self._turn.notify_all()
        return mine.result()

    def _answer_next(self) -> None:
        with self._turn:
            taken = [self._waiting.pop(0)]
            total = len(taken[0][0])
            while self._waiting and total + len(self._waiting[0][0]) <= self._limit:
                taken.append(self._waiting.pop(0))
                total += len(taken[-1][0])
        try:
            replies = self._compute([question for questions, _ in taken for question in questions])
            if len(replies) != total:
                raise ValueError(f"{total} questions got {len(replies)} replies")
        except BaseException as error:
            for _, future in taken:
                future.set_exception(error)
            return
        start = 0
        for questions, future in taken:
            future.set_result(replies[start : start + len(questions)])
            start += len(questions)
