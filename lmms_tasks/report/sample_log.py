"""The sample log of one task in one run, `<date>_samples_<task>.jsonl`: a line a row, with each metric's item."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.utils.text_file import UnreadableText, read_text

RECORD = "judged_coverage"  # the metric whose item is the row's record where a judge is asked
# Statuses of items that a metric is not about.
_ELSEWHERE = ("out_of_scope", "not_applicable", "no_judge")
_LINES_TOLD = 3


@dataclass(frozen=True)
class Sample:
    """One row of a task in one run.

    `doc_id` is the row's position, None where the log does not say. `items` has each metric's item; `answers` is empty
    where the log holds none.
    """

    doc_id: int | None
    items: Mapping[str, Mapping[str, Any]]
    answers: Sequence[str] = ()
    target: str | None = None
    input: str | None = None

    @property
    def record(self) -> Mapping[str, Any]:
        """The row's record: status, judgements, groups; {} where the task keeps none.

        It is the item of `judged_coverage`, or, as in the manifest, of the first metric that carries the answers' states.
        """
        carriers = (item for item in self.items.values() if "answers" in item)
        return self.items.get(RECORD) or next(carriers, {})

    @property
    def status(self) -> str:
        return str(self.record.get("status", "scored"))

    def score(self, metric: str) -> float | None:
        """The row's number, None where it was not scored."""
        return finite(self.items.get(metric, {}).get("score"))

    def counts_as_zero(self, metric: str) -> bool:
        """Whether a strict metric counts this row, which has no score, as 0: it is about the row, and a judge was asked."""
        item = self.items.get(metric)
        if item is None or self.status == "no_judge" or item.get("applies") is False:
            return False
        return item.get("status") not in _ELSEWHERE

    @property
    def verdicts(self) -> list[Mapping[str, Any]]:
        return [verdict for judgement in self.record.get("judgements", ()) for verdict in judgement.get("verdicts", ())]


def finite(value: Any) -> float | None:
    """The value as a float, None for anything else, NaN and infinities included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def read_samples(path: Path, spec: TaskSpec) -> tuple[list[Sample], list[str]]:
    """The rows by position, and in sentences that name the file what is wrong with it; without rows at least one."""
    name = short_name(path)
    if not path.is_file():
        return [], [f"{name} is missing: run with --log_samples to see rows, intervals and comparisons."]
    try:
        # Not `splitlines`, which parts a line at separators that JSON leaves as they are.
        lines = read_text(path).split("\n")
    except UnreadableText as error:
        return [], [f"{name} was skipped: {error.reason}."]
    samples, skipped = [], []
    for number, line in enumerate(lines, start=1):
        if not line and number == len(lines):
            break  # what follows the last line's end
        try:
            samples.append(_sample(json.loads(line), spec))
        except (ValueError, TypeError, AttributeError, RecursionError):
            skipped.append(number)
    twice = [doc_id for doc_id, count in Counter(s.doc_id for s in samples).items() if count > 1 and doc_id is not None]
    if twice:
        # lmms-eval appends: two runs that start in one second write into one file.
        return [], [f"{name} was skipped: row {twice[0]} is in it more than once, so two runs share the file."]
    if not samples:
        told = "no line of it is a row of a sample log" if skipped else "it is empty"
        return [], [f"{name} was skipped: {told}; the run may have ended while it was written."]
    faults = [_told(name, skipped)] if skipped else []
    if nameless := sum(sample.doc_id is None for sample in samples):
        faults.append(
            f"{name}: {nameless} of {len(samples)} lines do not say which row they are (no doc_id); they are shown "
            "without a position and images, and the run cannot be compared."
        )
    return sorted(samples, key=lambda sample: -1 if sample.doc_id is None else sample.doc_id), faults


def short_name(path: Path) -> str:
    """A file's name with its folder: files of several runs may be named alike."""
    return "/".join(path.parts[-2:])


def _told(name: str, skipped: Sequence[int]) -> str:
    if len(skipped) == 1:
        return f"{name}, line {skipped[0]} was skipped: it is no row of a sample log."
    numbers = ", ".join(map(str, skipped[:_LINES_TOLD])) + (", …" if len(skipped) > _LINES_TOLD else "")
    return f"{name}: {len(skipped):,} lines ({numbers}) were skipped: they are no rows of a sample log."


def _sample(record: Mapping[str, Any], spec: TaskSpec) -> Sample:
    items = {}
    for metric in spec.metrics:
        item = record.get(metric.name)
        if isinstance(item, Mapping):
            items[metric.name] = item
        elif finite(item) is not None:
            items[metric.name] = {"score": item}
    doc_id = record.get("doc_id")
    if not items and doc_id is None:
        raise ValueError("neither a row's position nor an item of a metric")
    return Sample(
        doc_id=doc_id if type(doc_id) is int else None,
        items=items,
        answers=_texts(record.get("filtered_resps")),
        target=record["target"] if isinstance(record.get("target"), str) else None,
        input=record["input"] if isinstance(record.get("input"), str) else None,
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    return [value] if isinstance(value, str) else []
