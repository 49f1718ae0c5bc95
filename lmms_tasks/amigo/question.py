"""What a question asks of the dress: one predicate, an attribute's slot with one or more values, denied or not."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lmms_tasks.amigo.lexicon import UNSURE, Slot
from lmms_tasks.amigo.tables import value_text
from lmms_tasks.amigo.words import ABSENT, GENERAL, NOT, changes, plainly

# Nouns of a leading clause that "it" in the question cannot mean.
_NO_PART = (
    "dress",
    "gown",
    "answer",
    "answers",
    "previous",
    "earlier",
    "last",
    "first",
    "images",
    "others",
    "remaining",
)
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
# "Is the neckline anything other than a V-neck" denies a value; "is there anything other than a belt" denies none.
_OTHER = re.compile(r"\b(?:other than|anything but)\b")
_IS_OTHER = re.compile(r"(?:is|are|was|would you say) (?!there\b|any\b)")
_JOINT = re.compile(r"\b(?:and|but|plus|as well as)\b|&")
# Attributes of the whole dress, after which "with" adds a second one ("a floral print with puff sleeves"); after a part
# of it "with" says more of the part ("a belt with a bow").
_OF_THE_WHOLE = ("print", "silhouette", "hem_length", "material", "waist")


@dataclass(frozen=True)
class Predicate:
    """True of a dress that has one of `values` in `slot`; with `negated`, of one that has none of them."""

    slot: str
    values: tuple[str, ...]
    negated: bool = False

    def answer(self, table: Mapping[str, Any]) -> str | None:
        """ "Yes", "No" or "Unsure" for a dress by its table in the lexicon's words (`tables.canonical`); None where the
        table lacks the slot."""
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
        predicate: None where no slot, or no single one, is asked about, or where a word is left that may change what is
            asked: a size, a number, a comparison, a contrast, a denial of an unknown kind.
        joined: two predicates are joined.
        slots: every slot that is named.
    """

    predicate: Predicate | None
    joined: bool
    slots: frozenset[str]


@dataclass(frozen=True)
class _Match:
    start: int
    end: int
    slot: Slot
    value: str
    denied: bool


def read(text: str, slots: Sequence[Slot], clause: str = "") -> Reading:
    """Read a normalised question; `clause` is what leads up to it.

    Words are matched longest first, those of the tables' slots before all others. "no", "without" and the like deny what
    is asked unless they belong to a value ("no pattern"). A denial counts where it stands before all that is asked, or
    closes the question ("is a belt missing?"); anywhere else it is a contrast, and the question is not understood.
    """
    text, denials = _without_not(plainly(text))
    found = _matches(text, slots)
    rest = _cut(text, found)
    denials += [hit.start() for hit in ABSENT.finditer(rest)]
    named = {match.slot.name for match in found if not match.denied}
    # "a pattern of dots" asks for dots: the word for any pattern says nothing beside a value of its slot.
    kept = [match for match in found if not (match.denied and match.slot.name in named)]
    names = frozenset(match.slot.name for match in kept)
    joined = _joined(text, rest, kept)
    if len(names) != 1 or joined:
        return Reading(None, joined, names)
    understood = (
        _in_place(rest, kept, denials)
        and not (_OTHER.search(rest) and not _IS_OTHER.match(text))
        and _all_known(rest, kept[0].slot)
        and not changes(clause)
        and not _refers(text, clause)
    )
    if not understood:
        return Reading(None, False, names)
    values = tuple(sorted({match.value for match in kept}))
    return Reading(Predicate(kept[0].slot.name, values, bool((len(denials) + kept[0].denied) % 2)), False, names)


def _without_not(text: str) -> tuple[str, list[int]]:
    """The text without "not", which may stand within a phrase, and where each of them stood."""
    parts = [" ".join(part.split()) for part in NOT.split(text)]
    kept, places = parts[0], []
    for part in parts[1:]:
        places.append(len(kept))
        kept = f"{kept} {part}".strip()
    return kept, places


def _joined(text: str, rest: str, found: Sequence[_Match]) -> bool:
    """Whether two predicates are asked for: by a conjunction, "with", or as two adjectives of the dress."""
    for one, other in itertools.pairwise(found):
        between = rest[one.end : other.start]
        if _JOINT.search(between) and (one.slot.name, one.value) != (other.slot.name, other.value):
            # "between the knee and the ankle" asks for one length.
            return not (one.slot is other.slot and re.search(r"\bbetween\b", rest))
        if one.slot is other.slot:
            continue
        if re.search(r"\bor\b|,", between):
            return True
        if re.search(r"\bwith\b", between) and (
            one.slot.name in _OF_THE_WHOLE or re.search(r"\b(?:dress|gown)\b", between)
        ):
            return True
        if not between.strip() and re.match(r" ?(?:dress|gown|frock)\b", rest[other.end :]):
            return True
    return False


def _in_place(rest: str, found: Sequence[_Match], denials: Sequence[int]) -> bool:
    """Whether values are alternatives and a denial holds for all of them."""
    for one, other in itertools.pairwise(found):
        between = rest[one.end : other.start]
        if one.value != other.value and not re.search(r"\bn?or\b|/|^\s*,\s*(?:an? )?$", between):
            return False
        if re.search(r"[(;:]| - ", between):
            return False
    if len(denials) > 1:
        return False
    for place in denials:
        # Within the first phrase ("is the neckline not square") it stands before the value.
        if place >= found[0].end and (place < found[-1].end or re.search(r"[,(;:-]", rest[found[-1].end : place])):
            return False
    return True


def _all_known(rest: str, slot: Slot) -> bool:
    """Whether no word is left that may change what is asked."""
    near = slot.near.split()
    words = (word.removesuffix("'s") for word in _WORD.findall(ABSENT.sub(" ", rest)))
    return all(word in GENERAL or word in near for word in words)


def _refers(text: str, clause: str) -> bool:
    """Whether "it" may be something that the clause before has named ("since it has a belt, is it striped?")."""
    if not clause or not re.search(r"\b(?:it|they|its|their|one)\b", text):
        return False
    nouns = re.findall(r"\b(?:an?|the) (\w+)", clause)
    return any(noun not in _NO_PART for noun in nouns)


def _matches(text: str, slots: Sequence[Slot]) -> list[_Match]:
    """The phrases in the order of the text, none inside another."""
    hits = []
    for slot, value, denied, pattern in _patterns(tuple(slots)):
        hits += [_Match(hit.start(), hit.end(), slot, value, denied) for hit in pattern.finditer(text) if hit.group()]
    kept: list[_Match] = []
    for hit in sorted(hits, key=lambda hit: (not hit.slot.present, hit.start - hit.end, hit.start)):
        if all(hit.end <= other.start or hit.start >= other.end for other in kept):
            kept.append(hit)
    return sorted(kept, key=lambda hit: hit.start)


@lru_cache(maxsize=64)
def _patterns(slots: tuple[Slot, ...]) -> list[tuple[Slot, str, bool, re.Pattern[str]]]:
    compiled = []
    for slot in slots:
        for value, (_, pattern) in slot.values.items():
            compiled.append((slot, value, False, _whole_words(pattern)))
        if slot.negative:
            compiled.append((slot, slot.negated, True, _whole_words(slot.negative)))
    return compiled


def _whole_words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?!\w|-(?!free\b|less\b)\w)")


def _cut(text: str, found: Sequence[_Match]) -> str:
    for match in found:
        text = text[: match.start] + "·" * (match.end - match.start) + text[match.end :]
    return text
