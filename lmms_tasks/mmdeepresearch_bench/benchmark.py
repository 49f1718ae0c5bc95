"""MMDeepResearch-Bench as the command line, preflight and the manifest know it.

Read in every run of lmms-eval, whatever its tasks: what scoring needs is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.benchmarks import Benchmark, TaskSpec
from lmms_tasks.mmdeepresearch_bench import rows
from lmms_tasks.utils.check import Check

Rows = Sequence[Mapping[str, Any]]


def _breakdowns(task: TaskSpec, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    from lmms_tasks.mmdeepresearch_bench.leaderboard import run_tables
    from lmms_tasks.mmdeepresearch_bench.provenance import judging_record, prompt_record

    judging = judging_record(task.judge_use, task.on_samples)
    return {**run_tables(task, items), "judging": judging, "prompt": prompt_record()}


def _rubrics(task: TaskSpec) -> dict[str, Any]:
    """Ends the run with one sentence if a judge of the profile is given a rubric that there is not."""
    from lmms_tasks.mmdeepresearch_bench.verdicts import NAMES, rubrics_for
    from lmms_tasks.utils.judge import resolve

    profile = resolve(task.judge_use, task.on_samples).profile
    if profile is None:
        return rubrics_for("verdict")
    profile.check_rubrics(NAMES)
    return rubrics_for(profile.vqa)


def _check(task: TaskSpec) -> None:
    from lmms_tasks.mmdeepresearch_bench import truth
    from lmms_tasks.mmdeepresearch_bench.claims import pairs_are_official
    from lmms_tasks.mmdeepresearch_bench.evidence import check_mode
    from lmms_tasks.mmdeepresearch_bench.fetch import check_fetching
    from lmms_tasks.sources import load_rows

    pairs_are_official()
    check_mode()
    check_fetching()
    if task.on_samples:
        return
    if truth.truth_file() is None:
        logger.warning(
            f"{task.name}: without {truth.VARIABLE} (a file with the visual truth of each task, by id) mmdr_vef, trace, "
            "mmdr_overall and mmdr_overall_official are NaN; the metrics with _no_vef stand in for them."
        )
        return
    truth.check_truths(load_rows(task)["id"])


def _requirements(task: TaskSpec) -> Iterator[Check]:
    """What judging costs at the most: real tasks have no gold reports to count calls in."""
    from lmms_tasks.mmdeepresearch_bench.cost import most_of_a_report
    from lmms_tasks.utils.judge import resolve

    try:
        profile = resolve(task.judge_use, task.on_samples).profile
    except SystemExit:
        return  # told where judges are looked at
    if task.on_samples or profile is None or profile.offline:
        return
    for judge in profile.judges:
        cost = most_of_a_report(judge, profile.vqa)
        money = "" if cost["dollars"] is None else f", ${cost['dollars']:.3f}"
        found = (
            f"at most {cost['calls']} calls a report, {cost['images']} images in them, about "
            f"{cost['prompt_tokens']:,} tokens of prompts{money}; times 140 for all tasks"
        )
        yield Check(f"{task.name} by {judge.name}", None, found, facts=cost)


def _read_answers(task: TaskSpec, paths: Sequence[Path], answered: Rows) -> dict[Path, dict[int, list[str]]]:
    from lmms_tasks.mmdeepresearch_bench.reports import check_folder, read_reports

    for path in paths:
        check_folder(path, task.name)
    return {path: found for path in paths if (found := read_reports(path, answered)) is not None}


def _table(task: TaskSpec, path: Path) -> dict[str, Any]:
    from lmms_tasks.mmdeepresearch_bench.leaderboard import table

    return table(task, path)


def _export(task: TaskSpec, items: Mapping[str, Sequence[Mapping[str, Any]]], start: Path) -> list[Path]:
    from lmms_tasks.mmdeepresearch_bench.leaderboard import export

    return export(task, items, start)


def _columns(task: TaskSpec) -> dict[str, str]:
    from lmms_tasks.mmdeepresearch_bench.task_scores import DIMENSIONS

    modules = {"flae": "FLAE", "trace": "TRACE", "mosaic": "MOSAIC"}
    totals = {"mmdr_overall": "Overall (task card)", "mmdr_overall_official": "Overall (official)"}
    return {**totals, **modules, **DIMENSIONS}


def _published(task: TaskSpec) -> list[dict[str, Any]]:
    from lmms_tasks.mmdeepresearch_bench.published import published

    return published(task)


BENCHMARK = Benchmark(
    name="mmdeepresearch_bench",
    title="MMDeepResearch-Bench",
    data_variable="MMDR_DATA",
    variables=("MMDR_VEF_GT", "MMDR_PAIRS", "LMMS_TASKS_FETCH", "LMMS_TASKS_FETCH_CONTACT", "LMMS_TASKS_FETCH_PROXY"),
    schema=rows.SCHEMAS.__getitem__,
    breakdowns=_breakdowns,
    rubrics=_rubrics,
    requirements=_requirements,
    check=_check,
    local_files=lambda task, source: rows.local_files(source),
    read_answers=_read_answers,
    table=_table,
    columns=_columns,
    published=_published,
    export=_export,
)
