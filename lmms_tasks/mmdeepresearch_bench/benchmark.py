"""MMDeepResearch-Bench as the command line, preflight and the manifest know it.

Read in every run of lmms-eval, whatever its tasks: what scoring needs is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.benchmarks import Benchmark, TaskSpec
from lmms_tasks.mmdeepresearch_bench import rows

Rows = Sequence[Mapping[str, Any]]


def _breakdowns(task: TaskSpec, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    from lmms_tasks.mmdeepresearch_bench.leaderboard import run_tables

    return run_tables(task, items)


def _rubrics(task: TaskSpec) -> dict[str, Any]:
    from lmms_tasks.mmdeepresearch_bench.verdicts import RUBRICS

    return RUBRICS


def _check(task: TaskSpec) -> None:
    from lmms_tasks.mmdeepresearch_bench import truth
    from lmms_tasks.mmdeepresearch_bench.evidence import check_mode
    from lmms_tasks.sources import load_rows

    if task.on_samples:
        return
    check_mode()
    if truth.truth_file() is None:
        logger.warning(
            f"{task.name}: without {truth.VARIABLE} (a file with the visual truth of each task, by id) mmdr_vef, trace, "
            "mmdr_overall and mmdr_overall_official are NaN; the metrics with _no_vef stand in for them."
        )
        return
    truth.check_truths(load_rows(task)["id"])


def _read_answers(task: TaskSpec, path: Path, answered: Rows) -> dict[int, list[str]] | None:
    from lmms_tasks.mmdeepresearch_bench.reports import read_reports

    return read_reports(path, answered)


def _table(task: TaskSpec, path: Path) -> dict[str, Any]:
    from lmms_tasks.mmdeepresearch_bench.leaderboard import table

    return table(task, path)


BENCHMARK = Benchmark(
    name="mmdeepresearch_bench",
    title="MMDeepResearch-Bench",
    data_variable="MMDR_DATA",
    variables=("MMDR_VEF_GT", "MMDR_PAIRS", "LMMS_TASKS_FETCH", "LMMS_TASKS_FETCH_CONTACT", "LMMS_TASKS_FETCH_PROXY"),
    schema=rows.SCHEMAS.__getitem__,
    breakdowns=_breakdowns,
    rubrics=_rubrics,
    check=_check,
    local_files=lambda task, source: rows.local_files(source),
    read_answers=_read_answers,
    table=_table,
)
