"""Agentic episodes played side by side: one batched call of the model a round, in place of one call a turn.

lmms-eval's own loop plays each episode, in a thread of its own, with a stand-in for the model that waits until every live
episode has asked; an episode that ends gives its seat to the next. The calls themselves run on the thread that lmms-eval
called us on. Everything that depends on lmms-eval's private loop is in this file.

Two conditions keep prompts apart. Many adapters call the first request's `doc_to_visual` or `doc_to_messages` for a whole
batch, so all requests of a call share one callable that finds the episode by the row's `episode_id`; rows that share one
(repeats, ranks' padding, one episode under two tasks) are never live together. And adapters change `generation_kwargs` in
place, so they are handed copies, or a cache would look for one key and store another.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from loguru import logger

# 0 or 1 plays one episode after the other, another number is how many are live together.
VARIABLE = "LMMS_TASKS_LOCKSTEP"
LIVE = 32  # each of them holds its gallery's images in memory
# What the loop that is wrapped has to take.
NEEDS = ("lm", "requests", "agentic_trace_mode", "response_cache")
KEY = "episode_id"


def with_lockstep(original: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Wrap `lmms_eval.evaluator._run_generate_until_agentic`: our own tasks' episodes are played in lockstep."""

    def run_generate_until_agentic(
        lm: Any, requests: list[Any], agentic_trace_mode: str = "basic", response_cache: Any = None
    ) -> list[str]:
        size = live_episodes()
        keys = _keys(lm, requests) if size > 1 else {}
        answers: dict[int, str] = {}
        if keys:
            logger.info(f"{len(keys)} episodes, {min(size, len(keys))} of them side by side.")
            table = Table(lm, [(requests[number], key) for number, key in keys.items()], response_cache)
            answers.update(zip(keys, table.play(original, agentic_trace_mode, size), strict=True))
        # Tasks of others, or all of them where lockstep is off.
        rest = [number for number in range(len(requests)) if number not in keys]
        if rest:
            alone = [requests[number] for number in rest]
            played = original(lm, alone, agentic_trace_mode=agentic_trace_mode, response_cache=response_cache)
            answers.update(zip(rest, played, strict=True))
        return [answers[number] for number in range(len(requests))]

    return run_generate_until_agentic


def live_episodes() -> int:
    """The number of episodes that are played side by side.

    Raises:
        SystemExit: the variable holds no whole number from 0 on.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if given and not given.isdigit():
        raise SystemExit(f"{VARIABLE} is {given!r}: set it to 0 (one after the other), or to a number of episodes.")
    return int(given) if given else LIVE


class Table:
    """The episodes of one rank, and the model that they share.

    Args:
        lm: the model.
        episodes: each request with its row's key.
        response_cache: lmms-eval's cache, None without `--use_cache`.
    """

    def __init__(self, lm: Any, episodes: Sequence[tuple[Any, str]], response_cache: Any) -> None:
        self._lm = lm
        self._episodes = episodes
        self._cache = response_cache
        self._turn = threading.Condition()
        self._waiting = list(range(len(episodes)))
        self._live: set[int] = set()
        self._asked: dict[int, Any] = {}
        self._told: dict[int, Any] = {}
        self._finished: dict[int, str] = {}
        self._error: BaseException | None = None
        self._closed = False

    def play(self, original: Callable[..., list[str]], trace_mode: str, size: int) -> list[str]:
        """Play all episodes to their end, at most `size` at a time; an error in one of them ends all and is raised here."""
        try:
            while self._waiting or self._live:
                live = self._seat_more(original, trace_mode, size)
                if not self._all_have_asked(live):
                    continue
                seats = sorted(self._asked)
                replies = self._ask_model([(seat, self._asked[seat]) for seat in seats])
                with self._turn:
                    self._asked.clear()
                    self._told.update(zip(seats, replies, strict=True))
                    self._turn.notify_all()
        finally:
            with self._turn:
                self._closed = True
                self._turn.notify_all()
        return [self._finished[seat] for seat in range(len(self._episodes))]

    def ask(self, seat: int, request: Any) -> Any:
        """An episode's question to the model, from the episode's thread; returns the reply."""
        with self._turn:
            self._asked[seat] = request
            self._turn.notify_all()
            self._turn.wait_for(lambda: seat in self._told or self._closed)
            if seat not in self._told:
                raise _Closed
            return self._told.pop(seat)

    def _seat_more(self, original: Callable[..., list[str]], trace_mode: str, size: int) -> int:
        """Begin episodes, in their order, until `size` are live, never two with one key; return how many are."""
        with self._turn:
            keys = {self._episodes[seat][1] for seat in self._live}
            for seat in list(self._waiting):
                if len(self._live) < size and self._episodes[seat][1] not in keys:
                    self._waiting.remove(seat)
                    self._live.add(seat)
                    keys.add(self._episodes[seat][1])
                    # A daemon: a user who presses Ctrl-C must not wait for an oracle's reply.
                    arguments = (seat, original, trace_mode)
                    threading.Thread(target=self._play_one, args=arguments, name=f"episode-{seat}", daemon=True).start()
            return len(self._live)

    def _all_have_asked(self, live: int) -> bool:
        """Wait until all `live` episodes have asked; False as soon as one has ended, since another may take its seat.

        So every call of the model is as large as can be, and its composition is the same in every run.
        """
        with self._turn:
            self._turn.wait_for(lambda: self._error or len(self._live) < live or len(self._asked) == live)
            if self._error is not None:
                raise self._error
            return len(self._live) == live and live > 0

    def _play_one(self, seat: int, original: Callable[..., list[str]], trace_mode: str) -> None:
        request, _ = self._episodes[seat]
        try:
            (answer,) = original(_Seat(self, seat, self._lm), [request], agentic_trace_mode=trace_mode)
        except _Closed:
            return
        except BaseException as error:  # SystemExit too: it is for the thread that called us
            with self._turn:
                self._error = self._error or error
                self._turn.notify_all()
            return
        with self._turn:
            self._finished[seat] = answer
            self._live.remove(seat)
            self._turn.notify_all()

    def _ask_model(self, asked: Sequence[tuple[int, Any]]) -> list[Any]:
        requests = _sharing_one_callable(
            [request for _, request in asked], [self._episodes[seat][1] for seat, _ in asked]
        )
        model = _Copying(self._lm)
        if self._cache is not None:
            return self._cache.execute(model, "generate_until", requests)
        return model.generate_until(requests)


class _Closed(Exception):
    """The table has closed before this episode's end."""


class _Seat:
    """The model as one episode's loop sees it."""

    def __init__(self, table: Table, seat: int, lm: Any) -> None:
        self._table = table
        self._seat = seat
        self.is_simple = getattr(lm, "is_simple", False)
        self.task_dict = lm.task_dict

    def generate_until(self, requests: list[Any]) -> list[Any]:
        return [self._table.ask(self._seat, request) for request in requests]


class _Copying:
    """The model, handed copies of the requests' generation arguments."""

    def __init__(self, lm: Any) -> None:
        self._lm = lm

    def generate_until(self, requests: list[Any]) -> list[Any]:
        # A function is not copied by deepcopy, so the shared callable stays what it is.
        return self._lm.generate_until([_with_arguments(one, copy.deepcopy(one.args)) for one in requests])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lm, name)


def _sharing_one_callable(requests: Sequence[Any], keys: Sequence[str]) -> list[Any]:
    """Copies of the requests whose `doc_to_visual` or `doc_to_messages` is one function for all of them."""
    places = [next(place for place, one in enumerate(request.args) if callable(one)) for request in requests]
    own = {key: request.args[place] for key, request, place in zip(keys, requests, places, strict=True)}

    def of_the_rows_episode(doc: Any) -> Any:
        return own[str(doc[KEY])](doc)

    shared = []
    for request, place in zip(requests, places, strict=True):
        arguments = list(request.args)
        arguments[place] = of_the_rows_episode
        shared.append(_with_arguments(request, tuple(arguments)))
    return shared


def _with_arguments(request: Any, arguments: tuple) -> Any:
    copied = copy.copy(request)
    copied.arguments = arguments
    return copied


def _keys(lm: Any, requests: Sequence[Any]) -> dict[int, str]:
    """The `episode_id` of each request's row, by the request's position; rows without one and tasks of others left out."""
    from lmms_tasks.benchmarks import read_catalogue

    ours = read_catalogue().tasks
    columns: dict[tuple[str, str], Sequence[Any]] = {}
    keys = {}
    for number, request in enumerate(requests):
        *_, doc_id, task, split = request.args
        if task not in ours:
            continue
        if (task, split) not in columns:
            rows = lm.task_dict[task][split]
            # The column alone: a look-up of whole rows would read every gallery.
            columns[task, split] = list(rows[KEY]) if KEY in rows.column_names else ()
        if columns[task, split]:
            keys[number] = str(columns[task, split][doc_id])
    return keys
