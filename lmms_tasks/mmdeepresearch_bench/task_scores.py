"""The official table of task scores: its columns, and reading a file of one line a task.

The columns are those of `detail/leaderboard_export.py` of AIoT-MLSys-Lab/MMDeepResearch-Bench (64307c8). Scores are in
[0, 100].
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmms_tasks.mmdeepresearch_bench.rows import FIRST_DAILY

TASKS = 140
MODULES = ("FLAE", "TRACE", "MOSAIC")
# The card's dimensions by their column.
DIMENSIONS: Mapping[str, str] = {
    "mmdr_read": "Read.",
    "mmdr_insh": "Insh.",
    "mmdr_stru": "Stru.",
    "mmdr_vef": "Vef.",
    "mmdr_con": "Con.",
    "mmdr_cov": "Cov.",
    "mmdr_fid": "Fid.",
    "mmdr_sem": "Sem.",
    "mmdr_acc": "Acc.",
    "mmdr_vqa": "VQA",
}
SCORES = (*MODULES, *DIMENSIONS.values())
_ID, _SPLIT = "Task ID", "Split"
_TASK_ID = re.compile(r"[Qq]?([0-9]{1,4})")

TaskScores = Mapping[str, "float | str | None"]


@dataclass(frozen=True)
class ScoreTable:
    """What a file holds.

    Attributes:
        rows: one a task, in the order in which the tasks come first: numbers as floats, empty cells as None.
        columns: the columns of scores that the file has.
        repeated: the tasks that stand in several lines, and whether those differ in a score; the last line is the row.
    """

    rows: list[dict[str, float | str | None]]
    columns: frozenset[str]
    repeated: Mapping[str, bool]

    def notes(self) -> list[str]:
        """One sentence for the repeated tasks that differ, one for those that do not."""
        told = {
            True: "with different scores: the last line of a task counts, by the official rule.",
            False: "with the same scores: a task counts once.",
        }
        return [
            f"Several lines hold {', '.join(tasks)} {words}"
            for differs, words in told.items()
            if (tasks := [task for task, found in self.repeated.items() if found is differs])
        ]


def read_score_table(path: Path) -> ScoreTable:
    """Read a table of task scores.

    Raises:
        SystemExit: the file is no such table, a column stands twice, a line is longer or shorter than the header, a Task
            ID is none of the benchmark's, or a score is no number in [0, 100]; the sentence says which.
    """
    columns, lines = _read_lines(path)
    known = frozenset(SCORES) & set(columns)
    if not lines or _ID not in columns or not known:
        raise SystemExit(
            f"{path} is no table of task scores: it needs one row a task, a column Task ID and columns such as FLAE, "
            f"TRACE, MOSAIC, Read. (found: {', '.join(columns) if lines else 'no row'})."
        )
    if twice := [column for column, count in Counter(columns).items() if count > 1]:
        raise SystemExit(f"{path}: the column {twice[0] or 'without a name'} stands twice; delete the wrong one.")
    rows: dict[str, dict[str, float | str | None]] = {}
    repeated: dict[str, bool] = {}
    for number, cells in lines:
        where = f"{path}, line {number}"
        if len(cells) != len(columns):
            raise SystemExit(
                f"{where}: it has {len(cells)} cells, and the header has {len(columns)}; correct the line."
            )
        cell = dict(zip(columns, cells, strict=True))
        task = _task(cell[_ID], where)
        scores = {column: _score(cell[column], f"{where}: {column} of {task}") for column in SCORES if column in known}
        if task in rows:
            repeated[task] = repeated.get(task, False) or any(rows[task][name] != scores[name] for name in scores)
        rows[task] = {_ID: task, _SPLIT: cell.get(_SPLIT, "").strip() or _split(task), **scores}
    return ScoreTable(list(rows.values()), known, repeated)


def _read_lines(path: Path) -> tuple[list[str], Sequence[tuple[int, list[str]]]]:
    """The header, and the cells of each line that is not empty with the line's number in the file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = [cell.strip() for cell in next(reader, [])]
            return header, [(reader.line_num, cells) for cells in reader if cells]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SystemExit(f"The table {path} cannot be read ({error}): give a CSV file of task scores.") from None


def _task(cell: str, where: str) -> str:
    """The official name, however it is written: Q5 for "Q5", "5" and "Q05"."""
    hit = _TASK_ID.fullmatch(cell.strip())
    if hit is None or int(hit[1]) >= TASKS:
        raise SystemExit(f"{where}: {cell.strip()!r} is no Task ID of the benchmark (Q0 to Q{TASKS - 1}).")
    return f"Q{int(hit[1])}"


def _split(task: str) -> str:
    return "Daily" if int(task[1:]) >= FIRST_DAILY else "Research"


def _score(cell: str, where: str) -> float | None:
    if not cell.strip():
        return None
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise SystemExit(f"{where} is no number from 0 to 100 (found: {cell!r}).")
    return value
