"""The ten rules of the protocol as code: what a reply is, and which rules it breaks.

R1 (wait for the end of uploading) cannot be broken where all images come in one message, R6 and R9 need the episode so
far (`episode.py`), and R8 (use the earlier answers) is recorded, never answered by Skip. The identifiers are ours: the
task card says that there are ten rules and names the contents of five.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lmms_tasks.amigo.lexicon import Slot
from lmms_tasks.amigo.positions import asks_for_position
from lmms_tasks.amigo.prohibited import NOT_OBSERVABLE, PROHIBITED
from lmms_tasks.amigo.question import Predicate, Reading, read
from lmms_tasks.amigo.words import normalise, sentence

PROMPT = Path(__file__).parent / "prompts" / "protocol.txt"
RULES = tuple(f"R{number}" for number in range(1, 11))

_AUXILIARY = r"(?:is|are|was|were|does|do|did|has|have|had|can|could|would|will|might|may|should)(?:n't)?"
_ASKS = re.compile(rf"^(?:{_AUXILIARY}|any)\b")
_WH = r"(?:what|which|how|where|when|why|who|whose)"
_OPEN = re.compile(
    rf"^(?:(?:in|on|at|with|of|for|from|to|by) )?{_WH}\b"
    rf"|\b(?:tell|describe(?! [^?]* as\b)|explain|know|say|specify|give|show|list|name)\b[^?]*\b(?:{_WH}|about)\b"
    r"|^(?:(?:can|could|would|will) you (?:please )?)?(?:describe|explain|tell me|list|give|show|name|compare|elaborate)\b(?! [^?]* as\b)(?! (?:if|whether)| me (?:if|whether))"
)
_SUBJECT = r"(?:it|there|the|they|she|your|any|this)"
# A question begins at the start, after a sign, or after a conjunction; at a second one there are two.
_BEGINNINGS = re.compile(
    rf"(?:^|[.!?;:,]\s*|\s-\s|\b(?:and|or|but)\b,? (?:also )?){_AUXILIARY} {_SUBJECT}\b(?!\s*\?*$)"
    rf"|\b(?:and|or|but)\b,? (?:if so,? )?(?:in |of |on )?{_WH}\b(?! \w+ is\b)"
)
_SOLID = re.compile(r"\bsolid[- ]colou?r(?:ed)?\b")
_HEM_ON_FLOOR = re.compile(
    r"\b(?:reach|touch|sweep|brush|graze|skim|hit|drag)(?:es|s|ing)?(?: on)? the (?:floor|ground)|\b(?:to|(?:stop|end|fall|finish)(?:s|es)?(?: right| just)? (?:at|above|near|before)) the (?:floor|ground)|\b(?:floor|ground)[- ]length"
)

_GUESS = re.compile(
    r"my (?:final )?guess (?:of|for|about|at) (?:your |the )?favou?rite dress(?:\s*(?:[:=]|is\b|would be\b|-(?=\s)))*\s*"
    r"(?:(?:the )?(?:dress|image|photo|picture|option|number|no\.?|nr\.?)\s*)*[#(\[<{\"'\s]*(\d{1,4})(?!\d)[)\]>}]*"
)
# Words that announce or quote the line: beside a question it is no guess yet.
_ANNOUNCED = re.compile(
    r"\b(?:write|writing|say|saying|type|typing|send|sending|answer|reply)(?: with)?(?: the line)?\s*:?\s*[\"']?$"
)
_STRICT_GUESS = re.compile(r"My guess of your favorite dress: #\d{1,4}")
_LIKE_A_GUESS = re.compile(
    r"\b(?:my |final |i )guess\b|\bguess:|#\s*\d+|\b(?:it'?s|it is|answer is) (?:number|image|dress)\s*\d+"
)


@dataclass(frozen=True)
class Hit:
    """A rule that a reply breaks, with the reason in a word or two."""

    rule: str
    reason: str


@dataclass(frozen=True)
class Guess:
    """A guess: the number as given (it may be outside the gallery), whether it stood in the exact form alone, and
    whether a question stood beside it."""

    number: int
    strict: bool
    mixed: bool


@dataclass(frozen=True)
class Question:
    """Anything that is no guess: its predicate where the lexicon knows one, and the rules that it breaks."""

    text: str
    predicate: Predicate | None
    hits: tuple[Hit, ...]


def parse_guess(text: str) -> Guess | None:
    """The guess in a reply (reasoning taken off), None if there is none; the last one wins.

    The line within a sentence that announces or quotes it, beside a question, is no guess.
    """
    plain = normalise(text)
    found = [hit for hit in _GUESS.finditer(plain) if not _is_announced(plain, hit)]
    if not found:
        return None
    return Guess(int(found[-1][1]), bool(_STRICT_GUESS.fullmatch(text.strip())), "?" in _GUESS.sub("", plain))


def _is_announced(plain: str, hit: re.Match[str]) -> bool:
    quoted = plain[: hit.start()].endswith(('"', "'")) and plain[hit.end() :].lstrip(".").startswith(('"', "'"))
    told = bool(_ANNOUNCED.search(plain[: hit.start()]))
    return (quoted or told) and "?" in _GUESS.sub("", plain)


@lru_cache(maxsize=4096)  # questions recur: in the episodes of a run, and in what the baselines read of the past
def parse_reply(text: str, slots: tuple[Slot, ...], prohibited: tuple[str, ...]) -> Guess | Question:
    """What a reply (reasoning taken off) is, with every rule that it breaks by itself, in the order of checking."""
    return parse_guess(text) or _question(text, slots, prohibited)


def own_question(slot: Slot, value: str) -> str:
    """The question that a baseline asks for a value of a slot."""
    return slot.question.format(slot.values[value][0])


@lru_cache(maxsize=1024)
def askable(slot: Slot, slots: tuple[Slot, ...], prohibited: tuple[str, ...]) -> tuple[tuple[Predicate, str], ...]:
    """The values of a slot whose own question is allowed and read as it is meant, each as predicate and question."""
    return tuple(
        (Predicate(slot.name, (value,)), text)
        for value in slot.values
        if fault_of(slot, value, text := own_question(slot, value), slots, prohibited) is None
    )


def fault_of(slot: Slot, value: str, text: str, slots: tuple[Slot, ...], prohibited: tuple[str, ...]) -> str | None:
    """Why a question does not ask for a value: the rule that it breaks, "misread", or None where it does."""
    reply = parse_reply(text, slots, prohibited)
    if isinstance(reply, Guess):
        return "misread"
    if reply.hits:
        return reply.hits[0].rule
    return None if reply.predicate == Predicate(slot.name, (value,)) else "misread"


def _question(text: str, slots: tuple[Slot, ...], prohibited: tuple[str, ...]) -> Question:
    plain = _GUESS.sub(" ", normalise(text))
    clause, asked = sentence(plain)
    reading = read(asked, slots, clause)
    open_question = bool(_OPEN.search(asked))
    hits = []
    if not plain.strip():
        return Question(text, None, (Hit("R2", "empty"),))
    if "?" not in plain and _LIKE_A_GUESS.search(plain):
        hits.append(Hit("R10", "guess line"))
    if len(re.findall(r"\?+", plain)) > 1 or len(_BEGINNINGS.findall(plain)) > 1 or _second_open(plain):
        hits.append(Hit("R2", "several questions"))
    elif reading.joined:
        hits.append(Hit("R2", "joined"))
    elif "?" not in plain and not open_question and not _ASKS.match(asked):
        hits.append(Hit("R2", "no question"))
    if open_question:
        hits.append(Hit("R3", "not binary"))
    if asks_for_position(plain):
        hits.append(Hit("R7", "index"))
    hits += [Hit("R5", slot) for slot in sorted(prohibited) if _asks_for(slot, asked, reading)]
    if NOT_OBSERVABLE.search(asked):
        hits.append(Hit("R4", "not observable"))
    return Question(text, reading.predicate, tuple(hits))


def _second_open(plain: str) -> bool:
    """Whether an open question is joined to a first one ("does it have a belt, and what kind?")."""
    return any(re.match(r"(?:and|or|but)\b.*\b" + _WH, hit.group()) for hit in _BEGINNINGS.finditer(plain))


def _asks_for(slot: str, asked: str, reading: Reading) -> bool:
    """Whether a question asks for a prohibited attribute: by its words, or as any slot that a user prohibits."""
    if slot in reading.slots:
        return True
    if slot not in PROHIBITED:
        words = re.escape(slot.replace("_", " "))
        return bool(re.search(rf"\b{words}\b", asked))
    if slot == "color":
        asked = _SOLID.sub("", asked)
    if slot == "background":
        asked = _HEM_ON_FLOOR.sub("", asked)
    return bool(re.search(PROHIBITED[slot], asked))


@dataclass(frozen=True)
class RuleTexts:
    """The versioned text that tells a model the protocol."""

    version: str
    intro: str
    rules: Mapping[str, str]
    closing: str


@lru_cache(maxsize=1)
def rule_texts() -> RuleTexts:
    """Read the one file of rule texts: `version: N`, an introduction, a line `R1: …` for each rule, a closing."""
    first, _, rest = PROMPT.read_text(encoding="utf-8").partition("\n")
    intro: list[str] = []
    closing: list[str] = []
    rules: dict[str, str] = {}
    for line in rest.strip("\n").split("\n"):
        name, colon, text = line.partition(": ")
        if colon and name in RULES:
            rules[name] = text.strip()
        else:
            (closing if rules else intro).append(line)
    return RuleTexts(
        first.removeprefix("version:").strip(), "\n".join(intro).strip(), rules, "\n".join(closing).strip()
    )
