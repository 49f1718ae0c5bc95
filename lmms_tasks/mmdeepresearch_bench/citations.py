"""Citation marks and reference lists: which source a report means by [1], 【2】, [^3] or [1-3]."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# `[1]`, `[1, 2]`, `[1-3]`, `[^1]`, `【1】`, `［1］`, and `【1†source】` as search tools of some models write it.
MARK = re.compile(r"[\[【［]\s*(\^?\d{1,4}(?:\s*[,，、;；–—-]\s*\^?\d{1,4})*)\s*(?:†[^\]】］\n]{0,80})?[\]】］](?!\()")
URL = re.compile(r"(?:https?|file)://[^\s<>\"'，。；、）】」』]+", re.IGNORECASE)
_RANGE = re.compile(r"\^?(\d+)\s*[–—-]\s*\^?(\d+)")
_WIDEST_RANGE = 50
# Of lines that could head the list, how many are looked at from the end: more only where none has an entry below.
_MOST_HEADINGS = 20
# A line that can head the list: nothing but such a word, as a heading, in bold, or with a colon.
_LIST_NAMES = frozenset(
    [
        "reference",
        "references",
        "source",
        "sources",
        "bibliography",
        "citation",
        "citations",
        "参考文献",
        "参考资料",
        "参考来源",
        "引用",
        "引用来源",
        "來源",
        "来源",
        "資料來源",
        "资料来源",
        "références",
        "sources",
        "quellen",
        "quellenverzeichnis",
        "literatur",
        "literaturverzeichnis",
        "lähteet",
        "viitteet",
    ]
) | {"reference list", "works cited", "sources citées", "list of references", "references and sources"}
_ORNAMENT = re.compile(r"^(?:#{1,6}\s*)?(?:[*_]{1,3})?(?:\d{1,2}[.)]\s*)?")
_NEXT_HEADING = re.compile(r"^#{1,6}[ \t]+\S", re.MULTILINE)
# `[1] …`, `- [1] …`, `[1]: …`, `[^1]: …`, `【1】…`, and in a list under its heading `1. …`, `1) …`, `1: …`.
_LABELLED = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?[\[【［]\^?(\d{1,4})[\]】］](?!\()[ \t]*[:：]?[ \t]*(.*)$")
_NUMBERED = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(\d{1,4})[.):：、][ \t]*(.*)$")
_MARKDOWN_LINK = re.compile(
    r"\[([^\]\n]{0,500})\]\(\s?<?((?:https?|file)://[^\s>]{1,4000}?)>?(?:\s\"[^\"\n]{0,500}\")?\s?\)(?=\W|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reference:
    """One entry of the list: its number, its address, and what the line says beside it (title, quotation)."""

    label: int
    url: str
    snippet: str = ""


def labels(mark: str) -> list[int]:
    """The numbers inside a mark, ranges opened, each once.

    >>> labels("1, 3-5")
    [1, 3, 4, 5]
    """
    found: list[int] = []
    for part in re.split(r"[,，、;；]", mark):
        if hit := _RANGE.search(part):
            low, high = int(hit[1]), int(hit[2])
            found.extend(range(low, high + 1) if 0 <= high - low <= _WIDEST_RANGE else (low, high))
        else:
            found.append(int(part.strip().lstrip("^")))
    return list(dict.fromkeys(found))


def split_references(report: str) -> tuple[str, dict[int, Reference]]:
    """The report without its reference list, and the list by number; of a number that stands twice, the first.

    The list begins at the last line that is nothing but its heading and ends at the next heading. Elsewhere a line
    `[n] …` with an address is an entry too, as long as the address ends it.
    """
    found: dict[int, Reference] = {}
    for start, end in reversed(_list_headings(report)[-_MOST_HEADINGS:]):
        rest = report[end:]
        after = _NEXT_HEADING.search(rest)
        block, tail = (rest[: after.start()], rest[after.start() :]) if after else (rest, "")
        entries, prose = _entries(block)
        # A heading without a single entry below heads something else ("Sources" as a topic).
        if entries:
            found = {entry.label: entry for entry in reversed(entries)}
            report = f"{report[:start]}\n\n{prose}\n\n{tail}"
            break
    lines = []
    for line in report.splitlines():
        hit = _LABELLED.match(line)
        entry = _entry(int(hit[1]), hit[2]) if hit and _ends_with_url(hit[2]) else None
        if entry is None:
            lines.append(line)
        else:
            found.setdefault(entry.label, entry)
    return "\n".join(lines), dict(sorted(found.items()))


def _list_headings(report: str) -> list[tuple[int, int]]:
    """Where the lines begin and end that can head a reference list."""
    found, start = [], 0
    for line in report.splitlines(keepends=True):
        words = line.strip()
        if len(words) <= 60 and _ORNAMENT.sub("", words).strip("*_#:： \t").casefold() in _LIST_NAMES:
            found.append((start, start + len(line)))
        start += len(line)
    return found


def clean_url(url: str) -> str:
    """The address without the punctuation of the sentence around it; brackets that it opened itself stay closed.

    >>> clean_url("https://en.wikipedia.org/wiki/Sun_(star)).")
    'https://en.wikipedia.org/wiki/Sun_(star)'
    """
    unopened = {close: url.count(close) - url.count(opening) for opening, close in ("()", "[]", "{}")}
    end = len(url)
    while end and (url[end - 1] in ".,;:!?*_'\"`，。；：！？" or unopened.get(url[end - 1], 0) > 0):
        end -= 1
        if url[end] in unopened:
            unopened[url[end]] -= 1
    return url[:end]


def without_addresses(text: str) -> str:
    """The text without links and addresses: a link leaves its own words."""
    text = _MARKDOWN_LINK.sub(lambda hit: hit[1], text)
    return URL.sub("", text)


def _entries(block: str) -> tuple[list[Reference], str]:
    """The entries of a list, and the lines around it that belong to none."""
    groups: list[tuple[int, list[str]]] = []
    prose: list[str] = []
    closed = False  # an entry whose address has come takes indented or wrapped text no more
    for line in block.splitlines():
        hit = _LABELLED.match(line) or _NUMBERED.match(line)
        if hit:
            groups.append((int(hit[1]), [hit[2]]))
            closed = bool(URL.search(hit[2]))
        elif groups and line.strip() and not closed:
            groups[-1][1].append(line.strip())
            closed = bool(URL.search(line.strip()))
        elif line.strip() and not URL.search(line):
            prose.append(line)
    entries = [_entry(label, " ".join(lines)) for label, lines in groups]
    return [entry for entry in entries if entry is not None], "\n".join(prose)


def _entry(label: int, text: str) -> Reference | None:
    link = _MARKDOWN_LINK.search(text)
    plain = URL.search(text)
    if link:
        url = link[2]
    elif plain:
        url = plain[0]
    else:
        return None
    snippet = " ".join(without_addresses(text).split()).strip(" <>()[]-–—:：")
    return Reference(label, clean_url(url), snippet)


def _ends_with_url(text: str) -> bool:
    hits = list(URL.finditer(text))
    return bool(hits) and not text[hits[-1].end() :].strip(" \t.>)")


def cited_labels(text: str) -> Iterator[int]:
    """The numbers that a text cites, each once, in order."""
    yield from dict.fromkeys(label for hit in MARK.finditer(text) for label in labels(hit[1]))
