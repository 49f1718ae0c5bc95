"""Players that need no weights, pure: from an episode's row and the prompt to the next message.

All they know of the game so far they read from the prompt, as a model does, so they hold no state: order, batches, ranks
and resumed runs do not change them. `greedy` and `random` also see the attribute tables, never the target.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_tasks.amigo.episode import NO, SKIP, UNSURE, YES, Protocol
from lmms_tasks.amigo.lexicon import Slot
from lmms_tasks.amigo.question import Predicate
from lmms_tasks.amigo.rows import tables_of
from lmms_tasks.amigo.rules import Question, askable, parse_reply, rule_texts
from lmms_tasks.amigo.tables import read_tables

_TURN = re.compile(r"^Turn \d+\nYou: (.*)\nAnswer: (Yes|No|Unsure|Skip)$", re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """An earlier question with the answer that was shown."""

    text: str
    answer: str


def history(prompt: str) -> list[Asked]:
    """The turns that a prompt shows."""
    return [Asked(text, answer) for text, answer in _TURN.findall(prompt)]


def guess_line(number: int) -> str:
    """The guess in the exact form of the protocol."""
    return f"My guess of your favorite dress: #{number}"


def greedy(row: Mapping[str, Any], prompt: str) -> str:
    """Ask what splits the feasible images most evenly, guess when one is left; never ask twice."""
    return _informed(row, prompt, lambda split, key: (abs(split), key))


def random(row: Mapping[str, Any], prompt: str) -> str:
    """Ask any allowed question that was not asked, informative or not, guess when one is left."""
    salt = hashlib.sha256(prompt.encode()).hexdigest()
    return _informed(
        row, prompt, lambda split, key: hashlib.sha256(f"{salt}{key}".encode()).hexdigest(), any_split=True
    )


def guess_at_once(row: Mapping[str, Any], prompt: str) -> str:
    """Guess the first image."""
    return guess_line(1)


def index_search(row: Mapping[str, Any], prompt: str) -> str:
    """Halve the positions by asking for them, which the protocol forbids; an answer of Skip is taken for No."""
    low, high = 1, int(row["n_images"])
    for asked in history(prompt):
        middle = (low + high) // 2
        low, high = (low, middle) if asked.answer == YES else (middle + 1, high)
    if low >= high:
        return guess_line(low)
    return f"Is it among images {low} to {(low + high) // 2}?"


def _informed(row: Mapping[str, Any], prompt: str, rank: Any, any_split: bool = False) -> str:
    if not (given := tables_of(row)):
        raise SystemExit("The players amigo_greedy and amigo_random, and the reference, read the column `attributes`.")
    tables, slots = read_tables(given)
    prohibited = prohibited_in(prompt)
    asked = [(parse_reply(one.text, slots, prohibited), one) for one in history(prompt)]
    past = [
        (reply.predicate, one.answer)
        for reply, one in asked
        if isinstance(reply, Question) and reply.predicate is not None
    ]
    feasible = [
        position
        for position, table in enumerate(tables, start=1)
        if all(predicate.answer(table) in (answer, UNSURE, None) for predicate, answer in past if answer in (YES, NO))
    ]
    if len(feasible) == 1:
        return guess_line(feasible[0])
    said = {one.text for _, one in asked}
    options = []
    for predicate, text in _questions(slots, tables, past, said, prohibited):
        answers = [predicate.answer(tables[position - 1]) for position in feasible]
        yes, no = answers.count(YES), answers.count(NO)
        # Images whose table is unsure stay whatever the answer, so they count on neither side.
        if any_split or (yes and no):
            options.append((rank(yes - no, text), text))
    return min(options)[1] if options else guess_line(feasible[0] if feasible else 1)


def _questions(
    slots: tuple[Slot, ...],
    tables: Sequence[Mapping[str, Any]],
    past: Sequence[tuple[Predicate, str]],
    said: set[str],
    prohibited: tuple[str, ...],
) -> Iterable[tuple[Predicate, str]]:
    """The questions that the rules allow now and that were not asked, each with its words."""
    tolerance = Protocol().enum_tolerance
    known = {(predicate.slot, predicate.values) for predicate, _ in past}
    present = {slot for table in tables for slot in table}
    for slot in slots:
        if slot.name not in present:
            continue
        own = [(predicate.values, answer) for predicate, answer in past if predicate.slot == slot.name]
        ruled_out = {values for values, answer in own if answer in (NO, UNSURE, SKIP)}
        # A Skip says that the protocol is stricter than the default one.
        if len(ruled_out) > tolerance or any(answer == SKIP for _, answer in own):
            continue
        for predicate, text in askable(slot, slots, prohibited):
            if text not in said and (predicate.slot, predicate.values) not in known:
                yield predicate, text


def prohibited_in(prompt: str) -> tuple[str, ...]:
    """The prohibited attributes that a prompt names; those of the default protocol where it names none."""
    before, _, after = rule_texts().rules["R5"].partition("{prohibited}")
    found = re.search(rf"^R5: {re.escape(before)}(.*?){re.escape(after)}$", prompt, re.MULTILINE)
    if found is None:
        return Protocol().prohibited
    return tuple(name.replace(" ", "_") for name in found[1].split(", ") if name != "nothing")
