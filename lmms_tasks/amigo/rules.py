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

from lmms_tasks.amigo.lexicon import NOT_OBSERVABLE, PROHIBITED, Slot
from lmms_tasks.amigo.question import Predicate, normalise, read

PROMPT = Path(__file__).parent / "prompts" / "protocol.txt"
RULES = tuple(f"R{number}" for number in range(1, 11))

_AUXILIARY = r"(?:is|are|was|were|does|do|did|has|have|had|can|could|would|will|might|may|should)(?:n't)?"
_PREAMBLE = re.compile(
    r"^(?:(?:ok(?:ay)?|so|well|now|next|great|thanks|thank you|alright|hmm+|got it|question(?: \d+)?|q|my (?:next )?question(?: is)?"
    r"|let me ask|i see|sure|please)\b[\s,:.!-]*)+"
)
_ASKS = re.compile(rf"^(?:{_AUXILIARY}|any)\b")
_WH = r"(?:what|which|how|where|when|why|who|whose)"
_OPEN = re.compile(
    rf"^(?:(?:in|on|at|with|of|for|from|to|by) )?{_WH}\b"
    rf"|\b(?:tell|describe|explain|know|say|specify|give|show|list|name)\b[^?]*\b(?:{_WH}|about)\b"
    r"|^(?:(?:can|could|would|will) you (?:please )?)?(?:describe|explain|tell me|list|give|show|name|compare|elaborate)\b(?! (?:if|whether)| me (?:if|whether))"
)
_JOINED_QUESTIONS = re.compile(rf"\b(?:and|or|but)\b,? (?:also )?{_AUXILIARY} (?:it|there|the|they|she|your|any)\b")
_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty)"
_ORDINAL = (
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|previous|middle|\d+(?:st|nd|rd|th))"
)
_PICTURE = r"(?:images?|photos?|pictures?|dress(?:es)?|options?|candidates?|items?|ones?)"
_INDEX = re.compile(
    rf"#\s*\d|\b{_PICTURE}\s*(?:number|no\.)\s*#?{_NUMBER}\b|\bdress\s*\d+\b"
    rf"|\b(?:images?|photos?|pictures?|options?|candidates?|number|no\.|index|position)\s*#?{_NUMBER}\b(?!-)"
    rf"|\b{_ORDINAL} (?:\w+ )?(?:{_PICTURE}|half|quarter of)\b|\b(?:half|quarter|part|beginning|end) of the (?:gallery|list|images|dresses)\b"
    r"|\bbetween (?:number )?\d+ and \d+\b|\b\d+ ?(?:-|to|through) ?\d+\b"
    rf"|\b(?:greater|higher|lower|smaller|less|bigger|larger|above|below|before|after|at (?:least|most)) (?:than )?(?:or equal to )?#?{_NUMBER}\s*(?:\?|$)"
    r"|\b(?:an? )?(?:odd|even)(?: |-)number(?:ed)?\b|\bodd or even\b|\b(?:index|gallery|upload(?:ed|ing)?)\b"
    r"|\b(?:other|rest of the|all(?: of)? the|any of the|most of the|remaining|these|those) (?:images|photos|pictures|dresses|candidates|options|ones)\b"
    r"|\bthe (?:others|rest)\b|\bfavou?rite (?:is )?among\b"
)
_SOLID = re.compile(r"\bsolid[- ]colou?r(?:ed)?\b")
_HEM_ON_FLOOR = re.compile(
    r"\b(?:reach|touch|sweep|brush|graze|skim|hit|drag)(?:es|s|ing)?(?: on)? the (?:floor|ground)|\bto the (?:floor|ground)|\b(?:floor|ground)[- ]length"
)

_GUESS = re.compile(
    r"my guess of your favou?rite dress\s*(?:is)?\s*:?\s*(?:is\s*)?(?:(?:no\.|number|image|dress)\s*)?#?\s*(\d{1,4})(?!\d)"
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
    """The guess in a reply (reasoning taken off), None if there is none; the last one wins."""
    plain = normalise(text)
    found = list(_GUESS.finditer(plain))
    if not found:
        return None
    return Guess(int(found[-1][1]), bool(_STRICT_GUESS.fullmatch(text.strip())), "?" in _GUESS.sub("", plain))


@lru_cache(maxsize=4096)  # questions recur: in the episodes of a run, and in what the baselines read of the past
def parse_reply(text: str, slots: tuple[Slot, ...], prohibited: tuple[str, ...]) -> Guess | Question:
    """What a reply (reasoning taken off) is, with every rule that it breaks by itself, in the order of checking."""
    return parse_guess(text) or _question(text, slots, prohibited)


def _question(text: str, slots: tuple[Slot, ...], prohibited: tuple[str, ...]) -> Question:
    plain = normalise(text)
    asked = _sentence(plain)
    reading = read(asked, slots)
    open_question = bool(_OPEN.search(asked))
    hits = []
    if not plain:
        return Question(text, None, (Hit("R2", "empty"),))
    if "?" not in plain and _LIKE_A_GUESS.search(plain):
        hits.append(Hit("R10", "guess line"))
    if len(re.findall(r"\?+", plain)) > 1 or _JOINED_QUESTIONS.search(asked):
        hits.append(Hit("R2", "several questions"))
    elif reading.joined:
        hits.append(Hit("R2", "joined"))
    elif "?" not in plain and not open_question and not _ASKS.match(asked):
        hits.append(Hit("R2", "no question"))
    if open_question:
        hits.append(Hit("R3", "not binary"))
    if _INDEX.search(plain):
        hits.append(Hit("R7", "index"))
    hits += [Hit("R5", slot) for slot in sorted(prohibited) if _asks_for(slot, asked, reading.predicate)]
    if re.search(NOT_OBSERVABLE, asked):
        hits.append(Hit("R4", "not observable"))
    return Question(text, reading.predicate, tuple(hits))


def _sentence(plain: str) -> str:
    """The sentence that asks, without what leads up to it."""
    sentences = [part.strip() for part in re.split(r"(?<=[?!;])\s+|(?<=\w\.)\s+(?=\D)", plain) if part.strip()]
    asked = next((part for part in sentences if "?" in part), sentences[-1] if sentences else "")
    return _PREAMBLE.sub("", asked)


def _asks_for(slot: str, asked: str, predicate: Predicate | None) -> bool:
    """Whether a question asks for a prohibited attribute: by its words, or as any slot that a user prohibits."""
    if predicate is not None and predicate.slot == slot:
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
