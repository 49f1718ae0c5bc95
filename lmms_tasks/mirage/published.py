"""The published leaderboard of MIRAGE-MMST Standard, as rows that a report may show beside a whole run.

The numbers are those of the project's site (`leaderboards/MMST_Standard.json`, dated 2025-06-06): means over the judges
DeepSeek-R1-Distill-Llama-70B, Qwen3-32B and Phi-4-Reasoning, over the whole test split.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import TaskSpec

SOURCE = "MIRAGE's project site, leaderboards/MMST_Standard.json of 2025-06-06"
_TABLE = Path(__file__).parent / "published_mmst_standard.csv"
_Columns = Mapping[str, tuple[str, Callable[[float], float]]]


def _as_is(value: float) -> float:
    return value


def _share(value: float) -> float:
    return value / 100


# Rows of the split, and each metric's column in the table, with what makes our unit of it.
_TASKS: Mapping[str, tuple[int, _Columns]] = {
    "mirage_mmst_id": (
        4324,
        {
            "identification_accuracy_official": ("id_accuracy_percent", _share),
            "reasoning_score": ("reasoning", _as_is),
            "site_weighted_score": ("id_weighted", _as_is),
        },
    ),
    "mirage_mmst_mg": (
        3860,
        {
            "w_sum": ("mg_weighted_percent", _share),
            "mg_accuracy": ("mg_accuracy", _as_is),
            "mg_relevance": ("mg_relevance", _as_is),
            "mg_completeness": ("mg_completeness", _as_is),
            "mg_parsimony": ("mg_parsimony", _as_is),
            "site_weighted_score": ("mg_weighted_percent", _as_is),
        },
    ),
}


def mmst_standard(task: TaskSpec) -> list[dict[str, Any]]:
    """The published rows for a task: `model`, `source`, `rows` of the split, `metrics` in our units; [] for others."""
    if task.name not in _TASKS:
        return []
    rows, columns = _TASKS[task.name]
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return [
            {
                "model": line["model"],
                "source": SOURCE,
                "rows": rows,
                "metrics": {metric: unit(float(line[column])) for metric, (column, unit) in columns.items()},
            }
            for line in csv.DictReader(file)
        ]
