"""Claims: which sentence a report rests on which source, and what kind of claim it is.

Weights and kinds are those of the official code (`detail/scoring_golden.py` of AIoT-MLSys-Lab/MMDeepResearch-Bench,
ffaf59b). Which sentences count differs: `claims_of` reads a parsed report, `official_pairs` reads its raw text as the
official code does, reference list and image links included.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from lmms_tasks.mmdeepresearch_bench.citations import Reference
from lmms_tasks.mmdeepresearch_bench.document import Document

PAIRS = "MMDR_PAIRS"
MOST_CLAIMS = 40
# Reports cite the task's own images as [901], [902], …
FIRST_IMAGE_LABEL = 901
_CAUSE_OR_COMPARISON = re.compile(
    r"\b(?:because|therefore|thus|hence|due to|caus(?:e|es|ed|ing)|lead(?:s|ing)? to|led to|result(?:s|ed|ing)? in|"
    r"increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|compared|than|versus|higher|lower|whereas|driven by)\b",
    re.IGNORECASE,
)
_CAUSE_OR_COMPARISON_ZH = re.compile("因为|因此|所以|导致|由于|从而|相比|高于|低于|增加|增长|减少|下降|上升")
# Whole words: "graph" in "paragraph" and "table" in "suitable" speak of no figure.
_OF_A_FIGURE = re.compile(
    r"\b(?:figures?|figs?\.|charts?|graphs?|plots?|diagrams?|tables?|screenshots?|images?|photos?|photographs?|"
    r"as (?:shown|seen|depicted|illustrated) (?:in|above|below))(?!\w)"
    r"|(?:如|见|由|从)?(?:下|上)?[图圖表]\s*[0-9０-９一二三四五六七八九十]+|(?:如|见)(?:下|上)?[图圖]|图表|图片|截图|照片",
    re.IGNORECASE,
)
_IMAGE_NAME = re.compile(r"\.(?:png|jpe?g|gif|webp|bmp|svg|tiff?)$", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Claim:
    """One sentence with one source.

    Attributes:
        text: the sentence without marks and addresses.
        url: the cited address; "" where the source is an image of the task.
        image: position of the task's own image that is cited, None otherwise.
        snippet: what the report's reference line says of the source.
    """

    text: str
    url: str
    image: int | None = None
    snippet: str = ""

    @property
    def weight(self) -> float:
        """1.0, and more for length, digits and words of cause or comparison, English and Chinese."""
        return (
            1.0
            + 0.3 * (len(self.text) >= 120)
            + 0.2 * self._has_digit
            + 0.2 * bool(_CAUSE_OR_COMPARISON.search(self.text))
            + 0.2 * bool(_CAUSE_OR_COMPARISON_ZH.search(self.text))
        )

    @property
    def key(self) -> bool:
        """Whether the sentence states something that needs evidence."""
        return (
            len(self.text) >= 50
            or (self._has_digit and len(self.text) >= 25)
            or bool(_CAUSE_OR_COMPARISON.search(self.text) or _CAUSE_OR_COMPARISON_ZH.search(self.text))
        )

    @property
    def on_image(self) -> bool:
        """Whether the sentence speaks of a figure, or rests on one."""
        return self.image is not None or looks_like_image(self.url) or bool(_OF_A_FIGURE.search(self.text))

    @property
    def _has_digit(self) -> bool:
        return any(character.isdigit() for character in self.text)


def claims_of(document: Document, n_images: int = 0) -> list[Claim]:
    """The claims of a report in its order, at most 40, each sentence once with each source.

    Args:
        n_images: the number of the task's own images, which [901], [902], … mean whatever the reference list says.
    """
    found: dict[tuple[str, str, int | None], Claim] = {}
    for sentence in document.sentences:
        if not _WORDS.search(sentence.text):
            continue  # nothing but marks or addresses
        for claim in _sources(sentence.text, sentence.labels, sentence.links, document, n_images):
            found.setdefault((claim.text, claim.url, claim.image), claim)
            if len(found) == MOST_CLAIMS:
                return list(found.values())
    return list(found.values())


def _sources(
    text: str, cited: Iterable[int], links: Iterable[str], document: Document, n_images: int
) -> Iterator[Claim]:
    for label in cited:
        position = label - FIRST_IMAGE_LABEL
        reference = document.references.get(label)
        if 0 <= position < n_images:
            yield Claim(text, "", image=position)
        elif reference is not None:
            yield Claim(text, reference.url, snippet=reference.snippet)
    for url in links:
        yield Claim(text, url)


def looks_like_image(url: str) -> bool:
    """Whether the address names an image file."""
    try:
        return bool(_IMAGE_NAME.search(urlsplit(url).path))
    except ValueError:
        return False


_OFFICIAL_SENTENCE = re.compile(r"(?<=[。！？!?.])\s+|\n\s*\n")
_OFFICIAL_MARK = re.compile(r"\[(\d{1,4})\]")
# What can end a link: its text begins at the first bracket that opens after the last one that closes.
_OFFICIAL_LINK_END = re.compile(r"\](?:\((https?://[^)\s]{1,4000})\))?")
_OFFICIAL_URL = re.compile(r"(?:https?|file)://[^\s)\]>\"']+")
_OFFICIAL_REFERENCE = re.compile(
    r"^[^\S\n]*(?:-\s*)?(?:\[(\d{1,4})\]|(\d{1,4})[.:])\s*((?:https?|file)://\S+)\s*$", re.MULTILINE
)
_OFFICIAL_HEADING = re.compile("references?|参考文献|参考资料|引用|來源|来源", re.IGNORECASE)
_NO_CLAIM = "The report gives this source."


def pairs_are_official() -> bool:
    """Whether claims are extracted as the official code does, as `MMDR_PAIRS` says; SystemExit for another value."""
    chosen = os.environ.get(PAIRS, "").strip()
    if chosen not in ("", "official"):
        raise SystemExit(
            f"{PAIRS} is {chosen!r}: set it to official (claims as the official code finds them), or unset it."
        )
    return chosen == "official"


def official_pairs(report: str) -> list[Claim]:
    """Claim and source as the official extractor pairs them, for parity: at most 40.

    Sentences with marks first, then links (images too), then each address that stands in a line; a pair is dropped
    where the first 180 characters of the claim and the address have come before.
    """
    heading = next(reversed(list(_OFFICIAL_HEADING.finditer(report))), None)
    block = report[heading.start() :] if heading else report
    references = {
        int(hit[1] or hit[2]): Reference(int(hit[1] or hit[2]), hit[3]) for hit in _OFFICIAL_REFERENCE.finditer(block)
    }
    sentences = [sentence.strip() for sentence in _OFFICIAL_SENTENCE.split(report) if sentence and sentence.strip()]
    unique: dict[tuple[str, str], Claim] = {}
    for pair in _official_candidates(report, sentences, references):
        unique.setdefault((pair.text[:180], pair.url), pair)
        if len(unique) == MOST_CLAIMS:
            break
    return list(unique.values())


def _official_candidates(report: str, sentences: Iterable[str], references: Mapping[int, Reference]) -> Iterator[Claim]:
    for sentence in sentences:
        words = _OFFICIAL_MARK.sub("", sentence).strip()
        cited = dict.fromkeys(int(hit[1]) for hit in _OFFICIAL_MARK.finditer(sentence))
        yield from (Claim(words, references[label].url) for label in cited if label in references)
    for sentence in sentences:
        for link, words, url in dict.fromkeys(_official_links(sentence)):
            yield Claim(sentence.replace(link, "").strip() or words, url)
    for line in report.splitlines():
        if urls := dict.fromkeys(hit[0] for hit in _OFFICIAL_URL.finditer(line)):
            words = _OFFICIAL_URL.sub("", line).strip() or _NO_CLAIM
            yield from (Claim(words, url) for url in urls)


def _official_links(text: str) -> Iterator[tuple[str, str, str]]:
    """Each `[words](url)` whole, its words and its address."""
    start = 0
    while end := _OFFICIAL_LINK_END.search(text, start):
        opened = text.find("[", start, end.start())
        start = end.start() + 1
        if end[1] and opened >= 0:
            yield text[opened : end.end()], text[opened + 1 : end.start()], end[1]
            start = end.end()
