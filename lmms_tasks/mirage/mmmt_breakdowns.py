"""What the manifest of an MMMT run tells beside the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.mirage.decision_scores import baselines, confusion, precision_and_recall
from lmms_tasks.mirage.mmmt_hooks import form_of
from lmms_tasks.utils.manifest import grouped_means


def mmmt_breakdowns(task: TaskSpec, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Confusion table, clarify's precision and recall, baselines, truncated answers, means by turns, images, decision."""
    records = items["judged_coverage"]
    # Which rows these two leave out is what one table below is about.
    left_out = ("judged_coverage", "goal_relevance_clarify", "goal_relevance_respond")
    metrics = [metric.name for metric in task.metrics if metric.name not in left_out]
    table = confusion(records)
    by_turns = grouped_means(items, metrics, [record["turns"] for record in records])
    return {
        "prompt": form_of(task.name).prompt.record(),
        "confusion": table,
        "clarify": precision_and_recall(table),
        "baselines": baselines(records),
        "truncated_answers": sum(sum(record["truncated"]) for record in records),
        "by_turns": {turns: by_turns[turns] for turns in sorted(by_turns, key=int)},
        "by_n_images": grouped_means(items, metrics, [record["n_images"] for record in records]),
        "by_decision": grouped_means(items, metrics, [record["decision"] for record in records]),
    }
