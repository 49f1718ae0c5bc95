"""Numbers over the decisions of all rows: means where a metric applies, the confusion table, and what no model needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_tasks.mirage.decision import CLARIFY, DECISIONS, RESPOND
from lmms_tasks.utils.statistics import Item, covered_mean, mean

UNPARSABLE = "unparsable"
REQUEST_FAILED = "request_failed"


def applicable_mean(items: Sequence[Item]) -> float:
    """Mean over the rows to which a metric applies; NaN where fewer than 95 % of these have a score.

    An item with `applies` False stands for a row that the metric leaves out: it is neither scored nor missing.
    """
    return covered_mean([item for item in items if item.get("applies", True)])


def accuracy_item(gold: str, predictions: Sequence[str]) -> dict[str, Any]:
    """Percent of a row's answers with the gold decision; no score where a request failed."""
    if REQUEST_FAILED in predictions:
        return {}
    return {"score": 100 * mean(float(prediction == gold) for prediction in predictions)}


def accuracy_over_parsed_item(gold: str, predictions: Sequence[str]) -> dict[str, Any]:
    """The same over the answers that hold a decision; a row without one is left out, as the official code does."""
    if REQUEST_FAILED in predictions:
        return {}
    parsed = [prediction for prediction in predictions if prediction in DECISIONS]
    return accuracy_item(gold, parsed) if parsed else {"applies": False}


def confusion(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Answers by gold decision and by what was predicted: clarify, respond, unparsable, request_failed."""
    counts = Counter((record["decision"], prediction) for record in records for prediction in record["predictions"])
    predicted = (*DECISIONS, UNPARSABLE, REQUEST_FAILED)
    return {gold: {prediction: counts[gold, prediction] for prediction in predicted} for gold in DECISIONS}


def precision_and_recall(table: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    """Of clarify, in percent: an unparsable answer predicts neither, so it lowers recall and leaves precision alone."""
    hits = table[CLARIFY][CLARIFY]
    predicted = hits + table[RESPOND][CLARIFY]
    actual = sum(count for prediction, count in table[CLARIFY].items() if prediction != REQUEST_FAILED)
    return {
        "precision": 100 * hits / predicted if predicted else float("nan"),
        "recall": 100 * hits / actual if actual else float("nan"),
    }


def baselines(records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """What needs no model reaches on the same rows, in percent, by the aggregator that scores models."""
    rules = {
        "always_clarify": lambda record: CLARIFY,
        "clarify_iff_one_turn": lambda record: CLARIFY if record["turns"] == 1 else RESPOND,
    }
    return {
        name: covered_mean([accuracy_item(record["decision"], [rule(record)]) for record in records])
        for name, rule in rules.items()
    }
