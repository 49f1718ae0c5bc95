"""Runs on disk, read back: result folders of lmms-eval and of `lmms-tasks score --output`.

A run has a results file `<date>_results.json` and, beside it, one sample log `<date>_samples_<task>.jsonl` and one
manifest `<date>_lmms_tasks_<task>.json` a task. Both writers use these names, so one reader serves both; what is missing
or foreign is told in a note and never ends the report.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lmms_tasks.benchmarks import Catalogue, MetricSpec, TaskSpec
from lmms_tasks.report.sample_log import RECORD, Sample, finite, read_samples, short_name
from lmms_tasks.utils.text_file import UnreadableText, read_text

_RESULTS = "_results.json"
# Numbers that describe the run: never the first thing to read.
ABOUT_THE_RUN = (RECORD, "judgements_per_sample")
# What an item without a number holds: why there is none.
WITHOUT_NUMBER = {"status", "reason", "applies"}
# How the metrics are named that count a row without a score as 0.
STRICT = ("_strict", "_zeroed")


@dataclass(frozen=True)
class TaskRun:
    """One task in one run.

    Attributes:
        label: what a reader calls the run; unique within what was read together.
        values: each metric's value in the results file, NaN as it stands there.
        limited: True where lmms-eval was told to take a part of the rows.
        taken, whole: number of rows that the run is over, and that the task's data has; 0 where no file says so.
        log_faults: what is wrong with the sample log, in sentences.
        timezone: the clock of `date`: lmms-eval's `--timezone`, "local" of `lmms-tasks score`, "" where no file says so.
    """

    spec: TaskSpec
    label: str
    model: str
    date: str
    folder: Path
    values: Mapping[str, float]
    manifest: Mapping[str, Any] = field(default_factory=dict, repr=False)
    samples: Sequence[Sample] = field(default=(), repr=False)
    limited: bool = False
    taken: int = 0
    whole: int = 0
    log_faults: Sequence[str] = ()
    timezone: str = ""

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def metrics(self) -> list[MetricSpec]:
        """The metrics that this run has a value for: the paper's own first, then the others in the task's order."""
        return [metric for metric in ordered_metrics(self.spec) if metric.name in self.values]

    @property
    def rows(self) -> int:
        return self.taken or len(self.samples)

    @property
    def utc(self) -> str | None:
        """The date in UTC by ISO 8601, None where the clock or the date is not known."""
        if self.timezone in ("", "local"):
            return None
        try:
            moment = datetime.strptime(self.date, "%Y%m%d_%H%M%S").replace(tzinfo=ZoneInfo(self.timezone))
        except (ValueError, OSError, ZoneInfoNotFoundError):
            return None
        return moment.astimezone(timezone.utc).isoformat()

    @property
    def partial(self) -> bool:
        """Whether the run is over fewer rows than the task's data has."""
        return self.rows < self.whole

    def items(self, metric: str) -> list[Mapping[str, Any]]:
        """The items of a metric, one a row, as its aggregator received them."""
        return [sample.items[metric] for sample in self.samples if metric in sample.items]

    @property
    def groupings(self) -> list[str]:
        """The keys of the rows' records that the benchmark breaks its numbers down by."""
        tables = self.manifest.get("breakdowns") or {}
        keys = [name.removeprefix("by_") for name in tables if name.startswith("by_")]
        return [key for key in keys if any(key in sample.record for sample in self.samples)]


@dataclass(frozen=True)
class GroupRow:
    """A group's own numbers in one run."""

    name: str
    label: str
    values: Mapping[str, float]
    benchmark: str


@dataclass(frozen=True)
class Runs:
    """All that was read. `notes` says in sentences what was skipped, and why."""

    tasks: Sequence[TaskRun]
    groups: Sequence[GroupRow]
    notes: Sequence[str]


def paper_columns(spec: TaskSpec) -> dict[str, str]:
    """The paper's headings by metric, in the paper's order; {} where the benchmark declares none."""
    names = {metric.name for metric in spec.metrics}
    return {metric: heading for metric, heading in spec.benchmark.columns(spec).items() if metric in names}


def ordered_metrics(spec: TaskSpec) -> list[MetricSpec]:
    """The task's metrics, the paper's own columns first and what describes the run last."""
    place = {metric: position for position, metric in enumerate(paper_columns(spec))}
    last = len(place)
    return sorted(spec.metrics, key=lambda m: last + 1 if m.name in ABOUT_THE_RUN else place.get(m.name, last))


def primary_metric(spec: TaskSpec) -> MetricSpec:
    """The metric that a reader looks at first: the first that has a `_strict` twin among the paper's columns, else the
    first of these; without them the same of the task's list."""
    names = {metric.name for metric in spec.metrics}
    columns = paper_columns(spec)
    told = [metric for metric in ordered_metrics(spec) if metric.name not in ABOUT_THE_RUN]
    told = [metric for metric in told if metric.name in columns] or told
    twins = [metric for metric in told if f"{metric.name}_strict" in names]
    return (twins or told or list(spec.metrics))[0]


def read_runs(paths: Iterable[Path], catalogue: Catalogue) -> Runs:
    """Read every run below the given folders and results files.

    Raises:
        SystemExit: a path does not exist, or nothing of ours is in any of them.
    """
    tasks: list[TaskRun] = []
    groups: list[GroupRow] = []
    notes: list[str] = []
    files = list(dict.fromkeys(file for path in paths for file in _results_files(path)))
    for file in files:
        _read_run(file, catalogue, tasks, groups, notes)
    if not tasks:
        told = " ".join(notes) or "none holds a *_results.json."
        raise SystemExit(f"No run of ours in {', '.join(map(str, paths))}: {told}")
    return Runs(*_labelled(tasks, groups), notes)


def _results_files(path: Path) -> list[Path]:
    if not path.exists():
        raise SystemExit(f"There is no {path}: give a result folder or its *{_RESULTS} file.")
    return sorted(path.rglob(f"*{_RESULTS}")) if path.is_dir() else [path]


def _read_run(file: Path, catalogue: Catalogue, tasks: list[TaskRun], groups: list[GroupRow], notes: list[str]) -> None:
    try:
        content = json.loads(read_text(file))
        results = content["results"]
        named = {name: dict(values) for name, values in results.items()}
    except UnreadableText as error:
        notes.append(f"{file} was skipped: {error.reason}.")
        return
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        notes.append(f"{file} was skipped: it is no results file.")
        return
    config = content.get("config") if isinstance(content.get("config"), dict) else {}
    date = file.name.removesuffix(_RESULTS)
    model = str(
        content.get("model_name") or config.get("model") or ("score" if "manifests" in content else file.parent)
    )
    for name, values in named.items():
        if name in catalogue.groups:
            group = catalogue.groups[name]
            if group.benchmark is None:
                continue  # across benchmarks: it has no number of its own
            groups.append(GroupRow(name, str(file), _metrics(values, group.averages), group.benchmark.title))
        elif name in catalogue.tasks:
            spec = catalogue.tasks[name]
            manifest = _read_manifest(file.parent / f"{date}_lmms_tasks_{name}.json", notes)
            log = file.parent / f"{date}_samples_{name}.jsonl"
            samples, faults = read_samples(log, spec)
            taken, whole = _row_counts(content, name, manifest)
            if not faults and len(samples) < taken:
                faults.append(
                    f"{short_name(log)} holds {len(samples):,} of the run's {taken:,} rows: it was cut short."
                )
            notes.extend(faults)
            tasks.append(
                TaskRun(
                    spec=spec,
                    label=str(file),
                    model=model,
                    date=date,
                    folder=file.parent,
                    values=_metrics(values, [f"{metric.name},none" for metric in spec.metrics]),
                    manifest=manifest,
                    samples=samples,
                    limited=config.get("limit") is not None or bool(config.get("offset")),
                    taken=taken,
                    whole=whole,
                    log_faults=faults,
                    timezone=_timezone(content, config),
                )
            )
        else:
            notes.append(f"{name} in {file.name} was skipped: it is no task of lmms-tasks.")


def _row_counts(content: Mapping[str, Any], name: str, manifest: Mapping[str, Any]) -> tuple[int, int]:
    """Rows that the run is over and rows of the task's data, as the manifest and the results file have them."""
    told = content.get("n-samples")
    counts = told.get(name) if isinstance(told, Mapping) else None
    counts = counts if isinstance(counts, Mapping) else {}
    data = manifest.get("data")
    taken = (manifest.get("rows"), counts.get("answered"), counts.get("effective"))
    whole = (counts.get("rows"), counts.get("original"), data.get("rows") if isinstance(data, Mapping) else None)
    first, second = (next((int(n) for n in map(finite, numbers) if n and n > 0), 0) for numbers in (taken, whole))
    return first, second


def _timezone(content: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The clock that the files' date is by. lmms-eval's `start_time` is no time of day, so its date is all there is."""
    if "manifests" in content:
        return "local"
    arguments = config.get("resolved_cli_args")
    return str(arguments.get("timezone") or "") if isinstance(arguments, Mapping) else ""


def _metrics(values: Mapping[str, Any], keys: Iterable[str]) -> dict[str, float]:
    """Values by metric; null, as strict writers have it, is NaN."""
    found = {}
    for key in keys:
        if key in values and (values[key] is None or isinstance(values[key], int | float)):
            found[key.removesuffix(",none")] = math.nan if values[key] is None else float(values[key])
    return found


def _read_manifest(path: Path, notes: list[str]) -> dict[str, Any]:
    if not path.exists():
        notes.append(f"{short_name(path)} is missing: judges, versions and breakdowns of that run cannot be told.")
        return {}
    try:
        manifest = json.loads(read_text(path))
    except UnreadableText as error:
        notes.append(f"{short_name(path)} was skipped: {error.reason}.")
        return {}
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict):
        notes.append(f"{short_name(path)} was skipped: it is no manifest.")
        return {}
    return manifest


def _labelled(tasks: list[TaskRun], groups: list[GroupRow]) -> tuple[list[TaskRun], list[GroupRow]]:
    """Give each run a short name that no other run has: model and date, and the folder where that is not enough."""
    folders: dict[str, tuple[str, Path]] = {}
    for run in tasks:
        folders[run.label] = (f"{run.model.rstrip('/').rpartition('/')[2] or run.model} · {_day(run.date)}", run.folder)
    shared = Counter(short for short, _ in folders.values())
    names = {
        file: short if shared[short] == 1 else f"{short} · {folder.parent.name}/{folder.name}"
        for file, (short, folder) in folders.items()
    }
    taken = Counter(names.values())
    names = {file: name if taken[name] == 1 else file for file, name in names.items()}
    return (
        [replace(run, label=names[run.label]) for run in tasks],
        [replace(group, label=names.get(group.label, group.label)) for group in groups],
    )


def _day(date: str) -> str:
    """`20261201_060502` as `2026-12-01 06:05`, anything else as it stands."""
    digits = date.replace("_", "")
    if len(digits) < 12 or not digits[:12].isdigit():
        return date
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]} {digits[8:10]}:{digits[10:12]}"
