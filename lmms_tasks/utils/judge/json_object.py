"""Finding the one JSON object in a judge's reply, or saying why there is none."""

from __future__ import annotations

import json
import re
from typing import Any

from lmms_tasks.utils.reasoning import strip_reasoning

_BRACKET = re.compile(r"[{\[]")
_SIGN = re.compile(r'\\.|["{}\[\]]', re.DOTALL)


class InvalidReply(ValueError):
    """A reply that holds no usable verdict; `reason` says why in a few words, without the reply's text."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


# Each of them is looked for up to the reply's end: without a bound, a reply of nothing else would take minutes.
_MOST_UNCLOSED = 50
_NO_ANSWER = {
    "empty": "an empty reply",
    "unclosed_reasoning": "the reasoning block never ends",
    "request_failed": "no reply of a judge",
}


def answer_of(reply: str) -> str:
    """The reply without its reasoning. Raises InvalidReply where nothing else is in it."""
    answer = strip_reasoning(reply)
    if answer.state != "answered":
        raise InvalidReply(_NO_ANSWER[answer.state])
    return answer.text


def only_object(reply: str) -> dict[str, Any]:
    """The one JSON object outside the reasoning of `reply`; prose and a code fence around it are allowed.

    Raises InvalidReply for none, for more than one, for an object inside a list, for an object inside braces that are
    no JSON, and for a field that is given twice with different values.
    """
    text = answer_of(reply)
    found: list[dict[str, Any]] = []
    place = unclosed = 0
    while hit := _BRACKET.search(text, place):
        start = hit.start()
        try:
            value, place = _DECODER.raw_decode(text, start)
        except InvalidReply:
            raise
        except RecursionError:
            raise InvalidReply("brackets are nested too deeply") from None
        except ValueError:
            place = _past_prose(text, start)
            unclosed += place == start + 1
            if unclosed > _MOST_UNCLOSED:
                raise InvalidReply("too many brackets that do not close") from None
            continue
        if isinstance(value, dict):
            found.append(value)
        elif _holds_object(value):
            raise InvalidReply("a list instead of one JSON object")
    if not found:
        raise InvalidReply("no JSON object")
    if len(found) > 1:
        raise InvalidReply(f"{len(found)} JSON objects instead of one")
    return found[0]


def _past_prose(text: str, start: int) -> int:
    """Where to look on after a bracket that opens no JSON.

    Whatever such a bracket encloses is skipped: an object inside of it is a part of something broken, and reading a
    part as the whole would turn a damaged verdict into a number. A brace that never closes is a damaged object; a
    square bracket that never closes is prose ("in [0, 4)"), unless an object follows it at once.
    """
    depth, quoted = 0, False
    for hit in _SIGN.finditer(text, start):
        sign = hit.group()
        if quoted:
            quoted = sign != '"'  # an escaped quote is two characters, so it is none
        elif sign[-1] == '"':
            quoted = True
        elif sign[-1] in "{[":
            depth += 1
        elif sign[-1] in "}]":
            depth -= 1
            if depth == 0:
                return hit.end()
    if text[start] == "{" or text[start + 1 :].lstrip().startswith("{"):
        raise InvalidReply("a JSON object that is not closed")
    return start + 1


def _holds_object(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(_holds_object(one) for one in value))


def _one_value_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        # Compared as JSON text: Python holds 1, 1.0 and True for equal.
        if name in values and json.dumps(values[name], sort_keys=True) != json.dumps(value, sort_keys=True):
            raise InvalidReply("a field is given twice with different values")
        values[name] = value
    return values


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_one_value_each, parse_constant=_no_number)
