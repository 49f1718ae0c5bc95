"""The published tables of SGMRI-VQA, as rows that a report may show beside a whole run.

Numbers are those of the README of lamawmouk/SGMRI-VQA (a37aa3dd, and its later version for Lingshu-7B and OctoMed-7B), in
per cent. The project page has other values of two rows: Qwen2.5-VL-7B (detection 12.00, average 24.83) and
MedGemma-1.5-4B (26.94, 33.74) at image level.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.sgmri_vqa.columns import COLUMNS
from lmms_tasks.utils.published import read_published

SOURCE = "README of lamawmouk/SGMRI-VQA at a37aa3dd and its later version"
# Five questions about each of 1,492 slices and 368 volumes (which the published shares are multiples of) are 9,300; the
# test split has 9,293, and at which level the seven are missing is not told.
ROWS: Mapping[str, tuple[int, int]] = {"image": (7453, 7460), "volume": (1833, 1840)}


def published(task: TaskSpec) -> list[dict[str, Any]]:
    """The published rows for the task of a level over both organs, in our units; [] for others."""
    level = task.name.removeprefix("sgmri_vqa_")
    if level not in ROWS:
        return []
    columns = {**{column: (column, 100.0) for column in COLUMNS[level]}, "average": ("avg", 100.0)}
    return read_published(Path(__file__).parent / f"published_{level}.csv", SOURCE, ROWS[level], columns)
