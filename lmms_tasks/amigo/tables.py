"""The attribute tables of an episode in the lexicon's words, and the lexicon with their own slots and values.

Users write what they like: `Neckline: V-neck`, `pattern: polka dot`, `belt: leather`, `Yoke Style: western`. Slots that
the lexicon knows under any of their names become its own, values that one of its patterns means become that value, and
whatever is left is asked for by its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lmms_tasks.amigo.lexicon import NO, NOTHING, SLOTS, UNSURE, YES, Slot
from lmms_tasks.amigo.words import GENERAL, normalise

Table = Mapping[str, Any]

_TRUTHS = {
    **dict.fromkeys(("yes", "y", "true", "1", "1.0", "present", "with"), YES),
    **dict.fromkeys(("no", "n", "false", "0", "0.0", "none", "absent", "without", "nothing"), NO),
}
_NOT_KNOWN = ("", UNSURE, "unknown", "unclear", "not visible", "hidden", "?", "-", "n/a", "na", "nan", "null")
_DENIAL = re.compile(r"\b(?:no|not|non|without|lacks?|never|except)\b")
_SLOTS = {slot.name: slot for slot in SLOTS}
_KNOWN_VALUES = {slot.name: {*slot.values, UNSURE, *NOTHING, YES} for slot in SLOTS}
_NAMES = {name: slot.name for slot in SLOTS for name in slot.names}


def slots_for(tables: Iterable[Table]) -> tuple[Slot, ...]:
    """The lexicon for an episode: its own slots, those of the tables marked, and one for each slot that it lacks."""
    return read_tables(tables)[1]


def canonical(tables: Iterable[Table]) -> tuple[dict[str, Any], ...]:
    """The tables in the lexicon's words; a value is a text, or a list of the texts that all hold.

    Tables in these words stay as they are. A value that the lexicon knows but cannot place ("not floral") is `unsure`.
    """
    return read_tables(tables)[0]


def read_tables(tables: Iterable[Table]) -> tuple[tuple[dict[str, Any], ...], tuple[Slot, ...]]:
    """`canonical` tables with their lexicon (`slots_for`)."""
    return _read(json.dumps([dict(table) for table in tables], default=str))


def value_text(value: object) -> str:
    """A table's value as text: true and false are `yes` and `no`."""
    if isinstance(value, bool):
        return YES if value else NO
    return _plain_text(str(value)) if value is not None else UNSURE


@lru_cache(maxsize=4096)  # every answer of every image asks for it
def _plain_text(text: str) -> str:
    return normalise(text)


@lru_cache(maxsize=256)  # every turn of an episode reads its tables
def _read(text: str) -> tuple[tuple[dict[str, Any], ...], tuple[Slot, ...]]:
    given: list[Table] = json.loads(text)
    names = _slot_names([name for table in given for name in table])
    texts = [{names[name]: _texts(value) for name, value in table.items()} for table in given]
    own: dict[str, dict[str, None]] = {}
    read: dict[tuple[str, str], tuple[str, ...]] = {}
    for table in texts:
        for slot, values in table.items():
            own.setdefault(slot, {})
            read.update({(slot, value): _held(slot, value) for value in values})
    # Two values of the tables that mean one of the lexicon's ("scoop", "crew": round) keep their own names beside it.
    origins: dict[tuple[str, str], set[str]] = {}
    for (slot, value), held in read.items():
        for one in held:
            if value not in (YES, *NOTHING) and one not in (YES, NO, UNSURE):
                origins.setdefault((slot, one), set()).add(value)
    tables = []
    for table in texts:
        made = {}
        for slot, values in table.items():
            found: dict[str, None] = {}
            for value in values:
                held = read[slot, value]
                found.update(dict.fromkeys(held))
                if any(len(origins.get((slot, one), ())) > 1 for one in held):
                    found[value] = None
            made[slot] = next(iter(found)) if len(found) == 1 else list(found)
            own[slot].update(found)
        tables.append(made)
    # Of the lexicon's own slots only what they lack, so that most galleries share one lexicon.
    spec = tuple(
        sorted((slot, tuple(sorted(set(values) - set(_KNOWN_VALUES.get(slot, ()))))) for slot, values in own.items())
    )
    return tuple(tables), _lexicon(spec)


def _slot_names(given: Iterable[str]) -> dict[str, str]:
    """By the name in the tables the lexicon's, or the name itself in lower case with underscores."""
    plain = {name: re.sub(r"[\W_]+", "_", normalise(name)).strip("_") or name for name in given}
    taken = {name for name in plain.values() if name in _SLOTS}
    names = {}
    for name, text in plain.items():
        short = re.sub(r"^(?:has|with|is)_", "", text)
        options = (short, _NAMES.get(short, ""), f"{short}s", short.removesuffix("s"))
        known = next((one for one in options if one in _SLOTS), None)
        if text in _SLOTS or known is None or known in taken:
            names[name] = text
        else:
            names[name] = known
            taken.add(known)
    return names


def _texts(value: object) -> list[str]:
    values = [value_text(one) for one in (value if isinstance(value, list | tuple) else [value])]
    return [UNSURE if one in _NOT_KNOWN else one for one in values] or [NO]


def _held(slot: str, value: str) -> tuple[str, ...]:
    """The values of the lexicon that a table's value means, or itself where it means none."""
    known = _SLOTS.get(slot)
    if value == UNSURE or (known is not None and value in known.values):
        return (value,)
    if known is None:
        return (_TRUTHS.get(value, value),)
    if set(known.values) == {YES}:
        if value in _TRUTHS:
            return (_TRUTHS[value],)
        denied = _DENIAL.search(value) or (known.negative and re.search(known.negative, value))
        return (NO,) if denied else (YES,) if _phrases(known, value) == {YES: True} else (YES, value)
    if _TRUTHS.get(value) == NO:
        return (known.nothing or value,)
    if _TRUTHS.get(value) == YES:
        return (UNSURE,)  # some print, nobody knows which
    name = re.sub(r"[\s-]+", "_", value)
    if name in known.values:
        return (name,)
    found = _phrases(known, value)
    if whole := [one for one, is_whole in found.items() if is_whole]:
        return (whole[0],)
    if found and _DENIAL.search(value):
        return (UNSURE,)
    return (*found, value)


def _phrases(slot: Slot, text: str) -> dict[str, bool]:
    """The values whose patterns are in a text, with whether one is the whole of it (or of it with the slot's noun)."""
    text = text.replace("_", " ")
    found = {}
    for value, (_, pattern) in slot.values.items():
        phrases = [text, *(f"{text} {noun}" for noun in slot.nouns if noun not in text.split())]
        if any(re.fullmatch(pattern, phrase) for phrase in phrases):
            found[value] = True
        elif any(re.search(rf"(?<![\w-])(?:{pattern})(?!\w)", phrase) for phrase in phrases):
            found[value] = False
    return found


@lru_cache(maxsize=256)  # one object for equal lexicons: what is read with them is cached too
def _lexicon(spec: Sequence[tuple[str, Sequence[str]]]) -> tuple[Slot, ...]:
    present = dict(spec)
    slots = []
    for slot in SLOTS:
        if slot.name not in present:
            slots.append(slot)
            continue
        extra = present.pop(slot.name)
        # The tables' own words go first: at equal length the first pattern wins.
        slots.append(replace(slot, values={**_plain(slot.name, extra, slot.nouns), **slot.values}, present=True))
    for name, values in present.items():
        own = [one for one in values if one not in (UNSURE, *NOTHING)] or [YES]
        words = name.replace("_", " ")
        slots.append(Slot(name, "Does the dress have {}?", _plain(name, own), near=words, present=True))
    return tuple(slots)


def _plain(name: str, values: Iterable[str], nouns: Iterable[str] = ()) -> dict[str, tuple[str, str]]:
    words = name.replace("_", " ")
    found = {}
    for value in values:
        if value == YES:
            found[value] = (words, _spelt(words))
            continue
        short = value.replace("_", " ")
        noun = next(iter(nouns), words)
        told = short if noun in short.split() else f"{short} {noun}"
        patterns = [_spelt(told), *(_spelt(f"{short} {noun}") for noun in nouns)]
        # A number, a letter or an article is no name of anything by itself.
        if len(short) > 1 and short not in GENERAL and not short.isdigit():
            patterns.append(_spelt(short))
        found[value] = (told, "|".join(patterns))
    return found


def _spelt(words: str) -> str:
    """A pattern for words that may be joined by spaces or hyphens."""
    return "[- ]".join(re.escape(part) for part in re.split(r"[\s-]+", words))
