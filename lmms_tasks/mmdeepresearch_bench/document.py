"""A report as its parts: headings, sentences with what they cite, embedded figures, references.

Markdown is read by markdown-it, so that links, images, tables and code are what they are in a browser. The reference
list is taken off first (`citations.py`): read as prose, each of its lines would become a claim.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from lmms_tasks.mmdeepresearch_bench.citations import (
    MARK,
    URL,
    Reference,
    cited_labels,
    clean_url,
    labels,
    split_references,
)

# Private-use characters stand for a link's target (by its number) and for the place of an image while a block is read.
_LINK_OPEN, _LINK_CLOSE, _BREAK = "\ue000", "\ue001", "\ue002"
_PRIVATE = str.maketrans("", "", "\ue000\ue001\ue002")
_BRACKETS = str.maketrans("[]", "()")
_LINK = re.compile(f"{_LINK_OPEN}(\\d+){_LINK_CLOSE}")
_CITES = rf"(?:[ \t]*(?:{MARK.pattern}|{_LINK.pattern}))*"
_END = re.compile(
    rf"(?:[。！？]+[”’」』）)\"']*{_CITES}|(?<![.!?])[.!?]+[”’)\"']*(?=\s|{_LINK_OPEN}|[\[【［]\s*\^?\d){_CITES}(?=\s|$))"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|al|fig|figs|no|nos|vol|pp|p|eq|sec|ch|dr|mr|mrs|ms|prof|st|approx|ca|inc|ltd|co|"
    r"jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|z\.B|d\.h|bzw|ca|Nr|[A-Z]|(?:[A-Z]\.)+[A-Z])\.$",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"^\s*(?:[*_]{0,3})(?:figure|fig\.?|abbildung|abb\.?|kuva|chart|image|图|圖)\s*\d*", re.IGNORECASE
)
_MARKDOWN = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Sentence:
    """One sentence of the body, without its marks and addresses.

    Attributes:
        text: what it says.
        labels: the numbers that it cites, in order.
        links: the addresses that it links or writes out, in order.
    """

    text: str
    labels: tuple[int, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """An embedded image: its address, its alternative text, and the sentences beside it that describe it."""

    url: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Document:
    """A report, read."""

    headings: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    figures: tuple[Figure, ...]
    references: Mapping[int, Reference] = field(default_factory=dict)

    def unresolved(self, known: Collection[int] = ()) -> tuple[int, ...]:
        """Numbers that are cited, are not among `known` and stand in no reference, each once."""
        cited = dict.fromkeys(label for sentence in self.sentences for label in sentence.labels)
        return tuple(label for label in cited if label not in self.references and label not in known)


def read_document(report: str) -> Document:
    """Read a report in Markdown."""
    body, references = split_references(report.replace("\r\n", "\n").translate(_PRIVATE))
    headings: list[str] = []
    sentences: list[Sentence] = []
    figures: list[Figure] = []
    for kind, inlines in _blocks(_MARKDOWN.parse(body)):
        block = _Block()
        for position, inline in enumerate(inlines):
            block.read(inline.children or (), " | " if position else "")
        text = block.text
        if kind == "heading":
            headings.append(_plain(text))
            continue
        found = [_sentence(text, block.targets) for text in split_sentences(text)]
        before = sentences[-1].text if sentences else ""
        sentences.extend(sentence for sentence in found if sentence.text or sentence.labels or sentence.links)
        beside = " ".join(sentence.text for sentence in found if sentence.text)
        for url, alt in block.images:
            # An image in a paragraph of its own is described by the caption line before it.
            caption = beside or (before if _CAPTION.match(before) else "")
            figures.append(Figure(url, alt, caption))
    return Document(tuple(headings), tuple(sentences), tuple(figures), references)


def split_sentences(text: str) -> list[str]:
    """Sentences of a block; marks behind the full stop stay with the sentence that they close.

    Latin sentences end at `.!?` before white space, unless an abbreviation or initial stands there; CJK sentences end at
    `。！？`.
    """
    parts: list[str] = []
    for segment in text.split(_BREAK):
        start = 0
        for end in _END.finditer(segment):
            stop = segment[max(start, end.start() - 12) : end.start() + 1]
            if _ABBREVIATION.search(stop) and not MARK.search(end.group()):
                continue
            parts.append(segment[start : end.end()])
            start = end.end()
        parts.append(segment[start:])
    return [part.strip() for part in parts if part.strip()]


class _Block:
    """The text of one block with the targets of its links, and its images."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.targets: list[str] = []
        self.images: list[tuple[str, str]] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def read(self, tokens: Sequence[Token], before: str = "") -> None:
        self._pieces.append(before)
        opened: list[tuple[str, int]] = []
        for token in tokens:
            if token.type in ("softbreak", "hardbreak"):
                self._pieces.append("\n")
            elif token.type == "link_open":
                opened.append((str(token.attrGet("href") or ""), len(self._pieces)))
            elif token.type == "link_close" and opened:
                self._close_link(*opened.pop())
            elif token.type == "image":
                self.images.append((str(token.attrGet("src") or ""), token.content))
                self._pieces.append(_BREAK)
            elif token.type == "text":
                self._pieces.append(token.content)
            elif token.type == "code_inline":
                # Brackets in code cite nothing.
                self._pieces.append(token.content.translate(_BRACKETS))

    def _close_link(self, url: str, start: int) -> None:
        words = "".join(self._pieces[start:])
        # `[1](url)` and `[[1]](url)` are marks with an address: their number is no word of the sentence.
        if re.fullmatch(r"[\[【]?\^?\d{1,4}[\]】]?", words.strip()) or words.strip() == url:
            del self._pieces[start:]
        self._pieces.append(f"{_LINK_OPEN}{len(self.targets)}{_LINK_CLOSE}")
        self.targets.append(url)


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[str, list[Token]]]:
    """The inline tokens of each heading, paragraph and table row; code is no prose and left out."""
    row: list[Token] | None = None
    kind = "paragraph"
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            yield "row", row
            row = None
        elif token.type in ("heading_open", "paragraph_open"):
            kind = token.type.removesuffix("_open")
        elif token.type == "inline":
            if row is not None:
                row.append(token)
            else:
                yield kind, [token]


def _sentence(text: str, targets: Sequence[str]) -> Sentence:
    links = [targets[int(hit[1])] for hit in _LINK.finditer(text)]
    written = [clean_url(hit[0]) for hit in URL.finditer(_LINK.sub(" ", text))]
    addresses = [url for url in dict.fromkeys([*links, *written]) if URL.match(url)]
    return Sentence(_plain(text), tuple(cited_labels(text)), tuple(addresses))


def _plain(text: str) -> str:
    """Words alone: no marks, no addresses, blanks and the space before a full stop tidied."""
    text = MARK.sub(lambda hit: " " if labels(hit[1]) else hit[0], _LINK.sub("", text))
    text = URL.sub("", text).replace(_BREAK, " ").replace("()", "")
    return re.sub(r"\s+([.,;:!?。，；：！？])", r"\1", " ".join(text.split()))
