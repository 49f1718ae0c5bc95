"""Tables in the official column format: reading one row a task, aggregating as the leaderboard does, exporting ours.

The columns and the arithmetic are those of `detail/leaderboard_export.py` of AIoT-MLSys-Lab/MMDeepResearch-Bench
(64307c8). Totals are computed from the modules and never read from a file. Scores are in [0, 100].
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.mmdeepresearch_bench.mosaic import mean_of_present
from lmms_tasks.mmdeepresearch_bench.overall import card_overall, official_overall, validity
from lmms_tasks.utils.manifest import grouped_means
from lmms_tasks.utils.statistics import mean

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

_TASK_ID = re.compile(r"Q\d{1,4}")
# The key under which a row's line is kept while the table is read; no column can bear it.
_LINE = ("line",)

TaskScores = Mapping[str, "float | str | None"]


def read_task_scores(path: Path) -> list[dict[str, float | str | None]]:
    """Rows of a task score table, numbers as floats and empty cells as None; of a task that stands twice, the last.

    Raises:
        SystemExit: the file is no such table, a line is wider or narrower than its header, a Task ID is none, or a cell
            is no number in [0, 100]; the sentence names it.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            raw = [{**row, _LINE: reader.line_num} for row in reader]
            columns = list(reader.fieldnames or ())
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"The table {path} cannot be read ({error}): give a CSV file of task scores.") from None
    known = {*MODULES, *DIMENSIONS.values()}
    if not raw or "Task ID" not in raw[0] or not known & raw[0].keys():
        raise SystemExit(
            f"{path} is no table of task scores: it needs one row a task, a column Task ID and columns such as FLAE, "
            f"TRACE, MOSAIC, Read. (found: {', '.join(columns) if raw else 'no row'})."
        )
    if twice := [column for column, count in Counter(columns).items() if count > 1]:
        raise SystemExit(f"{path}: the column {twice[0]} stands twice; which one holds? Delete the other.")
    rows = {}
    for row in raw:
        where = f"{path}, line {row[_LINE]}"
        if None in row or None in row.values():
            raise SystemExit(
                f"{where} has more or fewer cells than the {len(columns)} of the header: correct the file."
            )
        row["Task ID"] = row["Task ID"].strip()
        if not _TASK_ID.fullmatch(row["Task ID"]) or int(row["Task ID"][1:]) >= TASKS:
            raise SystemExit(f"{where}: {row['Task ID']!r} is no Task ID of the benchmark (Q0 to Q{TASKS - 1}).")
        scores = {column: _number(row[column], row["Task ID"], column, path) for column in known & row.keys()}
        rows[row["Task ID"]] = {
            "Task ID": row["Task ID"],
            "Split": row.get("Split") or _split(row["Task ID"]),
            **scores,
        }
    return list(rows.values())


def repeated_tasks(path: Path) -> list[str]:
    """The Task IDs that stand in several lines of a table that `read_task_scores` takes."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        counts = Counter(row["Task ID"].strip() for row in csv.DictReader(file))
    return [task for task, count in counts.items() if count > 1]


def table(task: Any, path: Path) -> dict[str, Any]:
    """Aggregate a table of scores, one row a task, without rows, judges or a truth file.

    Args:
        task: the `TaskSpec`; its name stands in the results.
        path: a CSV file in the official columns.

    Returns:
        `results` (shaped as lmms-eval's, the card's recipe and the official total), `leaderboard` (the official
        columns, two digits), `metrics` (the same unrounded), `row_totals` (official total of each task), `splits`, `n`
        of each column in `results` and `n_leaderboard` in `leaderboard`, which holds complete rows alone, `complete`, `partial` (true unless exactly 140 tasks are complete) and `notes` (sentences).
        NaN where a column is missing.
    """
    rows = read_task_scores(path)
    present = {column for row in rows for column in row}
    notes = []
    if repeated := repeated_tasks(path):
        notes.append(f"{', '.join(repeated)} stand in several lines; the last line counts, by the official rule.")
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
    return {
        "results": {task.name: {"alias": task.name, **_results(rows, present, metrics["Overall"])}},
        "model": path.name.split(".")[0],
        "leaderboard": {column: round(value, 2) for column, value in metrics.items()},
        "metrics": metrics,
        "row_totals": {row["Task ID"]: row_total(row) for row in rows},
        "splits": {
            split: {"n": len(part), **leaderboard_row(part)}
            for split in sorted({str(row["Split"]) for row in complete})
            if (part := [row for row in complete if row["Split"] == split])
        },
        "n": _counts(rows),
        "n_leaderboard": _counts(complete),
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


def _results(rows: Sequence[TaskScores], present: set[str], official: float) -> dict[str, float]:
    modules = [card_modules(row) for row in rows]
    totals = [card_overall(**row) for row in modules]
    if not set(CONDITIONAL) <= present:
        totals = [math.nan]
        modules = [{**row, "mosaic": math.nan} for row in modules]
    scored = [value for value in totals if not math.isnan(value)]
    missing = [None if not math.isnan(value) else "unknown" for value in totals]
    known = bool(scored)
    share = validity(missing) if known else math.nan
    results = {
        "mmdr_overall": mean(scored) * share if known else math.nan,
        "mmdr_overall_zeroed": math.fsum(scored) / TASKS if known else math.nan,
        "validity": share,
        **{name: mean(row[name] for row in modules) for name in _BY_MODULE},
        **{name: leaderboard_row(rows)[column] for name, column in DIMENSIONS.items()},
        "mmdr_overall_official": official,
    }
    return {f"{name},none": value for name, value in results.items()}


def _counts(rows: Sequence[TaskScores]) -> dict[str, int]:
    return {column: sum(row.get(column) is not None for row in rows) for column in (*MODULES, *DIMENSIONS.values())}


def _is_complete(row: TaskScores, present: Any) -> bool:
    """Whether every dimension and module that is always there has a number; absent columns cost no row."""
    needed = [*MODULES, *(column for column in DIMENSIONS.values() if column not in CONDITIONAL)]
    return all(row.get(column) is not None for column in needed if column in present)


def _split(task_id: str) -> str:
    number = task_id.removeprefix("Q")
    return "Daily" if number.isdigit() and int(number) >= 100 else "Research"


def _number(cell: str | None, task_id: str, column: str, path: Path) -> float | None:
    if cell is None or not cell.strip():
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise SystemExit(f"{path}: {column} of {task_id} is no number from 0 to 100 (found: {cell!r}).")
    return value


def _cell(value: float | str | None, digits: int) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{round(value, digits)}"
    return "" if value is None else str(value)
