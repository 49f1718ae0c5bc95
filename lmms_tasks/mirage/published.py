"""The published leaderboards of MIRAGE, as rows that a report may show beside a whole run.

MMST Standard: means over the judges DeepSeek-R1-Distill-Llama-70B, Qwen3-32B and Phi-4-Reasoning, over the whole test
split. MMMT: the site tells neither the judge nor the form of the question. Only the Decomp form has released evaluation
code, so its numbers stand beside that form; none of the accuracies is a share of all 861 rows. `Clarify` and `Respond`
are per cent of the judge's scale from 0 to 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.utils.published import read_published

_FOLDER = Path(__file__).parent
_STANDARD = "MIRAGE's project site, leaderboards/MMST_Standard.json of 2025-06-06"
_MMMT = (
    "MIRAGE's project site, leaderboards/MMMT.json, which tells neither its judge nor its form; none of its accuracies is a "
    "share of all 861 rows"
)
_Columns = Mapping[str, tuple[str, float]]


def _decisions(form: str) -> _Columns:
    return {
        "decision_accuracy_official": (f"{form}_decision_accuracy_percent", 1),
        "goal_relevance_clarify": (f"{form}_clarify", 25),
        "goal_relevance_respond": (f"{form}_respond", 25),
    }


# File, source, rows of the split, and each metric's column with what it is divided by to have our unit.
_TASKS: Mapping[str, tuple[str, str, int, _Columns]] = {
    "mirage_mmst_id": (
        "published_mmst_standard.csv",
        _STANDARD,
        4324,
        {
            "identification_accuracy_official": ("id_accuracy_percent", 100),
            "reasoning_score": ("reasoning", 1),
            "site_weighted_score": ("id_weighted", 1),
        },
    ),
    "mirage_mmst_mg": (
        "published_mmst_standard.csv",
        _STANDARD,
        3860,
        {
            "w_sum": ("mg_weighted_percent", 100),
            "mg_accuracy": ("mg_accuracy", 1),
            "mg_relevance": ("mg_relevance", 1),
            "mg_completeness": ("mg_completeness", 1),
            "mg_parsimony": ("mg_parsimony", 1),
            "site_weighted_score": ("mg_weighted_percent", 1),
        },
    ),
    "mirage_mmmt_decomp": ("published_mmmt.csv", _MMMT, 861, _decisions("zs")),
    "mirage_mmmt_decomp_cot": ("published_mmmt.csv", _MMMT, 861, _decisions("cot")),
}


def published(task: TaskSpec) -> list[dict[str, Any]]:
    """The published rows for a task: `model`, `source`, `rows` of the split, `metrics` in our units; [] for others."""
    if task.name not in _TASKS:
        return []
    table, source, rows, columns = _TASKS[task.name]
    return read_published(_FOLDER / table, source, rows, columns)
