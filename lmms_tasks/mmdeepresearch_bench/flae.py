"""FLAE: how well a report is written, from its text and from a judge's view of it.

Formulas are those of the official code (`detail/scoring_general.py`, `scoring_text.py`, `scoring_math.py` of
AIoT-MLSys-Lab/MMDeepResearch-Bench, ffaf59b), because the paper leaves the coefficients of its own (section 4.1, A.3)
unpublished. All channels are in [0, 1], higher is better.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

ReportType = Literal["research", "daily_easy", "daily_medium", "daily_hard"]

CHANNELS = ("readability", "insight", "coherence", "structure")
# Share of the formula against the judge's own score, by kind of report.
ALPHA: Mapping[str, float] = {"research": 0.60, "daily_hard": 0.40, "daily_medium": 0.35, "daily_easy": 0.30}
SECTIONS = (
    "executive_summary",
    "background",
    "methodology",
    "analysis_and_evidence",
    "visual_integration",
    "conclusion",
)
# Words that name a section, wherever they stand in the report: the official flag is generous in the same way.
SECTION_NAMES: Mapping[str, tuple[str, ...]] = {
    "executive_summary": ("executive summary", "tl;dr", "key findings", "summary", "摘要", "概要", "总结"),
    "background": ("background", "introduction", "context", "背景", "引言"),
    "methodology": ("methodology", "methods", "approach", "方法"),
    "analysis_and_evidence": ("analysis & evidence", "analysis and evidence", "analysis", "evidence", "分析", "证据"),
    "visual_integration": ("visual integration", "figure", "visual evidence", "图表", "图像"),
    "conclusion": ("conclusion", "conclusions", "结论", "结语"),
}
_FLOOR = 1e-9
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[A-Za-zÀ-ÖØ-öø-ÿ0-9]+(?:['’][A-Za-zÀ-ÖØ-öø-ÿ0-9]+)*|[{_IDEOGRAPH}]")
_HEADING = re.compile(r"^#{1,6}\s+\S", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"(?<=[。！？!?.])\s+|\n\s*\n")
_LONG_CHARACTERS, _LONG_WORDS = 35, 25


@dataclass(frozen=True)
class TextFeatures:
    """What is counted in a report's text: `ttr` unique words / words, `headings_share` headings / paragraphs (at least
    one), `long_share` sentences of more than 35 characters or 25 words / sentences."""

    words: int
    unique_words: int
    headings: int
    paragraphs: int
    sentences: int
    ttr: float
    headings_share: float
    long_share: float


@dataclass(frozen=True)
class JudgedFeatures:
    """What a judge says of a report, each in [0, 1].

    `error_rate` (language errors) and `conflict` (contradictions) are better low, all others better high. `uniformity`,
    `order`, `transition` are the parts of coherence; `sections` are those that the judge found; the last four are the
    judge's own scores of the channels.
    """

    error_rate: float
    analysis: float
    connection: float
    synthesis: float
    uniformity: float
    order: float
    transition: float
    conflict: float
    section_quality: float
    sections: frozenset[str]
    readability: float
    insight: float
    coherence: float
    structure: float


@dataclass(frozen=True)
class Flae:
    """The four channels, their official weights, and the official module score GEN in [0, 100]."""

    readability: float
    insight: float
    coherence: float
    structure: float
    gen: float
    weights: tuple[float, ...] = ()


def text_features(report: str) -> TextFeatures:
    """Count words (a Latin or digit run with its apostrophes, or one ideograph), headings, paragraphs and sentences."""
    words = [word.lower() for word in _WORD.findall(report)]
    paragraphs = [block for block in _BLANK_LINES.split(report) if block.strip()]
    sentences = [sentence for sentence in _SENTENCE_END.split(report) if sentence and sentence.strip()]
    headings = len(_HEADING.findall(report))
    long = sum(
        len(sentence.strip()) > _LONG_CHARACTERS or len(_WORD.findall(sentence)) > _LONG_WORDS for sentence in sentences
    )
    return TextFeatures(
        words=len(words),
        unique_words=len(set(words)),
        headings=headings,
        paragraphs=len(paragraphs),
        sentences=len(sentences),
        ttr=len(set(words)) / len(words) if words else 0.0,
        headings_share=headings / max(1, len(paragraphs)),
        long_share=long / len(sentences) if sentences else 0.0,
    )


def readability_formula(features: TextFeatures, error_rate: float) -> float:
    """σ(2·TTR + 1.2·H − 2·L − 3·E)."""
    return _logistic(2.0 * features.ttr + 1.2 * features.headings_share - 2.0 * features.long_share - 3.0 * error_rate)


def insight_formula(analysis: float, connection: float, synthesis: float) -> float:
    """Geometric mean of the three, each at least 1e-9."""
    return math.prod(max(_FLOOR, value) for value in (analysis, connection, synthesis)) ** (1 / 3)


def coherence_formula(uniformity: float, order: float, transition: float, conflict: float) -> float:
    """Harmonic mean of the three parts, times max(0, 1 − 2·conflict)."""
    return harmonic_mean((uniformity, order, transition)) * max(0.0, 1.0 - 2.0 * conflict)


def structure_formula(
    sections: frozenset[str], section_quality: float, figures: int, words: int, report_type: str
) -> float:
    """0 without a required section, else min(1, figures / expected figures) · section quality.

    One figure is expected for 350 words of research, for 700 words otherwise; at least one.
    """
    if missing_sections(sections, report_type):
        return 0.0
    expected = max(1.0, words / (350 if report_type == "research" else 700))
    return min(1.0, figures / expected) * section_quality


def required_sections(report_type: str) -> tuple[str, ...]:
    """All six for research, else summary, analysis and conclusion."""
    return SECTIONS if report_type == "research" else ("executive_summary", "analysis_and_evidence", "conclusion")


def missing_sections(sections: frozenset[str], report_type: str) -> tuple[str, ...]:
    """The required sections that are not among `sections`."""
    return tuple(name for name in required_sections(report_type) if name not in sections)


def named_sections(report: str) -> frozenset[str]:
    """The sections whose name stands anywhere in the report."""
    folded = report.casefold()
    return frozenset(name for name, words in SECTION_NAMES.items() if any(word in folded for word in words))


def fused(formula: float, judged: float, report_type: str) -> float:
    """α·formula + (1 − α)·judge, α by the kind of report."""
    alpha = ALPHA[report_type]
    return alpha * formula + (1.0 - alpha) * judged


def document_terms(
    structure: float, missing: Sequence[str], error_rate: float, features: TextFeatures
) -> tuple[float, float, float, float]:
    """What the document itself adds to the weights of readability, insight, coherence and structure."""
    readability = 0.8 if error_rate > 0.10 or features.long_share > 0.35 else 0.0
    both = 0.4 if features.headings_share > 0.12 and structure > 0.7 else 0.0
    return readability, both, both, (1.0 if structure < 0.5 or missing else 0.0)


def weights(terms: Sequence[float], controller: Sequence[float] = (0.0, 0.0, 0.0, 0.0)) -> list[float]:
    """softmax(log 0.25 + controller + terms) over the four channels.

    A judge's `controller` is held within [−1, 1]: unbounded, one number of it would decide the whole score.
    """
    return softmax([math.log(0.25) + clamp(v, -1.0, 1.0) + g for v, g in zip(controller, terms, strict=True)])


def flae(
    report: str,
    judged: JudgedFeatures,
    figures: int,
    report_type: str,
    controller: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
) -> Flae:
    """Score one report.

    Args:
        figures: the number of distinct images that the report embeds by an http(s) address.
        controller: the judge's weights for the four channels.
    """
    features = text_features(report)
    sections = judged.sections | named_sections(report)
    missing = missing_sections(sections, report_type)
    formulas = (
        readability_formula(features, judged.error_rate),
        insight_formula(judged.analysis, judged.connection, judged.synthesis),
        coherence_formula(judged.uniformity, judged.order, judged.transition, judged.conflict),
        structure_formula(sections, judged.section_quality, figures, features.words, report_type),
    )
    own = (judged.readability, judged.insight, judged.coherence, judged.structure)
    channels = [fused(formula, score, report_type) for formula, score in zip(formulas, own, strict=True)]
    terms = document_terms(channels[3], missing, judged.error_rate, features)
    chosen = tuple(weights(terms, controller))
    return Flae(*channels, gen=general_score(channels, chosen), weights=chosen)


def general_score(channels: Sequence[float], channel_weights: Sequence[float]) -> float:
    """GEN = 100 · Σ w·d over readability, insight, coherence, structure."""
    return 100.0 * math.fsum(weight * channel for weight, channel in zip(channel_weights, channels, strict=True))


def softmax(values: Sequence[float]) -> list[float]:
    """exp(x) / Σ exp(x).

    >>> softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    top = max(values)
    exponentials = [math.exp(value - top) for value in values]
    return [value / math.fsum(exponentials) for value in exponentials]


def harmonic_mean(values: Sequence[float]) -> float:
    """Harmonic mean, each value at least 1e-9."""
    return len(values) / math.fsum(1.0 / max(_FLOOR, value) for value in values)


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """`value` held within [low, high]."""
    return min(high, max(low, value))


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))
