"""Tables in the official column format: aggregating as the leaderboard does, exporting ours.

The arithmetic is that of `detail/leaderboard_export.py` of AIoT-MLSys-Lab/MMDeepResearch-Bench
(64307c8). Totals are computed from the modules and never read from a file. Scores are in [0, 100].
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.mmdeepresearch_bench.mosaic import mean_of_present
from lmms_tasks.mmdeepresearch_bench.overall import card_overall, official_overall, validity
from lmms_tasks.mmdeepresearch_bench.task_scores import (
    DIMENSIONS,
    MODULES,
    SCORES,
    TASKS,
    TaskScores,
    read_score_table,
)
from lmms_tasks.utils.manifest import grouped_means
from lmms_tasks.utils.statistics import mean

_BY_MODULE = {
    "flae": ("Read.", "Insh.", "Stru."),
    "trace": ("Vef.", "Con.", "Cov.", "Fid."),
    "mosaic": ("Sem.", "Acc.", "VQA"),
}
# Present only where the dimension was routed and scored; a mean of them is over those tasks.
CONDITIONAL = ("Sem.", "Acc.", "VQA")
LEADERBOARD_COLUMNS = ("Overall", *DIMENSIONS.values())
_HEADER = (
    "Task ID",
    "Split",
    "Overall",
    "Stored Overall",
    "Overall Delta",
    "FLAE",
    *_BY_MODULE["flae"],
    "TRACE",
    *_BY_MODULE["trace"],
    "MOSAIC",
    *CONDITIONAL,
    "Complete",
)


def table(task: Any, path: Path) -> dict[str, Any]:
    """Aggregate a table of scores, one row a task, without rows, judges or a truth file.

    Args:
        task: the `TaskSpec`; its name stands in the results.
        path: a CSV file in the official columns.

    Returns:
        `results` (shaped as lmms-eval's, the card's recipe and the official total; `mmdr_overall_zeroed` is over all 140
        tasks), `leaderboard` (the official columns, two digits), `metrics` (the same unrounded), `row_totals` (official
        total of each task), `splits` (the leaderboard of each), `notes` (sentences), `complete` (rows), `partial` (true
        unless exactly 140 tasks are complete). How many rows are behind a mean: `n` by column and `n.mmdr_overall` for
        `results`, `n_leaderboard` for `leaderboard`, which holds complete rows alone, and `n_columns` in a split. NaN
        where a column is missing.
    """
    read = read_score_table(path)
    rows, present = read.rows, read.columns
    notes = read.notes()
    if lost := [column for column in MODULES if column not in present]:
        notes.append(
            f"{path.name} has no column {', '.join(lost)}, so the official total is NaN: it is computed from FLAE, TRACE "
            "and MOSAIC."
        )
    if lost := [column for column in DIMENSIONS.values() if column not in present]:
        notes.append(f"{path.name} has no column {', '.join(lost)}, so the numbers that need it are NaN.")
    complete = [row for row in rows if _is_complete(row, present)]
    if len(complete) != TASKS:
        notes.append(f"{len(complete)} of {len(rows)} rows are complete and {TASKS} make a leaderboard row: partial.")
    for note in notes:
        logger.warning(note)
    metrics = leaderboard_row(complete)
    totals = _card_totals(rows, present)
    results = _results(rows, present, totals, metrics["Overall"])
    return {
        "results": {task.name: {"alias": task.name, **{f"{name},none": value for name, value in results.items()}}},
        "model": path.name.split(".")[0],
        "leaderboard": {column: round(value, 2) for column, value in metrics.items()},
        "metrics": metrics,
        "row_totals": {row["Task ID"]: row_total(row) for row in rows},
        "splits": {
            split: {"n": len(part), "n_columns": _leaderboard_counts(part), **leaderboard_row(part)}
            for split in sorted({str(row["Split"]) for row in complete})
            if (part := [row for row in complete if row["Split"] == split])
        },
        "n": {**_counts(rows), "mmdr_overall": len(_numbers(totals))},
        "n_leaderboard": _leaderboard_counts(complete),
        "complete": len(complete),
        "partial": len(complete) != TASKS,
        "notes": notes,
    }


def leaderboard_row(rows: Sequence[TaskScores]) -> dict[str, float]:
    """The eleven columns: means over the rows, of `CONDITIONAL` over the rows that have a value; NaN without one."""
    means = {"Overall": mean(row_total(row) for row in rows)}
    for column in DIMENSIONS.values():
        values = [row.get(column) for row in rows]
        if column in CONDITIONAL:
            values = [value for value in values if value is not None]
        means[column] = mean(math.nan if value is None else value for value in values)
    return means


def row_total(row: TaskScores) -> float:
    """The official total of one task, from its modules alone; NaN if one is missing."""
    modules = [row.get(column) for column in MODULES]
    return math.nan if None in modules else official_overall(*modules)


def card_modules(row: TaskScores) -> dict[str, float]:
    """The card's module scores of one task: means of their dimensions, of the ones that apply for `mosaic`.

    `mosaic` is 0 without any of its dimensions: that is how the official table writes a closed gate.
    """
    modules = {}
    for name, columns in _BY_MODULE.items():
        values = [row.get(column) for column in columns]
        if name == "mosaic":
            modules[name] = mean_of_present(values, empty=0.0)
        else:
            modules[name] = math.nan if None in values else mean(values)
    return modules


def write_task_scores(rows: Sequence[TaskScores], path: Path) -> None:
    """Write a table in the official columns: UTF-8 with BOM, six digits, the total from the modules with four.

    The stored total is the same with three digits, as the official pipeline keeps it; paths and hashes are left out.
    """
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, _HEADER)
        writer.writeheader()
        for row in rows:
            cells = {column: _cell(row.get(column), 6) for column in _HEADER}
            total = row_total(row)
            totals = {
                "Overall": _cell(total, 4),
                "Stored Overall": _cell(total, 3),
                "Overall Delta": _cell(abs(total - round(total, 3)), 4),
            }
            writer.writerow({**cells, **totals, "Complete": _is_complete(row, _HEADER)})


def write_leaderboard(model: str, rows: Sequence[TaskScores], path: Path) -> None:
    """Write the leaderboard row of a model in the official columns, two digits."""
    means = leaderboard_row([row for row in rows if _is_complete(row, _HEADER)])
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("Model", *LEADERBOARD_COLUMNS))
        writer.writerow((model, *(_cell(means[column], 2) for column in LEADERBOARD_COLUMNS)))


def run_tables(task: Any, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """What a run's manifest tells beside the metrics: splits with n, counts, and the official table of our judgements.

    `leaderboard` is in the official columns and arithmetic; with judges other than the official ones it is comparable
    only with tables of the same judges.
    """
    records = items["judged_coverage"]
    rows = _task_scores(records)
    metrics = [metric.name for metric in task.metrics if not metric.name.endswith(("_n", "_failures"))]
    keys = ("regime", "language", "difficulty")
    tables: dict[str, Any] = {
        f"by_{key}": grouped_means(items, metrics, [record[key] for record in records]) for key in keys
    }
    complete = [row for row in rows if _is_complete(row, _HEADER)]
    return {
        **tables,
        "counts": _sums(records),
        "unscored": dict(Counter(str(record["reason"]) for record in records if not record["score"])),
        "task_scores": rows,
        "leaderboard": {column: round(value, 2) for column, value in leaderboard_row(complete).items()},
        "complete": len(complete),
        "partial": len(complete) != TASKS,
    }


def export(task: Any, items: Mapping[str, Sequence[Mapping[str, Any]]], start: Path) -> list[Path]:
    """Write a run's scores in the official columns: one row a task, and the leaderboard row.

    Args:
        start: folder and beginning of the names; the second file is named partial unless 140 tasks are complete.
    """
    rows = _task_scores(items["judged_coverage"])
    partial = "" if sum(_is_complete(row, _HEADER) for row in rows) == TASKS else "partial_"
    scores = start.with_name(f"{start.name}_{task.name}_task_scores.csv")
    row = start.with_name(f"{start.name}_{task.name}_{partial}leaderboard.csv")
    write_task_scores(rows, scores)
    write_leaderboard(task.name, rows, row)
    return [scores, row]


def _task_scores(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"Task ID": record["task"], "Split": record["regime"].capitalize(), **record["columns"]} for record in records
    ]


def _sums(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums of what was counted in each report; pages by state."""
    total: Counter[str] = Counter()
    pages: Counter[str] = Counter()
    for record in records:
        for counts in record["counts"]:
            pages.update(counts.get("pages", {}))
            total.update({name: int(value) for name, value in counts.items() if name != "pages"})
    return {**total, "pages": dict(pages)}


def _card_totals(rows: Sequence[TaskScores], present: Collection[str]) -> list[float]:
    """The card's total of each task, NaN where it lacks a dimension."""
    if not set(CONDITIONAL) <= set(present):
        return [math.nan] * len(rows)
    return [card_overall(**card_modules(row)) for row in rows]


def _results(
    rows: Sequence[TaskScores], present: Collection[str], totals: Sequence[float], official: float
) -> dict[str, float]:
    modules = [card_modules(row) for row in rows]
    if not set(CONDITIONAL) <= set(present):
        modules = [{**row, "mosaic": math.nan} for row in modules]
    scored = _numbers(totals)
    share = validity("unknown" if math.isnan(total) else None for total in totals) if scored else math.nan
    means = leaderboard_row(rows)
    return {
        "mmdr_overall": mean(scored) * share if scored else math.nan,
        "mmdr_overall_zeroed": math.fsum(scored) / TASKS if scored else math.nan,
        "validity": share,
        **{name: mean(row[name] for row in modules) for name in _BY_MODULE},
        **{name: means[column] for name, column in DIMENSIONS.items()},
        "mmdr_overall_official": official,
    }


def _numbers(values: Iterable[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _counts(rows: Sequence[TaskScores]) -> dict[str, int]:
    return {column: sum(row.get(column) is not None for row in rows) for column in SCORES}


def _leaderboard_counts(rows: Sequence[TaskScores]) -> dict[str, int]:
    """How many rows are behind each of the eleven columns."""
    return {"Overall": len(_numbers(map(row_total, rows))), **{c: _counts(rows)[c] for c in DIMENSIONS.values()}}


def _is_complete(row: TaskScores, present: Any) -> bool:
    """Whether every dimension and module that is always there has a number; absent columns cost no row."""
    needed = [*MODULES, *(column for column in DIMENSIONS.values() if column not in CONDITIONAL)]
    return all(row.get(column) is not None for column in needed if column in present)


def _cell(value: float | str | None, digits: int) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{round(value, digits)}"
    return "" if value is None else str(value)
