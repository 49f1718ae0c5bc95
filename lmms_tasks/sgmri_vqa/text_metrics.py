"""BLEU, ROUGE-L and the coordinate stripper of AR-Score: texts in, numbers out, no model.

Source: `src/sgmriqa/metrics/ar_score.py` and `run_evaluation.py` (lines 41-64) of lamawmouk/SGMRI-VQA at a37aa3dd.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

# In the order in which the released code applies them.
_TAGGED_BOX = re.compile(r"<bbx>\[[\d,\s]+\]</bbx>")
_BARE_BOX = re.compile(r"\[\d+,\s*\d+,\s*\d+,\s*\d+\]")
# The looks behind change no match: they keep a long run of blanks from being searched again from each of them.
_ON_FRAMES = re.compile(r"(?<!\s)\s+on\s+Frames?\s+[\d\-–,\s]+(?::\s*)?")
_FRAME_LABEL = re.compile(r"Frame\s+\d+:\s*")
_SEEN_ON_FRAMES = re.compile(r"(?:observed|appears|seen)\s+on\s+Frames?\s+[\d\-–,\s]+(?:and\s+\d+)?")
_CLEANING: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<!\s)\s*,\s*(?:and\s+)?\."), "."),
    (re.compile(r",(?:\s*,)+"), ","),
    (re.compile(r",\s*\."), "."),
    (re.compile(r"\s{2,}"), " "),
    (re.compile(r"\s+\."), "."),
)


def strip_coordinates_and_frames(text: str) -> str:
    """A localization answer without its boxes and frame references, so that its anatomy alone is compared.

    Only `<bbx>` tags without blanks around their list and bare lists of four whole numbers go, and "Frame" with a capital letter; decimals, negative
    numbers, other forms of boxes and "frame" stay, as in the released code.
    """
    text = _BARE_BOX.sub("", _TAGGED_BOX.sub("", text))
    text = _SEEN_ON_FRAMES.sub("", _FRAME_LABEL.sub("", _ON_FRAMES.sub(" ", text)))
    for pattern, replacement in _CLEANING:
        text = pattern.sub(replacement, text)
    return text.strip().rstrip(", .")


def bleu(candidate: str, reference: str) -> float:
    """Smoothed BLEU of up to four-grams over lower-cased words split at white space, in [0, 1] (nltk's method 1)."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    said, wanted = candidate.lower().split(), reference.lower().split()
    return float(sentence_bleu([wanted], said, smoothing_function=SmoothingFunction().method1)) if said else 0.0


def rouge_l(candidate: str, reference: str) -> float:
    """F-measure of the longest common subsequence of stemmed words, in [0, 1].

    The words and their stems are those of the package rouge-score, which knows ASCII letters and digits only: two equal
    Chinese texts have 0. Its own search for the subsequence takes 3 s for two texts of 4,000 words; this one a blink.
    """
    said, wanted = _stemmed_words(candidate), _stemmed_words(reference)
    common = longest_common_subsequence(said, wanted)
    # The package's own order of operations, so that not even the last digit differs.
    precision, recall = (common / len(said), common / len(wanted)) if common else (0.0, 0.0)
    return 2 * precision * recall / (precision + recall) if common else 0.0


def longest_common_subsequence(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Length of the longest common subsequence, by rows of bits held in one integer (Hyyrö 2004)."""
    positions: dict[Any, int] = {}
    for place, item in enumerate(one):
        positions[item] = positions.get(item, 0) | (1 << place)
    everything = (1 << len(one)) - 1
    row = everything
    for item in other:
        matches = row & positions.get(item, 0)
        row = ((row + matches) | (row - matches)) & everything
    return len(one) - row.bit_count()


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer

    return DefaultTokenizer(use_stemmer=True)


def _stemmed_words(text: str) -> list[str]:
    return _tokenizer().tokenize(text)
