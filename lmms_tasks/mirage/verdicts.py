"""What a judge answers for MIRAGE-MMST: one schema for identification, one for management guidance.

The scales are those of the official judges (`MMST/Evaluation/LLMsAsJudges_ID.py`, `LLMsAsJudges_MG.py` of
MIRAGE-Benchmark/MIRAGE-Benchmark, 303c589); the wording is ours. The descriptions become part of the judge's prompt.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class IdentificationVerdict(BaseModel):
    """Scores of one answer to an identification question."""

    model_config = ConfigDict(strict=True, frozen=True)

    identification_accuracy: int = Field(
        ge=0,
        le=1,
        description="Whether the entity that the answer settles on is the expert's entity: "
        "1 if it is, 0 if it is another one or none. Higher is better.",
    )
    reasoning: int = Field(
        ge=0,
        le=4,
        description="How well the answer argues from what can be seen to its identification: telling clues, described "
        "exactly, joined to the conclusion by cause and effect. From 0 (no usable argument) to 4 (complete). "
        "Higher is better.",
    )


class ManagementVerdict(BaseModel):
    """Scores of one answer to a question about care or management."""

    model_config = ConfigDict(strict=True, frozen=True)

    accuracy: int = Field(
        ge=0,
        le=4,
        description="How far facts, names, diagnosis, causes and advice agree with the expert's answer. "
        "From 0 (wrong or misleading throughout) to 4 (all correct). Higher is better.",
    )
    relevance: int = Field(
        ge=0,
        le=4,
        description="How closely the answer keeps to what was asked and to what the expert speaks about. "
        "From 0 (off the subject) to 4 (exactly on it). Higher is better.",
    )
    completeness: int = Field(
        ge=0,
        le=4,
        description="How much of what matters in the expert's answer is covered. "
        "From 0 (none of it) to 4 (all of it). Higher is better.",
    )
    parsimony: int = Field(
        ge=0,
        le=4,
        description="How short, clear and usable the advice is. "
        "From 0 (nothing to act on) to 4 (to the point and ready to act on). Higher is better, longer is not.",
    )
