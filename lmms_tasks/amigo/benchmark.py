"""AMIGO as the command line, preflight and the manifest know it.

Read in every run of lmms-eval, whatever its tasks: what playing and scoring need is imported when it is asked for.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import Benchmark, TaskSpec
from lmms_tasks.utils.check import Check

VARIABLE = "AMIGO_DATA"


def _schema(configuration: str) -> Any:
    from lmms_tasks.amigo.rows import EPISODES

    return EPISODES


def _breakdowns(task: TaskSpec, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    from lmms_tasks.amigo.diagnostics import breakdowns

    return breakdowns(items["identification_success"], items)


def _check(task: TaskSpec) -> None:
    from lmms_tasks.amigo import transcript
    from lmms_tasks.lockstep import live_episodes

    transcript.begin_run()
    live_episodes()
    _protocol(task)
    if task.on_samples:
        return
    if not os.environ.get(VARIABLE, "").strip():
        raise SystemExit(
            f"{task.name} has no public data set: set {VARIABLE} to a .json, .jsonl or .parquet file (or a folder with one "
            "named episodes) of one episode a row with the columns episode_id (text), images (list of images or paths, in "
            "order), gold_idx (1 to the number of images) and, for an oracle that needs no model, attributes (a list of one "
            "table {slot: value} an image); `lmms-tasks prepare amigo` builds it, and amigo_synthetic runs without."
        )


def _check_play(task: TaskSpec) -> None:
    """Transcripts are scored without an oracle, so tables and oracle are looked at where a model plays."""
    if task.on_samples or not os.environ.get(VARIABLE, "").strip():
        return
    from lmms_tasks.amigo.oracle import RUBRIC, has_tables, oracle_panel
    from lmms_tasks.amigo.rows import check_tables
    from lmms_tasks.sources import load_rows

    rows = load_rows(task)
    check_tables(rows, _protocol(task))
    if not all(has_tables(row) for row in rows):
        oracle_panel().check([RUBRIC])


def _requirements(task: TaskSpec) -> Iterator[Check]:
    """A vision-language oracle answers, where rows without tables need one."""
    from lmms_tasks.amigo.oracle import has_tables, oracle_panel
    from lmms_tasks.sources import load_rows
    from lmms_tasks.utils.judge.health import judge_checks

    if task.on_samples or not os.environ.get(VARIABLE, "").strip():
        return
    try:
        panel = None if all(has_tables(row) for row in load_rows(task)) else oracle_panel()
    except SystemExit:
        return  # told by the check of the rows
    if panel is not None:
        yield from judge_checks(panel, "oracle")


def _protocol(task: TaskSpec) -> Any:
    from lmms_tasks.amigo.episode import Protocol

    return Protocol.read((task.config.get("lmms_eval_specific_kwargs") or {}).get("default"))


def _read_answers(
    task: TaskSpec, paths: Sequence[Path], rows: Sequence[Mapping[str, Any]]
) -> dict[Path, dict[int, list[str]]]:
    from lmms_tasks.amigo.recorded import read_recorded

    return read_recorded(paths, rows, _protocol(task))


def _across(runs: Sequence[tuple[TaskSpec, Sequence[Mapping[str, Any]]]]) -> dict[str, dict[str, dict[str, float]]]:
    from lmms_tasks.amigo.diagnostics import noise_tolerance

    tables = {}
    for name, on_samples in (("amigo", False), ("amigo_synthetic", True)):
        own = [item for task, items in runs if task.on_samples == on_samples for item in items]
        levels = noise_tolerance([record for item in own for record in item.get("episodes", ())])
        if levels:
            tables[f"{name}: noise tolerance"] = {f"noise {level}": row for level, row in levels.items()}
    return tables


def _rubrics(task: TaskSpec) -> dict[str, Any]:
    from lmms_tasks.amigo.oracle import RUBRIC

    return {} if task.on_samples else {RUBRIC.name: RUBRIC}


def _columns(task: TaskSpec) -> dict[str, str]:
    return {
        "identification_success": "Identification success",
        "protocol_compliance": "Protocol compliance",
        "efficiency": "Efficiency (turns)",
    }


def _published(task: TaskSpec) -> str:
    return (
        "AMIGO has no public data set, so galleries, questions and oracle of published runs are others: none of their "
        "numbers compares with these"
    )


def _prepare(parser: argparse.ArgumentParser) -> None:
    from lmms_tasks.amigo.prepare import add_options

    add_options(parser)


BENCHMARK = Benchmark(
    name="amigo",
    title="AMIGO (episodes against an oracle)",
    data_variable=VARIABLE,
    variables=("AMIGO_TRANSCRIPTS",),
    requirements=_requirements,
    schema=_schema,
    breakdowns=_breakdowns,
    rubrics=_rubrics,
    check=_check,
    check_images=_check_play,
    read_answers=_read_answers,
    across=_across,
    columns=_columns,
    published=_published,
    prepare=_prepare,
)
