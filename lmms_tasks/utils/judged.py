"""From a row's answers to its items: what is judged, what is a zero without a call, what stays unscored.

One row has one answer, or several with lmms-eval's `--repeats`; the row's number is then the mean over them, and the row
is unscored if one of them is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loguru import logger

from lmms_tasks.utils.judge import Panel, Rubric
from lmms_tasks.utils.reasoning import Answer, strip_reasoning
from lmms_tasks.utils.statistics import MINIMUM_COVERAGE, Item, mean, plain_mean

# Statuses of a row. "judged": by the panel; "empty", "unclosed_reasoning": no answer, 0 without a call;
# "request_failed": lmms-eval could not get an answer; "unscored": too few valid verdicts; "no_judge": none configured.
NO_ANSWER = ("empty", "unclosed_reasoning")


@dataclass(frozen=True)
class JudgedAnswer:
    """One answer with the panel's fields, None where it is unscored."""

    answer: Answer
    status: str
    fields: Mapping[str, float] | None
    record: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class JudgedRow:
    """The answers of one row, judged."""

    answers: Sequence[JudgedAnswer]
    panel_size: float

    @property
    def status(self) -> str:
        """The status of the first answer that is unscored, else of the first answer."""
        return next((a.status for a in self.answers if a.fields is None), self.answers[0].status)

    @property
    def fields(self) -> dict[str, float] | None:
        """The mean of each field over the answers; None if one of them is unscored."""
        judged = [answer.fields for answer in self.answers]
        if any(fields is None for fields in judged):
            return None
        return {name: mean(fields[name] for fields in judged) for name in judged[0]}

    def item(self, score: float | None) -> dict[str, Any]:
        """One metric's item for this row; `score` is None where it is unscored."""
        return {"status": self.status} if score is None else {"score": score, "status": self.status}

    def coverage_item(self, **groups: Any) -> dict[str, Any]:
        """The row's record: whether it was scored, why not, all verdicts, and the groups that breakdowns use."""
        return {
            "score": float(self.fields is not None),
            "status": self.status,
            "answers": [answer.status for answer in self.answers],
            "judgements": [dict(answer.record) for answer in self.answers if answer.record],
            **groups,
        }

    def size_item(self) -> dict[str, float]:
        """The nominal number of judgements behind the row's numbers, 0 for the lexical stand-in."""
        return {"score": self.panel_size}


def judge_row(
    results: Sequence[str], panel: Panel | None, rubric: Rubric, texts: Mapping[str, str], zero: Mapping[str, float]
) -> JudgedRow:
    """Judge each answer of a row.

    Args:
        results: the raw answers of the model.
        panel: None where no judge is configured.
        texts: what the rubric shows beside the answer.
        zero: the fields of an empty answer, which is scored without a call.
    """
    size = panel.judgements_per_sample if panel else 0.0
    return JudgedRow([_judge(strip_reasoning(raw), panel, rubric, texts, zero) for raw in results], size)


def _judge(
    answer: Answer, panel: Panel | None, rubric: Rubric, texts: Mapping[str, str], zero: Mapping[str, float]
) -> JudgedAnswer:
    if answer.state == "request_failed":
        return JudgedAnswer(answer, "request_failed", None)
    if panel is None:
        return JudgedAnswer(answer, "no_judge", None)
    if answer.state in NO_ANSWER:
        return JudgedAnswer(answer, answer.state, zero)
    judgement = panel.judge(rubric, {**texts, rubric.candidate: answer.text})
    return JudgedAnswer(answer, "judged" if judgement.scored else "unscored", judgement.fields, judgement.record())


def unjudged_score(results: Iterable[str], score: Any) -> float | None:
    """The mean of `score(answer text)` over a row's answers, None if a request failed; needs no judge."""
    answers = [strip_reasoning(raw) for raw in results]
    if any(answer.state == "request_failed" for answer in answers):
        return None
    return mean(score(answer.text) for answer in answers)


def judged_coverage(items: Sequence[Item]) -> float:
    """Share of rows that were scored, in [0, 1]; the log says why where judged metrics become NaN."""
    share = plain_mean(items)
    scored = [item for item in items if item["score"]]
    reasons: dict[str, int] = {}
    for item in items:
        if not item["score"]:
            reasons[item["status"]] = reasons.get(item["status"], 0) + 1
    if reasons and set(reasons) != {"no_judge"}:
        told = ", ".join(f"{status}: {count}" for status, count in sorted(reasons.items()))
        consequence = (
            "judged metrics are NaN" if share < MINIMUM_COVERAGE else "judged metrics are over the scored rows"
        )
        logger.warning(f"{len(scored)} of {len(items)} rows were scored ({told}): {consequence}.")
    return share
