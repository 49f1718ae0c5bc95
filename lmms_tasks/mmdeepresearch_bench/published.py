"""Table 1 of the paper (arXiv:2601.12346), as rows that a report may show beside a whole run.

Its totals have the weights and hidden dimensions of the official code, so they stand beside `mmdr_overall_official` and
`mmdr_vef_official`; they do not follow from the columns that are printed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.mmdeepresearch_bench.task_scores import DIMENSIONS, TASKS
from lmms_tasks.utils.published import read_published

SOURCE = "arXiv:2601.12346, Table 1; some of its judges are retired, so nobody can repeat its absolute numbers"


def published(task: TaskSpec) -> list[dict[str, Any]]:
    """The 25 published rows for the task with images; [] for others."""
    if task.name != "mmdeepresearch_bench":
        return []
    columns = {"mmdr_overall_official": ("Overall", 1.0)}
    for metric, column in DIMENSIONS.items():
        columns["mmdr_vef_official" if metric == "mmdr_vef" else metric] = (column.rstrip("."), 1.0)
    return read_published(Path(__file__).parent / "published_table1.csv", SOURCE, TASKS, columns)
