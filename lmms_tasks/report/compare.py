"""Two runs held against each other, row by row: what differs, how sure that is, and whether they can be compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from lmms_tasks.report.across import across_lines, across_runs
from lmms_tasks.report.intervals import cluster
from lmms_tasks.report.paired import Difference, paired_differences
from lmms_tasks.report.runs import (
    ABOUT_THE_RUN,
    STRICT,
    WITHOUT_NUMBER,
    Runs,
    Sample,
    TaskRun,
    ordered_metrics,
    primary_metric,
)
from lmms_tasks.report.summary import coverage, percent, rows_told
from lmms_tasks.utils.statistics import MINIMUM_COVERAGE, mean

Pair = tuple[Sample, Sample]
_ROWS_TOLD = 12


def compare(a: Runs, b: Runs) -> dict[str, Any]:
    """Every task that both runs have; differences are B minus A.

    Raises:
        SystemExit: no task is in both, a side holds two runs of a task, or a task's rows cannot be paired.
    """
    first, second = _one_each(a, "RUN_A"), _one_each(b, "RUN_B")
    shared = [name for name in first if name in second]
    across = _across(a, b, bool(shared))
    if not shared and not across:
        raise SystemExit(
            f"The runs have no task of ours in common ({', '.join(first)} against {', '.join(second)}); give two runs of "
            "one task."
        )
    notes = [f"{name} is in one run only." for name in sorted(first.keys() ^ second.keys())]
    averaged = sorted({group.name for group in (*a.groups, *b.groups) if group.values})
    if averaged:
        notes.append(
            f"not compared: the averages of {', '.join(averaged)}, because a group's number is a mean of its tasks' numbers "
            "and has no rows of its own."
        )
    if not shared and (models := {run.model for run in (*a.tasks, *b.tasks)}) and len(models) > 1:
        notes.append(f"A and B are of different models ({', '.join(sorted(models))}), which may be why they differ.")
    return {
        "a": first[shared[0] if shared else next(iter(first))].label,
        "b": second[shared[0] if shared else next(iter(second))].label,
        "tasks": {name: compare_task(first[name], second[name]) for name in shared},
        "across": across,
        "notes": notes,
    }


def _across(a: Runs, b: Runs, shared: bool) -> dict[str, Any]:
    """What several tasks together show: within each run, or, where the runs have no task in common, of both together."""
    sides = {"A": a.tasks, "B": b.tasks} if shared else {"A and B": [*a.tasks, *b.tasks]}
    return {side: tables for side, runs in sides.items() if (tables := across_runs(runs))}


def _one_each(runs: Runs, side: str) -> dict[str, TaskRun]:
    found: dict[str, TaskRun] = {}
    for run in runs.tasks:
        if run.name in found:
            raise SystemExit(
                f"{side} holds two runs of {run.name} ({found[run.name].date} and {run.date}); name the *_results.json of "
                "one of them."
            )
        found[run.name] = run
    return found


def compare_task(a: TaskRun, b: TaskRun) -> dict[str, Any]:
    """One task: warnings, the difference of each metric over all rows and within each category, and the rows that changed.

    Rows are paired by their position and resampled by cluster. A metric that is no mean over rows has no paired
    difference; `not_compared` says so of each.
    """
    pairs, warnings = _pairs(a, b)
    warnings = [*reasons_for_doubt(a, b), *warnings]
    reasons = {metric.name: _reason_against(a, b, pairs, metric.name) for metric in ordered_metrics(a.spec)}
    names = [name for name, reason in reasons.items() if reason is None]
    if not names:
        warnings.append("no row was scored in both runs, so nothing can be compared.")
    overall = _differences(pairs, names)
    primary = primary_metric(a.spec)
    return {
        "warnings": warnings,
        "rows": len(pairs),
        "metrics": overall,
        "not_compared": {name: reason for name, reason in reasons.items() if reason},
        "higher_is_better": {m.name: m.higher_is_better for m in a.spec.metrics if m.name in names},
        "categories": {
            key: {
                group: {"rows": len(members), "metrics": _differences(members, names)}
                for group, members in groups.items()
            }
            for key, groups in _groups(a, pairs).items()
        },
        "flipped": {"metric": primary.name, **_flipped(pairs, primary.name, primary.higher_is_better)},
    }


def reasons_for_doubt(a: TaskRun, b: TaskRun) -> list[str]:
    """What makes the two runs differ beside the model, one sentence each."""
    if not a.manifest or not b.manifest:
        return ["a manifest is missing: whether judges, prompts, data and versions agree cannot be told."]
    doubts = []

    def differ(what: str, of: Any) -> None:
        left, right = of(a.manifest), of(b.manifest)
        if left != right:
            doubts.append(f"{what} differ: {_told(left)} in A, {_told(right)} in B.")

    differ("the judges", lambda manifest: _panel(manifest.get("panel")))
    differ(
        "the models that answered as judges",
        lambda manifest: {name: did.get("models") for name, did in (manifest.get("judges") or {}).items()},
    )
    differ("the judges' prompts", lambda manifest: _short_hashes(manifest.get("rubrics") or {}))
    differ("the rows", lambda manifest: str((manifest.get("data") or {}).get("fingerprint") or "not told")[:12])
    differ("the versions", lambda manifest: manifest.get("versions"))
    differ("the task's versions", lambda manifest: manifest.get("task_version"))
    differ("the model's prompts", lambda manifest: _prompts(manifest.get("breakdowns") or {}))
    for run, side in ((a, "A"), (b, "B")):
        if run.partial and not run.limited:
            doubts.append(f"{side} is over {rows_told(run)} rows.")
        share = coverage(run)
        if share is not None and not share >= MINIMUM_COVERAGE:
            doubts.append(
                f"only {percent(share)} of the rows of {side} are judged: those that are may be the easy ones."
            )
    return doubts


def _panel(panel: Mapping[str, Any] | None) -> Any:
    if not panel:
        return "none"
    judges = [[j.get(key) for key in ("name", "model", "temperature", "generations")] for j in panel.get("judges", ())]
    return {"profile": panel.get("profile"), "judges": judges}


def _short_hashes(rubrics: Mapping[str, str]) -> dict[str, str]:
    return {name: digest[:12] for name, digest in rubrics.items()}


def _prompts(breakdowns: Mapping[str, Any]) -> Any:
    return breakdowns.get("prompt", breakdowns.get("prompts"))


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_told(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list):
        return " + ".join(_told(inner) for inner in value) or "none"
    return "default" if value is None else str(value)


def _pairs(a: TaskRun, b: TaskRun) -> tuple[list[Pair], list[str]]:
    for run, side in ((a, "RUN_A"), (b, "RUN_B")):
        if not run.samples:
            raise SystemExit(f"{side} has no sample log of {run.name} that can be read: {' '.join(run.log_faults)}")
        if any(sample.doc_id is None for sample in run.samples):
            raise SystemExit(f"The sample log of {run.name} in {side} does not say which rows its lines are (doc_id).")
    others = {sample.doc_id: sample for sample in b.samples}
    met = [(sample, others[sample.doc_id]) for sample in a.samples if sample.doc_id in others]
    pairs = [(x, y) for x, y in met if x.target is None or y.target is None or x.target == y.target]
    warnings = [f"{side}: {fault}" for run, side in ((a, "A"), (b, "B")) for fault in run.log_faults]
    if len(pairs) < len(met):
        warnings.append(f"{len(met) - len(pairs)} rows have other gold answers in B and are left out: the data differ.")
    alone = len(a.samples) + len(b.samples) - 2 * len(met)
    if alone:
        warnings.append(f"{alone} rows are in one run only and are left out.")
    asked = sum(x.input is not None and y.input is not None and x.input != y.input for x, y in pairs)
    if asked:
        warnings.append(f"the model was asked otherwise in {asked} of {len(pairs)} rows.")
    if not pairs:
        raise SystemExit(f"The runs of {a.name} have no row in common.")
    return pairs, warnings


def _reason_against(a: TaskRun, b: TaskRun, pairs: Sequence[Pair], metric: str) -> str | None:
    """Why a metric has no paired difference, None where it has one."""
    if metric in ABOUT_THE_RUN:
        return "it describes the run and not the model's answers"
    for run, side in ((a, "A"), (b, "B")):
        value = run.values.get(metric)
        if value is None:
            return f"{side} has no value of it"
        if metric.endswith(STRICT) and math.isnan(value):
            return f"it is NaN in {side}"
    if any(_is_no_mean(run, metric) for run in (a, b)):
        return "it is no mean of its rows"
    if all(_difference(pair, metric) is None for pair in pairs):
        return "no row has a score in both runs"
    return None


def _is_no_mean(run: TaskRun, metric: str) -> bool:
    """Whether the run's number is another than the mean of its rows' scores; NaN, under the coverage that it needs, is not."""
    value = run.values[metric]
    scores = [score for sample in run.samples if (score := _score(sample, metric)) is not None]
    if not scores:
        items = [set(sample.items.get(metric, ())) for sample in run.samples]
        return any(keys - WITHOUT_NUMBER for keys in items)
    return not math.isnan(value) and not math.isclose(mean(scores), value, rel_tol=1e-9, abs_tol=1e-9)


def _score(sample: Sample, metric: str) -> float | None:
    """A row's number; the strict twin of a metric counts a row that could not be scored as 0."""
    score = sample.score(metric)
    return 0.0 if score is None and metric.endswith(STRICT) and sample.counts_as_zero(metric) else score


def _difference(pair: Pair, metric: str) -> float | None:
    x, y = _score(pair[0], metric), _score(pair[1], metric)
    return None if x is None or y is None else y - x


def _differences(pairs: Sequence[Pair], names: Sequence[str]) -> dict[str, Any]:
    if not names:
        return {}
    table = numpy.array([[_difference(pair, name) for name in names] for pair in pairs], dtype=float)
    numbers: dict[Any, int] = {}
    clusters = [numbers.setdefault(cluster(x, i), len(numbers)) for i, (x, _) in enumerate(pairs)]
    found = paired_differences(table, numpy.array(clusters))
    return {name: _entry(pairs, name, one) for name, one in zip(names, found, strict=True) if one is not None}


def _entry(pairs: Sequence[Pair], name: str, one: Difference) -> dict[str, Any]:
    both = [(_score(x, name), _score(y, name)) for x, y in pairs if _difference((x, y), name) is not None]
    return {
        "a": mean(x for x, _ in both),
        "b": mean(y for _, y in both),
        "difference": one.value,
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "n": one.n,
        "clusters": one.clusters,
        "unscored_a": sum(_score(x, name) is None for x, _ in pairs),
        "unscored_b": sum(_score(y, name) is None for _, y in pairs),
    }


def _groups(run: TaskRun, pairs: Sequence[Pair]) -> dict[str, dict[str, list[Pair]]]:
    """Pairs by category, for each key that the benchmark breaks its numbers down by."""
    tables: dict[str, dict[str, list[Pair]]] = {}
    for key in run.groupings:
        for pair in pairs:
            if key in pair[0].record:
                tables.setdefault(key, {}).setdefault(str(pair[0].record[key]), []).append(pair)
    return {key: dict(sorted(groups.items())) for key, groups in tables.items()}


def _flipped(pairs: Sequence[Pair], metric: str, higher_is_better: bool) -> dict[str, list[list[Any]]]:
    """The rows whose score changed, as `[doc_id, score in A, score in B]`, the largest change first."""
    changed = []
    for x, y in pairs:
        difference = _difference((x, y), metric)
        if difference is not None and not math.isclose(difference, 0.0, abs_tol=1e-12):
            changed.append(
                (difference if higher_is_better else -difference, [x.doc_id, x.score(metric), y.score(metric)])
            )
    changed.sort(key=lambda entry: (-abs(entry[0]), entry[1][0]))
    return {
        "better": [row for gain, row in changed if gain > 0],
        "worse": [row for gain, row in changed if gain < 0],
    }


def describe(found: Mapping[str, Any]) -> str:
    """The comparison for a terminal."""
    lines = [
        f"A  {found['a']}",
        f"B  {found['b']}",
        "Differences are B minus A, over the rows that both scored; p is for each line alone.",
    ]
    lines += [f"! {note}" for note in found["notes"]]
    for name, task in found["tasks"].items():
        lines += ["", f"{name}: {task['rows']:,} rows in both", *(f"! {warning}" for warning in task["warnings"])]
        lines += ["|Metric| |A|B|Difference|95 % interval|p|n|", "|---|---|---:|---:|---:|---|---:|---:|"]
        lines += [_line(metric, task["higher_is_better"][metric], entry) for metric, entry in task["metrics"].items()]
        by_reason: dict[str, list[str]] = {}
        for metric, reason in task["not_compared"].items():
            by_reason.setdefault(reason, []).append(metric)
        lines += [f"not compared: {', '.join(metrics)}, because {reason}." for reason, metrics in by_reason.items()]
        primary = task["flipped"]["metric"]
        for key, groups in task["categories"].items():
            lines += ["", f"{primary} by {key}", "|Group| |A|B|Difference|95 % interval|p|n|"]
            lines += ["|---|---|---:|---:|---:|---|---:|---:|"]
            better = task["higher_is_better"].get(primary, True)
            shown = {group: entry["metrics"][primary] for group, entry in groups.items() if primary in entry["metrics"]}
            lines += [_line(group, better, entry) for group, entry in shown.items()]
        lines.append("")
        for direction in ("better", "worse"):
            rows = task["flipped"][direction]
            told = ", ".join(f"{doc_id} ({x:g} → {y:g})" for doc_id, x, y in rows[:_ROWS_TOLD])
            more = f" and {len(rows) - _ROWS_TOLD:,} more (--json has all)" if len(rows) > _ROWS_TOLD else ""
            lines.append(f"{len(rows):,} rows {direction} in B by {primary}" + (f": {told}{more}" if rows else ""))
    for side, tables in found["across"].items():
        lines += ["", f"{side}:", *across_lines(tables)]
    return "\n".join(lines)


def _line(name: str, higher_is_better: bool, entry: Mapping[str, Any]) -> str:
    bounds = "" if entry["low"] is None else f"{entry['low']:+.4f} to {entry['high']:+.4f}"
    arrow = "↑" if higher_is_better else "↓"
    values = f"{entry['a']:.4f}|{entry['b']:.4f}|{entry['difference']:+.4f}"
    return f"|{name}|{arrow}|{values}|{bounds}|{entry['p']:.4f}|{entry['n']:,}|"
