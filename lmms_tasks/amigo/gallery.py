"""What can be asked about a gallery under a protocol: which values of its tables, and which images that tells apart.

Both are found by playing the questions: each is read as a model's message would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lmms_tasks.amigo.lexicon import NOTHING, UNSURE, Slot
from lmms_tasks.amigo.rules import fault_of, own_question
from lmms_tasks.amigo.tables import read_tables

MISREAD = "misread"


def same_looking(tables: Sequence[Mapping[str, Any]], prohibited: Iterable[str]) -> tuple[int, int] | None:
    """The first two positions (from 1) that no allowed question with a Yes for one and a No for the other tells apart."""
    read, slots = read_tables(tables)
    banned = tuple(prohibited)
    by_name = {slot.name: slot for slot in slots}
    held = [{name: _values(entry) for name, entry in table.items() if name not in banned} for table in read]
    for second in range(1, len(held)):
        for first in range(second):
            one, other = held[first], held[second]
            if not any(
                _tell_apart(by_name[name], one[name], other[name], slots, banned) for name in one if name in other
            ):
                return first + 1, second + 1
    return None


def not_askable(tables: Sequence[Mapping[str, Any]], prohibited: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """(slot, value, why) of each value of the tables whose own question is not answered: why is the rule that it breaks,
    or `MISREAD`. Slots that the protocol prohibits are left out."""
    read, slots = read_tables(tables)
    banned = tuple(prohibited)
    for slot in slots:
        if slot.name in banned or not slot.present:
            continue
        found = {value for table in read for value in _values(table.get(slot.name, UNSURE))}
        for value in sorted(found - {UNSURE, *NOTHING}):
            if fault := fault_of(slot, value, own_question(slot, value), slots, banned):
                yield slot.name, value, fault


def _values(entry: Any) -> frozenset[str]:
    return frozenset(entry if isinstance(entry, list | tuple) else [entry])


def _tell_apart(
    slot: Slot, one: frozenset[str], other: frozenset[str], slots: tuple[Slot, ...], banned: tuple[str, ...]
) -> bool:
    if UNSURE in one | other:
        return False
    return any(
        value in slot.values and fault_of(slot, value, own_question(slot, value), slots, banned) is None
        for value in sorted(one ^ other)
    )
