"""The rows of the sample browser: what is shown of each, within the page's budget of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lmms_tasks.report.runs import Sample, TaskRun, finite, primary_metric
from lmms_tasks.utils.judge.verdict import NUMBERS

LONGEST_TEXT = 20_000  # characters of one text
TEXT_BUDGET = 16_000_000  # characters of all texts of a page
_SHORTEST_TEXT = 200


class Texts:
    """The page's texts, each once: runs of one task share questions and gold answers."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def add(self, text: str | None) -> int | None:
        """The text's number, None without text."""
        return None if text is None else self._number.setdefault(text, len(self._number))

    def cut(self, budget: int = TEXT_BUDGET) -> list[str]:
        """All texts by number, long ones cut with a word so that together they keep within the budget."""
        limit = LONGEST_TEXT
        while limit > _SHORTEST_TEXT and sum(min(len(text), limit) for text in self._number) > budget:
            limit //= 2
        return [_cut(text, limit) for text in self._number]


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    told = f"the first {limit:,} of {len(text):,} characters are shown; the sample log has them all"
    return f"{text[:limit]}\n… [cut here: {told}]"


def browser_task(runs: Sequence[TaskRun], texts: Texts) -> dict[str, Any]:
    """One task's rows in all runs, as the page's script reads them.

    Each row is `[run, doc_id, status, scores, question, gold, answers, verdicts, spread]` with numbers in place of texts;
    `scores` are in the order of `metrics`, null where the row has none.
    """
    spec = runs[0].spec
    metrics = [m for m in spec.metrics if any(s.score(m.name) is not None for run in runs for s in run.samples)]
    names = [metric.name for metric in metrics]
    primary = primary_metric(spec).name
    return {
        "task": spec.name,
        "benchmark": spec.benchmark.title,
        "runs": [run.label for run in runs],
        "metrics": names,
        "higher": [metric.higher_is_better for metric in metrics],
        "primary": names.index(primary) if primary in names else 0,
        "rows": [_row(number, sample, names, texts) for number, run in enumerate(runs) for sample in run.samples],
    }


def _row(run: int, sample: Sample, metrics: Iterable[str], texts: Texts) -> list[Any]:
    return [
        run,
        sample.doc_id,
        sample.status,
        [_rounded(sample.score(metric)) for metric in metrics],
        texts.add(sample.input),
        texts.add(sample.target),
        [texts.add(answer) for answer in sample.answers],
        [_verdict(verdict, texts) for verdict in sample.verdicts],
        _rounded(spread(sample)),
    ]


def _verdict(verdict: Any, texts: Texts) -> list[Any]:
    scores = verdict.get("scores")
    said = ", ".join(f"{name} {value}" for name, value in scores.items()) if scores else verdict.get("reason") or ""
    model = verdict.get("model") or ""
    judge = str(verdict.get("judge", ""))
    who = judge if model in ("", judge) else f"{judge} ({model})"
    # Verdicts repeat from row to row.
    return [texts.add(who), verdict.get("generation", 0), str(verdict.get("status", "")), texts.add(str(said))]


def spread(sample: Sample) -> float:
    """How far the verdicts of a row lie apart: the widest range of a field, in the field's own units."""
    widest = 0.0
    for judgement in sample.record.get("judgements", ()):
        valid = [v["scores"] for v in judgement.get("verdicts", ()) if v.get("scores") is not None]
        for field in valid[0] if len(valid) > 1 else ():
            numbers = [finite(NUMBERS.get(s.get(field), s.get(field))) for s in valid if _hashable(s.get(field))]
            known = [number for number in numbers if number is not None]
            widest = max(widest, max(known) - min(known)) if known else widest
    return widest


def rows_to_illustrate(runs: Sequence[TaskRun], most: int) -> list[int]:
    """The rows whose images are worth their bytes: unscored ones first, then the worst of any run; by position."""
    primary = primary_metric(runs[0].spec)
    worst: dict[int, float] = {}
    order: Callable[[float], float] = (lambda score: score) if primary.higher_is_better else (lambda score: -score)
    for run in runs:
        for sample in run.samples:
            if sample.doc_id is not None:
                score = sample.score(primary.name)
                key = float("-inf") if score is None else order(score)
                worst[sample.doc_id] = min(key, worst.get(sample.doc_id, key))
    return sorted(worst, key=lambda doc_id: (worst[doc_id], doc_id))[:most]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _hashable(value: Any) -> bool:
    return isinstance(value, str | int | float)
