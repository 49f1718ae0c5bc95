"""The report as Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re

from lmms_tasks.report import summary
from lmms_tasks.report.across import across_by_model, across_lines
from lmms_tasks.report.intervals import INTERVALS, Estimate, estimate
from lmms_tasks.report.runs import Runs


def number(value: float) -> str:
    """A value as lmms-eval's table prints it."""
    return "NaN" if value != value else f"{value:.4f}"


def span(found: Estimate) -> str:
    """An interval, or why all rows together tell of none; empty where none is due."""
    return found.missing if found.low is None or found.high is None else f"{found.low:.4f} to {found.high:.4f}"


def markdown(runs: Runs) -> str:
    """One table a task, one line a run and metric."""
    lines = []
    for title, tasks in summary.by_benchmark(runs.tasks).items():
        lines += [f"## {_cell(title)}", ""]
        for name, members in tasks.items():
            lines += [f"### {_cell(name)}", ""]
            lines += [
                "| run | metric | | value | 95 % interval | n | rows | coverage | judges |",
                "|---|---|---|---:|---|---:|---:|---:|---|",
            ]
            for run in members:
                share = summary.coverage(run)
                told = "" if share is None else summary.percent(share)
                for metric in run.metrics:
                    found = estimate(run, metric.name)
                    arrow = "↑" if metric.higher_is_better else "↓"
                    cells = (run.label, metric.name, arrow, number(found.value), span(found), str(found.n))
                    behind = (summary.rows_told(run), told, summary.judges(run))
                    lines.append(f"| {' | '.join(map(_cell, (*cells, *behind)))} |")
            lines.append("")
    for model, found in across_by_model(runs.tasks).items():
        lines += [f"## {_cell(model)}", *across_lines(found), ""]
    groups = [
        f"| {_cell(g.name)} | {_cell(g.label)} | {m} | {number(v)} |" for g in runs.groups for m, v in g.values.items()
    ]
    if groups:
        lines += ["## Groups", "", "| group | run | metric | value |", "|---|---|---|---:|", *groups, ""]
    lines += [_cell(INTERVALS), ""]
    clocks = dict.fromkeys(f"{run.label}: {summary.clock_told(run)}" for run in runs.tasks)
    lines += ["## Dates", "", *(f"- {_cell(told)}" for told in clocks), ""]
    if runs.notes:
        lines += ["## Notes", "", *(f"- {_cell(note)}" for note in runs.notes), ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text that stays inside its cell and means nothing to Markdown or HTML."""
    text = " ".join(str(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*\[\]|~])", r"\\\1", text)


def comma_separated(runs: Runs) -> str:
    """One line a run and metric, at full precision; empty cells where there is no number."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(
        ("benchmark", "task", "run", "model", "date", "metric", "higher_is_better", "value", "low", "high", "interval", "n", "rows", "rows_in_data", "coverage", "judges")
    )  # fmt: skip
    for run in runs.tasks:
        share = summary.coverage(run)
        for metric in run.metrics:
            found = estimate(run, metric.name)
            numbers = [_exact(value) for value in (found.value, found.low, found.high)]
            about = (run.spec.benchmark.name, run.name, run.label, run.model, run.date)
            behind = (found.about, found.n, run.rows, run.whole or "", _exact(share), summary.judges(run))
            writer.writerow((*about, metric.name, str(metric.higher_is_better).lower(), *numbers, *behind))
    return written.getvalue()


def _exact(value: float | None) -> str:
    return "" if value is None or value != value else repr(value)
