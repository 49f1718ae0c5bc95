"""What a run's manifest says about its numbers, in a reader's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lmms_tasks.report.across import across_by_model
from lmms_tasks.report.intervals import INTERVALS, Estimate, estimate
from lmms_tasks.report.runs import RECORD, Runs, TaskRun


def by_benchmark(tasks: Iterable[TaskRun]) -> dict[str, dict[str, list[TaskRun]]]:
    """Runs by the benchmark's title and the task's name, in the order in which they were read."""
    sorted_out: dict[str, dict[str, list[TaskRun]]] = {}
    for run in tasks:
        sorted_out.setdefault(run.spec.benchmark.title, {}).setdefault(run.name, []).append(run)
    return sorted_out


def estimates(run: TaskRun) -> dict[str, Estimate]:
    """Each metric's value and interval."""
    return {metric.name: estimate(run, metric.name) for metric in run.metrics}


def coverage(run: TaskRun) -> float | None:
    """Share of the rows that were scored, None for a task that needs no judge."""
    return run.values.get(RECORD)


def statuses(run: TaskRun) -> dict[str, int]:
    """Rows by status."""
    counted: dict[str, int] = {}
    for sample in run.samples:
        counted[sample.status] = counted.get(sample.status, 0) + 1
    return dict(sorted(counted.items()))


def judges(run: TaskRun) -> str:
    """Profile and judges with the models that answered."""
    if run.spec.judge_use is None:
        return "needs none"
    panel = run.manifest.get("panel")
    if not panel:
        return "none" if run.manifest else "not told"
    did = run.manifest.get("judges") or {}
    told = []
    for judge in panel.get("judges", ()):
        models = did.get(judge["name"], {}).get("models") or [judge["model"]]
        generations = judge.get("generations") or 1
        told.append(", ".join(models) + (f" × {generations}" if generations > 1 else ""))
    return f"{panel.get('profile')}: {'; '.join(told)}"


def behind(run: TaskRun) -> dict[str, str]:
    """What stands behind every number of a run, by heading: rows, coverage, judges, versions."""
    manifest, share = run.manifest, coverage(run)
    versions = [f"task {manifest['task_version']}"] if manifest.get("task_version") else []
    versions += [f"{name} {version}" for name, version in (manifest.get("versions") or {}).items() if version]
    return {
        "rows": rows_told(run),
        "coverage": "needs no judge" if share is None else percent(share),
        "judges": judges(run),
        "versions": ", ".join(versions) or "not told",
    }


def facts(run: TaskRun) -> dict[str, str]:
    """What a reader needs to trust, repeat and explain the run's numbers, by heading."""
    manifest, data = run.manifest, run.manifest.get("data") or {}
    share = coverage(run)
    versions = manifest.get("versions") or {}
    tokens = [
        f"{name}: {did.get('input_tokens', 0):,} in, {did.get('output_tokens', 0):,} out"
        for name, did in (manifest.get("judges") or {}).items()
        if did.get("input_tokens") or did.get("output_tokens")
    ]
    told = {
        "model": " ".join(filter(None, (run.model, str((manifest.get("model") or {}).get("args") or "")))),
        "rows": rows_told(run) + (" (by --limit or --offset)" if run.limited else ""),
        "coverage": "needs no judge" if share is None else percent(share),
        "rows by status": ", ".join(f"{status} {count:,}" for status, count in statuses(run).items()),
        "judges": judges(run),
        "the judge is the model under test": ", ".join(manifest.get("judge_is_model_under_test") or ()),
        "agreement": _agreement(manifest.get("agreement") or {}),
        "judge tokens": "; ".join(tokens),
        "task version": str(manifest.get("task_version") or ""),
        "software": ", ".join(f"{name} {version}" for name, version in versions.items() if version),
        "data": " · ".join(str(data[key]) for key in ("source", "configuration", "split", "revision") if data.get(key)),
        "data fingerprint": str(data.get("fingerprint") or "")[:16],
        "rubrics": ", ".join(f"{name} {digest[:12]}" for name, digest in (manifest.get("rubrics") or {}).items()),
        "date": clock_told(run),
        "folder": str(run.folder),
    }
    return {heading: text for heading, text in told.items() if text}


def _agreement(fields: Mapping[str, Any]) -> str:
    told = []
    for name, found in fields.items():
        alpha = found.get("krippendorff_alpha")
        if found.get("rows"):
            told.append(f"{name} α {'undefined' if alpha is None else f'{alpha:.2f}'}")
    return ", ".join(told)


def rows_told(run: TaskRun) -> str:
    """How many rows the run is over, and of how many where it is not over all."""
    if run.partial:
        return f"{run.rows:,} of {run.whole:,}"
    return f"{run.rows:,}" + (" (a part)" if run.limited and not run.whole else "")


def clock_told(run: TaskRun) -> str:
    """The date in the files' names with the clock that it is by, and in UTC where the results file names the clock."""
    if run.timezone == "local":
        return f"{run.date}, local time of the machine that scored"
    if not run.timezone:
        return f"{run.date}, by lmms-eval's --timezone, Asia/Singapore unless given"
    moment = run.utc
    told = "" if moment is None else f" ({moment[:16].replace('T', ' ')} UTC)"
    return f"{run.date}, by lmms-eval's --timezone {run.timezone}{told}"


def percent(share: float) -> str:
    """A share in words, never rounded up to 100 %."""
    if share != share:
        return "NaN"
    return "100 %" if share == 1 else f"{min(share * 100, 99.9):.1f} %"


def as_json(runs: Runs) -> dict[str, Any]:
    """The report as one object; NaN is None."""
    return {
        "runs": [
            {
                "benchmark": run.spec.benchmark.name,
                "task": run.name,
                "run": run.label,
                "model": run.model,
                "date": run.date,
                "clock": clock_told(run),
                "utc": run.utc,
                "rows": run.rows,
                "rows_in_data": run.whole or None,
                "row_coverage": run.rows / run.whole if run.whole else None,
                "coverage": coverage(run),
                "metrics": {
                    metric.name: {
                        "value": found.value,
                        "low": found.low,
                        "high": found.high,
                        "interval": found.about,
                        "n": found.n,
                        "higher_is_better": metric.higher_is_better,
                    }
                    for metric in run.metrics
                    for found in (estimate(run, metric.name),)
                },
                "breakdowns": run.manifest.get("breakdowns") or {},
                "facts": facts(run),
            }
            for run in runs.tasks
        ],
        "across": across_by_model(runs.tasks),
        "groups": [{"group": group.name, "run": group.label, "metrics": dict(group.values)} for group in runs.groups],
        "intervals": INTERVALS,
        "notes": list(runs.notes),
    }
