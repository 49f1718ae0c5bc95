"""What a judge answers for MIRAGE-MMMT: one schema for Direct, one for Decomp.

The scales are those of the official judge (`evalaute_zs.py` of MMMT in MIRAGE-Benchmark/MIRAGE-Benchmark, 303c589);
the wording is ours. The decision is no field here: it is compared, not judged. The descriptions become part of the
judge's prompt.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

_RELEVANCE = (
    "How closely the utterance bears on what the user is after in this conversation, be it a question or advice; "
    "whether it is true does not count. From 0 (beside the subject, or nothing said) to 4 (exactly on it). "
    "Higher is better."
)


class DirectVerdict(BaseModel):
    """Score of one utterance."""

    model_config = ConfigDict(strict=True, frozen=True)

    goal_relevance: int = Field(ge=0, le=4, description=_RELEVANCE)


class DecompVerdict(BaseModel):
    """Scores of one utterance and of the facts that the model listed."""

    model_config = ConfigDict(strict=True, frozen=True)

    known_accuracy: int = Field(
        ge=0,
        le=4,
        description="How much of the reference list of known facts the model's `known` holds, by meaning. "
        "From 0 (none of it) to 4 (all of it, or there was nothing to hold). Higher is better.",
    )
    missing_coverage: int = Field(
        ge=0,
        le=4,
        description="How much of the reference list of missing facts the model's `missing` holds, by meaning. "
        "From 0 (none of it) to 4 (all of it, or there was nothing to hold). Higher is better.",
    )
    spurious: Literal["Yes", "No"] = Field(
        description='"Yes" if an entry of `known` or `missing` is wrong or has nothing to do with the conversation, '
        '"No" if there is no such entry. "No" is better.',
    )
    goal_relevance: int = Field(ge=0, le=4, description=_RELEVANCE)
