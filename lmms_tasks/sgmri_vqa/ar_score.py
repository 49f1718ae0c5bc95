"""AR-Score: how well a description or a localization says what the reference says.

The recipe is the task card's; `combine` holds the released code's rule for missing parts
(`src/sgmriqa/metrics/ar_score.py` of lamawmouk/SGMRI-VQA at a37aa3dd, 75-87 and 140-169).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

JUDGE_WEIGHT = 0.4
MARKS = ("accuracy", "relevance", "helpfulness")


class ReasoningVerdict(BaseModel):
    """A judge's marks for one description, as the released code asks for them: three from 1 to 10."""

    model_config = ConfigDict(strict=True, frozen=True)

    accuracy: int = Field(
        ge=1,
        le=10,
        description="How far its medical statements agree with the reference. From 1 (contradicts it throughout) to 10 "
        "(agrees in everything). Higher is better.",
    )
    relevance: int = Field(
        ge=1,
        le=10,
        description="How closely it speaks about what the reference speaks about. From 1 (about something else) to 10 "
        "(exactly the same matter). Higher is better.",
    )
    helpfulness: int = Field(
        ge=1,
        le=10,
        description="How useful it is to a clinician who needs what the reference tells. From 1 (of no use) to 10 "
        "(tells all of it clearly). Higher is better.",
    )


def judge_mark(fields: Mapping[str, float]) -> float:
    """The mean of the three marks over 10, in [0, 1] (0.1 is the lowest that a judge can give)."""
    return sum(fields[name] for name in MARKS) / len(MARKS) / 10


def relative_mark(mark: float, own: float | None) -> float:
    """A mark divided by the mark that the reference gets against itself, 1 at the most; the mark alone where that one
    is missing or 0."""
    return min(mark / own, 1.0) if own else mark


def combine(judge: float | None, text_metrics: Sequence[float | None]) -> float:
    """The weighted sum of judge and text metrics, not clamped; None is absent, 0 is a value.

    With a judge: 0.4 for it, and 0.6 in equal parts for the text metrics that are there (the judge alone stays × 0.4).
    Without: equal parts. Nothing at all: 0.
    """
    present = [value for value in text_metrics if value is not None]
    mean = sum(present) / len(present) if present else 0.0
    return mean if judge is None else JUDGE_WEIGHT * judge + (1 - JUDGE_WEIGHT) * mean


def ar_score(judge: float | None, bertscore: float | None, bleu: float | None, rouge_l: float | None) -> float:
    """`combine` over the card's parts, clamped to [0, 1]: a rescaled BERTScore may be negative, the card's range is
    not."""
    return min(max(combine(judge, (bertscore, bleu, rouge_l)), 0.0), 1.0)
