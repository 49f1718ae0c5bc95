"""What a judge answers for MMDeepResearch-Bench: six schemas, whose descriptions become part of the judge's prompt.

The fields are those of the official judges (`detail/scoring_judge.py`, `scoring_golden.py`, `accuracy.py`, `VQA.py` of
AIoT-MLSys-Lab/MMDeepResearch-Bench, ffaf59b), which explain few of them; the wording is ours. What is in [0, 1] there is
asked for in hundredths here, as a whole number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lmms_tasks.mmdeepresearch_bench.mosaic import yes_probability
from lmms_tasks.utils.judge import Judgement, Rubric
from lmms_tasks.utils.statistics import mean

_PROMPTS = Path(__file__).parent / "prompts"
YesNo = Literal["Yes", "No"]
# First tokens that mean either, in lower case and without what surrounds them (`detail/VQA.py`).
_YES, _NO = frozenset({"yes", "true", "correct"}), frozenset({"no", "false", "incorrect", "not"})


def _hundredths(description: str) -> Any:
    return Annotated[int, Field(ge=0, le=100, description=description)]


def _tilt(what: str) -> Any:
    description = (
        f"How much more {what} should count for this task than usual: from -100 (much less) over 0 (as usual) to 100 "
        "(much more). Neither end is better."
    )
    return Annotated[int, Field(ge=-100, le=100, description=description)]


class _Verdict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class ReportVerdict(_Verdict):
    """How well a report is written."""

    error_rate: _hundredths(
        "Share of sentences with a mistake of grammar, spelling or wording: 0 (none) to 100 (all). Lower is better."
    )
    analysis: _hundredths(
        "Share of the text that analyses (explains, weighs, infers) and does not merely relate: 0 to 100. Higher is better."
    )
    connection: _hundredths(
        "How far statements are joined by reasons, contrasts and consequences that are spelled out: 0 (a mere list) to "
        "100 (throughout). Higher is better."
    )
    synthesis: _hundredths(
        "How far findings of several sources are brought together into something that none says alone: 0 to 100. Higher "
        "is better."
    )
    uniformity: _hundredths("How far the whole report keeps to its subject: 0 to 100. Higher is better.")
    order: _hundredths("How sensible the order of sections and arguments is: 0 to 100. Higher is better.")
    transition: _hundredths("How well each passage leads over to the next: 0 to 100. Higher is better.")
    conflict: _hundredths(
        "How far the report contradicts itself: 0 (nowhere) to 100 (its main statements do). Lower is better."
    )
    section_quality: _hundredths(
        "How well the sections that are there do what their headings promise: 0 to 100. Higher is better."
    )
    executive_summary: Annotated[
        YesNo, Field(description='"Yes" if there is a summary of the findings at the start. "Yes" is better.')
    ]
    background: Annotated[
        YesNo, Field(description='"Yes" if there is a part that gives background or context. "Yes" is better.')
    ]
    methodology: Annotated[
        YesNo, Field(description='"Yes" if there is a part that says how the answer was found. "Yes" is better.')
    ]
    analysis_and_evidence: Annotated[
        YesNo, Field(description='"Yes" if there is a part that argues from evidence. "Yes" is better.')
    ]
    visual_integration: Annotated[
        YesNo, Field(description='"Yes" if images or charts are shown and used in the argument. "Yes" is better.')
    ]
    conclusion: Annotated[YesNo, Field(description='"Yes" if there is a conclusion. "Yes" is better.')]
    readability: _hundredths("Overall: how clear and easy to read the report is: 0 to 100. Higher is better.")
    insight: _hundredths("Overall: how deep, comparing and drawing together it is: 0 to 100. Higher is better.")
    coherence: _hundredths("Overall: how well it hangs together: 0 to 100. Higher is better.")
    structure: _hundredths(
        "Overall: how complete its sections, its references and its use of images are: 0 to 100. Higher is better."
    )


class WeightsVerdict(_Verdict):
    """What matters most for a task, before any report is seen."""

    readability_weight: _tilt("readability")
    insight_weight: _tilt("depth of insight")
    coherence_weight: _tilt("coherence")
    structure_weight: _tilt("structure")
    consistency_weight: _tilt("agreement of claims with their sources")
    coverage_weight: _tilt("having evidence for each key claim")
    fidelity_weight: _tilt("inventing and inverting nothing")
    diversity_weight: _tilt("variety of sources")


class SupportVerdict(_Verdict):
    """How well a page carries a claim."""

    support_strength: _hundredths(
        "How far the passages carry the claim: 0 (not at all, or they contradict it) to 100 (they state all of it). "
        "Higher is better."
    )
    hallucination: _hundredths(
        "How likely it is that the claim states something that the source does not hold (a number, a name, an event): 0 "
        "(certainly not) to 100 (certainly). Lower is better."
    )
    inversion: _hundredths(
        "How likely it is that the claim turns cause and effect, or who did what to whom, round: 0 to 100. Lower is better."
    )
    soundness: _hundredths(
        "How sound the step from what the passages say to what the claim says is: 0 (it does not follow) to 100 (it "
        "follows). Higher is better."
    )
    source_category: Annotated[
        Literal["authoritative", "acceptable", "prohibited", "unknown"],
        Field(
            description='The kind of source, by its address and text: "authoritative" (governments, international bodies, '
            'universities, journals, official data), "acceptable" (established media, companies about themselves, '
            'reference works), "prohibited" (social media, personal blogs, question-and-answer forums), "unknown". "authoritative" is best, "prohibited" worst.'
        ),
    ]


class VisualFidelityVerdict(_Verdict):
    """Whether a report sees in the task's images what is there."""

    score: Annotated[
        int,
        Field(
            ge=0,
            le=10,
            description="Agreement of the report with the visual truth: a whole number from 0 (contradicts it) to 10 "
            "(agrees throughout); 6 is the least that still passes. Higher is better.",
        ),
    ]
    wrong_identity: Annotated[
        YesNo,
        Field(
            description='"Yes" if the report takes anything in the images that matters (a person, place, object, chart, '
            'logo, species) for something else, or says that something is shown which is not. "No" is better.'
        ),
    ]


class FigureVerdict(_Verdict):
    """Whether an image shows what a report says it shows."""

    kind: Annotated[
        Literal["photo", "diagram", "datachart", "ocrchart"],
        Field(
            description='What the image is: "photo" (a photograph or picture), "diagram" (a drawing of parts or a '
            'process, a map), "datachart" (a plot of values), "ocrchart" (a table, a screenshot, or an image of text). No kind is better.'
        ),
    ]
    depicted: Annotated[
        YesNo, Field(description='"Yes" if the image shows what the statement says it shows. "Yes" is better.')
    ]
    data_accuracy: _hundredths(
        "For a datachart or ocrchart: share of what the statement says about values, names and trends that the image "
        "bears out, 0 (none of it, or nothing that could be checked) to 100 (all). For a photo or diagram: 0, it is not "
        "used. Higher is better."
    )


class DepictedVerdict(_Verdict):
    """Whether a photograph or diagram shows what a report says it shows; read by log-probabilities."""

    depicted: Annotated[
        YesNo, Field(description='"Yes" if the image shows what the statement says it shows. "Yes" is better.')
    ]


REPORT = Rubric.from_file(
    _PROMPTS / "report.txt",
    name="mmdeepresearch_bench.report",
    schema=ReportVerdict,
    reference="task",
    candidate="report",
)
WEIGHTS = Rubric.from_file(
    _PROMPTS / "weights.txt",
    name="mmdeepresearch_bench.weights",
    schema=WeightsVerdict,
    reference="task",
    candidate="report_type",
)
SUPPORT = Rubric.from_file(
    _PROMPTS / "support.txt",
    name="mmdeepresearch_bench.support",
    schema=SupportVerdict,
    reference="passages",
    candidate="claim",
)
VISUAL_FIDELITY = Rubric.from_file(
    _PROMPTS / "visual_fidelity.txt",
    name="mmdeepresearch_bench.visual_fidelity",
    schema=VisualFidelityVerdict,
    reference="visual_truth",
    candidate="report",
    images=True,
)
FIGURE = Rubric.from_file(
    _PROMPTS / "figure.txt",
    name="mmdeepresearch_bench.figure",
    schema=FigureVerdict,
    reference="beside",
    candidate="statement",
    images=True,
)
FIGURE_YES_NO = Rubric.from_file(
    _PROMPTS / "figure_yes_no.txt",
    name="mmdeepresearch_bench.figure_yes_no",
    schema=DepictedVerdict,
    reference="beside",
    candidate="statement",
    images=True,
    form="word",
)
_ALL = (REPORT, WEIGHTS, SUPPORT, VISUAL_FIDELITY, FIGURE, FIGURE_YES_NO)
NAMES = tuple(rubric.name for rubric in _ALL)


def rubrics_for(vqa: str) -> dict[str, Rubric]:
    """The rubrics that are asked, by name: photographs and diagrams have one of their own where they are judged by
    log-probabilities (`vqa` is "logprobs"), else the verdict on their kind decides ("verdict")."""
    return {rubric.name: rubric for rubric in _ALL if vqa == "logprobs" or rubric is not FIGURE_YES_NO}


def choice(judgement: Judgement, field: str) -> str:
    """What most valid verdicts chose; the first of those that are equally frequent."""
    chosen = [str(verdict.fields[field]) for verdict in judgement.verdicts if verdict.fields is not None]
    return max(chosen, key=chosen.count)


def probability_of_yes(judgement: Judgement) -> float | None:
    """P(yes) in [0, 1] by the first token's log-probabilities: the mean over a judge's generations, then over judges.

    None where a valid verdict has neither yes nor no among its tokens, or no verdict is valid: that is no 0.
    """
    by_judge: dict[str, list[float]] = {}
    for verdict in judgement.verdicts:
        if verdict.fields is None:
            continue
        yes, no = (_probability(verdict.logprobs or {}, words) for words in (_YES, _NO))
        if yes + no == 0.0:
            return None
        by_judge.setdefault(verdict.judge, []).append(yes_probability(yes, no))
    return mean(mean(values) for values in by_judge.values()) if by_judge else None


def _probability(logprobs: Mapping[str, float], words: frozenset[str]) -> float:
    return math.fsum(
        math.exp(logprob) for token, logprob in logprobs.items() if token.strip(" \t\n\"'*.,:▁Ġ").casefold() in words
    )
