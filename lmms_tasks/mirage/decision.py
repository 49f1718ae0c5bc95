"""Clarify or respond: what a model decided, read from its answer, one parser a prompt's format.

A decision counts only where the format puts it: between the `<Decision>` tags, or under `decision` in the JSON object.
The same word in the prose around it is no decision. Around that the parsers bear what models do: code fences, missing
closing tags, bare quotes, lower case, missing brackets, reasoning before the answer. Pure; nothing here raises.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_tasks.mirage.lenient_json import FoundObject, Pairs, Unfinished, find_objects
from lmms_tasks.utils.reasoning import strip_reasoning

CLARIFY = "clarify"
RESPOND = "respond"
DECISIONS = (CLARIFY, RESPOND)

_TOKEN = re.compile(rf"\b(?:{CLARIFY}|{RESPOND})\b")
_NEGATED = re.compile(rf"(?:\bnot|\bnever|\bcannot|n['’]t|\bwithout|\bno)\W+(?:\w+\W+){{0,2}}(?:{CLARIFY}|{RESPOND})\b")
_TAG = re.compile(r"<\s*(/?)\s*(decision|utterance)\s*>", re.IGNORECASE)
_REASONING_TAG = re.compile(r"<\s*(/?)\s*reasoning\s*>", re.IGNORECASE)
_WHOLE_ANSWER_AT_THE_END = re.compile(
    r"<\s*decision\s*>(?:(?!<\s*decision\s*>).)*?<\s*/\s*decision\s*>\s*<\s*utterance\s*>"
    r"(?:(?!<\s*decision\s*>).)*\Z",
    re.IGNORECASE | re.DOTALL,
)
_FINISH_AT_THE_END = re.compile(
    r"<\s*finish\s*>((?:(?!<\s*/?\s*finish\s*>).)*)<\s*/\s*finish\s*>\s*\Z", re.IGNORECASE | re.DOTALL
)

# How deep a fact may nest before its inside is left out.
_DEEPEST = 20


@dataclass(frozen=True)
class Turn:
    """The next turn of a dialogue as a model proposes it.

    Attributes:
        decision: "clarify", "respond", or None where the answer is unparsable.
        utterance: what the model would say, "" where it says nothing.
        known: the facts that it takes for given, as "key: value" (Decomp).
        missing: the facts that it lacks (Decomp).
        truncated: True where the answer breaks off, inside its reasoning, a tag or its JSON.
    """

    decision: str | None
    utterance: str = ""
    known: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    truncated: bool = False


Parser = Callable[[str], Turn]


def decision_of(text: Any) -> str | None:
    """The decision that a tag or field holds: "clarify", "respond", or None for neither, both, or a negated one."""
    if not isinstance(text, str) or isinstance(text, Unfinished):
        return None
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = set(_TOKEN.findall(folded))
    return found.pop() if len(found) == 1 and not _NEGATED.search(folded) else None


def parse_direct(text: str) -> Turn:
    """Read `<Decision>…</Decision> <Utterance>…</Utterance>`."""
    answer = strip_reasoning(text)
    if answer.state != "answered":
        return Turn(None, truncated=answer.state == "unclosed_reasoning")
    return _direct(_without_own_reasoning(answer.text))


# A `<Reasoning>` block may come first; models write one unasked too, so both formats are read alike.
parse_direct_cot = parse_direct


def parse_decomp(text: str) -> Turn:
    """Read `<output>{JSON}</output>`, or the JSON object where the tags are missing."""
    answer = strip_reasoning(text)
    if answer.state != "answered":
        return Turn(None, truncated=answer.state == "unclosed_reasoning")
    return _decomp(answer.text, "output")


def parse_decomp_cot(text: str) -> Turn:
    """Read `<Think>…</Think> <Finish>{JSON}</Finish>`.

    `<Think>` is this format's own: where it is never closed, a whole `<Finish>` block that ends the answer still counts.
    """
    answer = strip_reasoning(text)
    if answer.state == "unclosed_reasoning" and (finish := _FINISH_AT_THE_END.search(text)):
        return _decomp(finish[0], "finish")
    if answer.state != "answered":
        return Turn(None, truncated=answer.state == "unclosed_reasoning")
    return _decomp(answer.text, "finish")


@dataclass(frozen=True)
class _Block:
    name: str
    body: str
    closed: bool
    last: bool = False


def _direct(text: str) -> Turn:
    blocks = _blocks(text)
    decisions = [block for block in blocks if block.name == "decision"]
    utterances = [block for block in blocks if block.name == "utterance"]
    decision = _agreed(decision_of(_said(block)) for block in decisions)
    utterance = utterances[-1].body.strip() if utterances else ""
    return Turn(decision, utterance, truncated=bool(blocks) and not blocks[-1].closed)


def _said(block: _Block) -> str:
    """What stands in a decision block; one that nothing ends is read to the end of its first line."""
    if block.closed or not block.last:
        return block.body
    return block.body.strip().partition("\n")[0]


def _blocks(text: str) -> list[_Block]:
    """The tagged blocks in order; one without closing tag ends where the next tag or the text does."""
    tags = list(_TAG.finditer(text))
    blocks = []
    for number, tag in enumerate(tags):
        if tag[1]:
            continue
        name = tag[2].casefold()
        following = tags[number + 1] if number + 1 < len(tags) else None
        end = following.start() if following else len(text)
        closed = following is not None and bool(following[1]) and following[2].casefold() == name
        blocks.append(_Block(name, text[tag.end() : end], closed, last=following is None))
    return blocks


def _without_own_reasoning(text: str) -> str:
    """The text outside `<Reasoning>` blocks; one that is never closed hides all but a whole answer at the end."""
    kept: list[str] = []
    place = 0
    opening = None
    for tag in _REASONING_TAG.finditer(text):
        if tag[1]:
            if opening is None:
                # The opening tag was in the prompt.
                kept.clear()
            place, opening = tag.end(), None
        elif opening is None:
            kept.append(text[place : tag.start()])
            opening = tag
    if opening is None:
        return "".join([*kept, text[place:]])
    # A format that is merely spoken of in there must not pass for the answer.
    whole = _WHOLE_ANSWER_AT_THE_END.search(text, opening.end())
    return "".join([*kept, whole[0] if whole else ""])


def _decomp(text: str, tag: str) -> Turn:
    bodies, closed = _tagged(text, tag)
    found = [one for body in bodies for one in find_objects(body)]
    stated = [one for one in found if one.pairs.values_of("decision")]
    decision = _agreed(decision_of(value) for one in stated for value in one.pairs.values_of("decision"))
    truncated = not closed or any(not one.complete for one in found)
    return _turn(decision, stated[-1], truncated) if stated else Turn(decision, truncated=truncated)


def _tagged(text: str, tag: str) -> tuple[list[str], bool]:
    """What stands between the tags, else the whole text; and whether the last opened tag is closed."""
    openings = list(re.finditer(rf"<\s*{tag}\s*>", text, re.IGNORECASE))
    if not openings:
        return [text], True
    bodies = []
    closed = True
    for number, opening in enumerate(openings):
        end = openings[number + 1].start() if number + 1 < len(openings) else len(text)
        body, closing, _ = _partition(text[opening.end() : end], rf"<\s*/\s*{tag}\s*>")
        closed = bool(closing)
        bodies.append(body)
    return bodies, closed


def _partition(text: str, pattern: str) -> tuple[str, str, str]:
    hit = re.search(pattern, text, re.IGNORECASE)
    return (text[: hit.start()], hit[0], text[hit.end() :]) if hit else (text, "", "")


def _turn(decision: str | None, one: FoundObject, truncated: bool) -> Turn:
    states = [value for value in one.pairs.values_of("goal_state") if isinstance(value, Pairs)]
    state = states[-1] if states else one.pairs
    utterances = [value for value in one.pairs.values_of("utterance") if isinstance(value, str)]
    return Turn(
        decision,
        str(utterances[-1]).strip() if utterances else "",
        tuple(fact for value in state.values_of("known") for fact in facts(value)),
        tuple(fact for value in state.values_of("missing") for fact in facts(value)),
        truncated,
    )


def facts(value: Any) -> list[str]:
    """The facts of a JSON value as texts: an object gives "key: value", a list its elements, a text itself."""
    if isinstance(value, Pairs):
        return [f"{key}: {_plain(inner)}" for key, inner in value]
    if isinstance(value, list):
        return [fact for inner in value for fact in (facts(inner) if isinstance(inner, Pairs) else [_plain(inner)])]
    text = _plain(value).strip()
    return [text] if text else []


def _plain(value: Any, depth: int = 0) -> str:
    if isinstance(value, str):
        return str(value)
    if value is None or depth > _DEEPEST:
        return ""
    if isinstance(value, Pairs):
        return "; ".join(f"{key}: {_plain(inner, depth + 1)}" for key, inner in value)
    if isinstance(value, list):
        return ", ".join(_plain(inner, depth + 1) for inner in value)
    return json.dumps(value)


def _agreed(found: Iterable[str | None]) -> str | None:
    """The decision on which all places agree; None if there is none, or one of them holds no single decision."""
    decisions: Sequence[str | None] = list(found)
    return decisions[0] if decisions and len(set(decisions)) == 1 else None
