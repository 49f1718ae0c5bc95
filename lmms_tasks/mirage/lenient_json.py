"""JSON objects as models write them: between prose, in a code fence, with bare quotes in a text, or cut off.

Strict JSON is read by the standard decoder. What that refuses is read by rules that only ever leave things out: a
damaged object may lose fields, but no field gets a value that does not stand behind its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


class Pairs(list):
    """The fields of one object in order, as (name, value); a name may occur twice."""

    def values_of(self, name: str) -> list[Any]:
        """All values under a name, whatever its case."""
        return [value for key, value in self if key.strip().casefold() == name]


class Unfinished(str):
    """A text whose closing quote is missing."""


@dataclass(frozen=True)
class FoundObject:
    """One object and whether it is whole; `complete` is False where it breaks off or cannot be read to its end."""

    pairs: Pairs
    complete: bool


_STRICT = json.JSONDecoder(object_pairs_hook=Pairs, strict=False)
_OPENING = re.compile(r"\{")
_LOOKS_LIKE_AN_OBJECT = re.compile(r"\{\s*(?:\"|[A-Za-z_]\w*\s*:|$)")
_KEY = re.compile(r"\"((?:[^\"\\\n]|\\.){0,200})\"\s*:|([A-Za-z_]\w{0,199})\s*:")
_QUOTE = re.compile(r"\\.|\"", re.DOTALL)
_BLANK = re.compile(r"[\s,]*")
_BARE = re.compile(r"[^,}\]\n]*")
# What follows a quote that really closes a text: the end, a closing bracket, or the next field with its value.
_AFTER_FIELD = re.compile(
    r"\s*(?:$|[}\]]|,\s*[}\]]|,\s*$"
    r"|,?\s*\"[^\"\n]{0,200}\"\s*:\s*(?:$|[\"{\[<\d-]|true|false|null|clarify|respond))",
    re.IGNORECASE,
)
_AFTER_ELEMENT = re.compile(r"\s*(?:$|[}\]]|,\s*[\"{\[}\]]|,\s*$)")
# Models nest three deep; an answer of nothing but brackets must not exhaust the stack.
_DEEPEST = 20
# Each damaged object is read up to the text's end: without a bound, an answer of nothing else would take minutes.
_MOST_DAMAGED = 20


def find_objects(text: str) -> Iterator[FoundObject]:
    """The outermost JSON objects in `text`, in order; never raises."""
    place = damaged = 0
    while (opening := _OPENING.search(text, place)) and damaged < _MOST_DAMAGED:
        start = opening.start()
        try:
            value, place = _STRICT.raw_decode(text, start)
            yield FoundObject(value, True)
            continue
        except (ValueError, RecursionError):
            pass
        place = start + 1
        if _LOOKS_LIKE_AN_OBJECT.match(text, start):
            damaged += 1
            reader = _Reader(text, start)
            yield FoundObject(reader.object(1), reader.complete)
            place = max(place, reader.place)


class _Reader:
    """Reads one damaged value from `place` on; what it cannot read ends it, with `complete` set to False."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.complete = True

    def object(self, depth: int) -> Pairs:
        pairs = Pairs()
        self.place += 1
        while self._next() not in ("", "}"):
            key = _KEY.match(self.text, self.place)
            if key is None:
                self._give_up()
                break
            self.place = key.end()
            pairs.append((key[1] if key[1] is not None else key[2], self._value(_AFTER_FIELD, depth)))
        self._close()
        return pairs

    def _array(self, depth: int) -> list[Any]:
        elements = []
        while self._next() not in ("", "]"):
            if self.text[self.place] == "}":
                self._give_up()
                break
            before = self.place
            elements.append(self._value(_AFTER_ELEMENT, depth))
            if self.place == before:
                self._give_up()
        self._close()
        return elements

    def _value(self, after: re.Pattern[str], depth: int) -> Any:
        first = self._next()
        if first in ("{", "[") and depth >= _DEEPEST:
            self._give_up()
            return None
        if first == "{":
            return self.object(depth + 1)
        if first == "[":
            self.place += 1
            return self._array(depth + 1)
        if first == '"':
            return self._string(after)
        if not first:
            return None
        bare = _BARE.match(self.text, self.place)
        self.place = bare.end()
        if self.place == len(self.text):
            self.complete = False
            return None
        return bare[0].strip()

    def _string(self, after: re.Pattern[str]) -> str:
        start = self.place + 1
        for quote in _QUOTE.finditer(self.text, start):
            if quote[0] == '"' and after.match(self.text, quote.end()):
                self.place = quote.end()
                return _decoded(self.text[start : quote.start()])
        # A text for people is worth keeping as far as it goes; a decision that breaks off is none.
        rest = self.text[start:]
        self._give_up()
        return Unfinished(_decoded(rest))

    def _next(self) -> str:
        self.place = _BLANK.match(self.text, self.place).end()
        return self.text[self.place : self.place + 1]

    def _close(self) -> None:
        if self.place < len(self.text):
            self.place += 1
        else:
            self.complete = False

    def _give_up(self) -> None:
        self.complete = False
        self.place = len(self.text)


def _decoded(body: str) -> str:
    quoted = _QUOTE.sub(lambda sign: '\\"' if sign[0] == '"' else sign[0], body)
    try:
        return json.loads(f'"{quoted}"', strict=False)
    except ValueError:
        return body
