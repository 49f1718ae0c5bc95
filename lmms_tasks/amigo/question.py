"""What a question asks of the dress: one predicate, an attribute's slot with one or more values, denied or not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lmms_tasks.amigo.lexicon import UNSURE, Slot, value_text

_TAGS = re.compile(
    r"(?:,\s*|\s+)(?:(?:is|are|does|do|has)(?:n't|nt)? (?:it|they|she)|right|correct|or not|yes or no)\s*(?=\?*$)"
)
_NEGATED_START = re.compile(r"^((?:is|are|was|were|does|do|did|has|have|can|could|would))n't\b")
_NOT = re.compile(r"\b(?:not|never)\b")
_ABSENT = re.compile(
    r"\b(?:no|without|lack(?:s|ing)?|free (?:of|from)|other than|anything but|absence of|missing|neither|none of)\b"
)


@dataclass(frozen=True)
class Predicate:
    """True of a dress that has one of `values` in `slot`; with `negated`, of one that has none of them."""

    slot: str
    values: tuple[str, ...]
    negated: bool = False

    def answer(self, table: Mapping[str, Any]) -> str | None:
        """ "Yes", "No" or "Unsure" for the dress of an attribute table; None where the table lacks the slot."""
        if self.slot not in table:
            return None
        entry = table[self.slot]
        held = {value_text(value) for value in (entry if isinstance(entry, list | tuple) else [entry])}
        if UNSURE in held:
            return "Unsure"
        return "Yes" if bool(held & set(self.values)) != self.negated else "No"


@dataclass(frozen=True)
class Reading:
    """A question as the lexicon reads it.

    Attributes:
        predicate: None where no slot, or no single one, is asked about.
        joined: two predicates are joined by a conjunction.
        rest: the text without the phrases that were read.
    """

    predicate: Predicate | None
    joined: bool
    rest: str


def normalise(text: str) -> str:
    """The text with one spelling for each sign: NFKC, lower case, plain quotes and dashes, single spaces, no markup."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x2010: "-", 0x2011: "-", 0x2013: "-"})
    return " ".join(re.sub(r"[*`~]|(?<!\w)_|_(?!\w)", "", text).split())


def read(text: str, slots: Sequence[Slot]) -> Reading:
    """Read a normalised question.

    Words are matched longest first. "no", "without" and the like deny what is asked unless they belong to a value
    ("no pattern"); an opening "isn't" asks for the same as "is". Denials add up: two of them cancel out.
    """
    text = _NEGATED_START.sub(r"\1", _TAGS.sub("", text))
    text = re.sub(r"n't\b", " not", text)
    denials = len(_NOT.findall(text))
    text = " ".join(_NOT.sub(" ", text).split())
    found = _matches(text, slots)
    spans = [(start, end) for start, end, *_ in found]
    rest = _cut(text, spans)
    denials += len(_ABSENT.findall(rest))
    named = {slot for _, _, slot, _, denied in found if not denied}
    # "a pattern of dots" asks for dots: the word for any pattern says nothing beside a value of its slot.
    found = [match for match in found if not (match[4] and match[2] in named)]
    slot_names = {match[2] for match in found}
    between = rest[found[0][0] : found[-1][1]] if found else ""
    joint = bool(re.search(r"\b(?:and|but|plus|as well as)\b|&", between)) and len({m[2:4] for m in found}) > 1
    if len(slot_names) > 1:
        return Reading(None, joint or bool(re.search(r"\bor\b|,", between)), rest)
    if not found:
        return Reading(None, False, rest)
    values = tuple(sorted({match[3] for match in found}))
    denied = found[0][4]
    return Reading(Predicate(found[0][2], values, bool((denials + denied) % 2)), joint, rest)


def _matches(text: str, slots: Sequence[Slot]) -> list[tuple[int, int, str, str, bool]]:
    """(start, end, slot, value, denied) of each phrase in the order of the text, none inside another."""
    hits = []
    for slot, value, denied, pattern in _patterns(tuple(slots)):
        hits += [(hit.start(), hit.end(), slot, value, denied) for hit in pattern.finditer(text) if hit.group()]
    kept: list[tuple[int, int, str, str, bool]] = []
    for hit in sorted(hits, key=lambda hit: (hit[0] - hit[1], hit[0])):
        if all(hit[1] <= other[0] or hit[0] >= other[1] for other in kept):
            kept.append(hit)
    return sorted(kept)


@lru_cache(maxsize=64)
def _patterns(slots: tuple[Slot, ...]) -> list[tuple[str, str, bool, re.Pattern[str]]]:
    compiled = []
    for slot in slots:
        for value, (_, pattern) in slot.values.items():
            compiled.append((slot.name, value, False, _whole_words(pattern)))
        if slot.negative:
            compiled.append((slot.name, slot.negated, True, _whole_words(slot.negative)))
    return compiled


def _whole_words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)")


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + "·" * (end - start) + text[end:]
    return text
