"""What only several tasks of one model together show, as each benchmark declares it (`Benchmark.across`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_tasks.benchmarks import Benchmark, TaskSpec
from lmms_tasks.report.runs import TaskRun

Records = Sequence[Mapping[str, Any]]
Tables = dict[str, dict[str, dict[str, float]]]


def across_tasks(tasks: Sequence[tuple[TaskSpec, Records]]) -> Tables:
    """The tables of all benchmarks by heading, from each task of one model with its rows' records."""
    members: dict[str, tuple[Benchmark, list[tuple[TaskSpec, Records]]]] = {}
    for task, records in tasks:
        members.setdefault(task.benchmark.name, (task.benchmark, []))[1].append((task, records))
    return {heading: table for benchmark, own in members.values() for heading, table in benchmark.across(own).items()}


def across_runs(runs: Sequence[TaskRun]) -> Tables:
    """The same from runs that were read back; of several runs of a task the latest counts."""
    # Clocks may differ from run to run; where all are known, UTC tells which came last.
    known = all(run.utc for run in runs)
    latest = {run.name: run for run in sorted(runs, key=lambda run: (known and run.utc) or run.date)}
    return across_tasks([(run.spec, [sample.record for sample in run.samples]) for run in latest.values()])


def across_by_model(runs: Sequence[TaskRun]) -> dict[str, Tables]:
    """The tables of each model that has any."""
    of_model: dict[str, list[TaskRun]] = {}
    for run in runs:
        of_model.setdefault(run.model, []).append(run)
    return {model: tables for model, own in of_model.items() if (tables := across_runs(own))}


def across_lines(tables: Tables) -> list[str]:
    """The tables as Markdown, a heading above each."""
    lines: list[str] = []
    for heading, table in tables.items():
        columns = list(next(iter(table.values())))
        lines += ["", heading, f"| |{'|'.join(columns)}|", f"|---|{'---:|' * len(columns)}"]
        lines += [f"|{name}|{'|'.join(_told(row[column]) for column in columns)}|" for name, row in table.items()]
    return lines


def _told(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else "NaN" if value != value else f"{value:.4f}"
