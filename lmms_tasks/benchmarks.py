"""Every benchmark, task and group of this package, found on its path and read from its files.

A benchmark is a folder on the package's path with a `benchmark.py` that holds one object named `BENCHMARK`. The command
line, preflight and reports know the benchmarks only through this module, so a new folder needs no change elsewhere.
Nothing here imports lmms-eval or torch: `lmms-tasks list` answers at once, and indexing costs a run nothing.
"""

from __future__ import annotations

import argparse
import fnmatch
import functools
import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import lmms_tasks
from lmms_tasks.utils.check import Check
from lmms_tasks.utils.rows import Schema


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark declares about itself.

    Attributes:
        name: the name of its folder.
        title: its name for a reader.
        data_variable: the environment variable that names local rows in place of the hub.
        schema: columns and words by which a task's rows are recognised, by the task's `metadata.configuration`.
        breakdowns: from a task and its items by metric to what the run's manifest tells beside the metrics.
        rubrics: the rubrics that a task's judges follow, by name; their hashes go to the manifest.
        variables: the environment variables that it reads beside `data_variable`.
        requirements: what `lmms-tasks doctor` looks at beside rows and judges, such as encoders.
        check: what preflight asks beyond rows, images and judges; ends the run with one sentence (SystemExit).
        check_images: what preflight asks of images that a model will open, where they are no columns of the rows, and of
            whoever answers while it does; `lmms-tasks score` does without.
        local_files: the files of the user's folder that hold a task's rows, where one file by its word is not enough.
        read_answers: reads files or folders of answers in a form of the benchmark's own (transcripts, reports): for each
            path of that form its answers by the position of the row; the other paths are read as any other answers.
        table: aggregates a table of scores made elsewhere, one line a row, to the object that `score --table` prints;
            needs no rows and no judge.
        export: writes a run's items in a form of the benchmark's own for `score --output`, into files whose names begin as
            the path does; returns them.
        columns: the metrics that the paper tabulates for a task, in its order, each with the paper's heading; a report shows
            them first and the task's other metrics after them.
        published: a task's published rows (model, source, rows, metrics), which a report shows in a table of their own; a
            sentence that says why no published number compares, where that is so.
        restricted_images: whether a task's images may not be passed on, so that a report leaves them out.
        frames: for a report, the boxes of a row on an empty frame of the right size, in place of restricted images.
        across: what only several tasks of one model together show (such as noisy runs beside the one without noise), from
            each task with its rows' records: by heading a table of one line a name, `{heading: {name: {column: value}}}`,
            as `score`, `report` and `compare` print it.
        prepare: adds the options of `lmms-tasks prepare NAME` to its parser, and the default `run`.
    """

    name: str
    title: str
    data_variable: str
    schema: Callable[[str], Schema]
    breakdowns: Callable[[TaskSpec, Mapping[str, Sequence[Mapping[str, Any]]]], dict[str, Any]]
    rubrics: Callable[[TaskSpec], Mapping[str, Any]] = lambda task: {}
    variables: tuple[str, ...] = ()
    requirements: Callable[[TaskSpec], Iterable[Check]] = lambda task: ()
    check: Callable[[TaskSpec], None] = lambda task: None
    check_images: Callable[[TaskSpec], None] = lambda task: None
    local_files: Callable[[TaskSpec, Path], list[Path]] | None = None
    read_answers: Callable[
        [TaskSpec, Sequence[Path], Sequence[Mapping[str, Any]]], dict[Path, dict[int, list[str]]]
    ] = lambda task, paths, rows: {}
    table: Callable[[TaskSpec, Path], dict[str, Any]] | None = None
    export: Callable[[TaskSpec, Mapping[str, Sequence[Mapping[str, Any]]], Path], list[Path]] | None = None
    columns: Callable[[TaskSpec], Mapping[str, str]] = lambda task: {}
    published: Callable[[TaskSpec], list[dict[str, Any]] | str] = lambda task: []
    restricted_images: Callable[[TaskSpec], bool] = lambda task: not task.on_samples
    frames: Callable[[TaskSpec, Mapping[str, Any]], list[dict[str, Any]]] | None = None
    across: Callable[
        [Sequence[tuple[TaskSpec, Sequence[Mapping[str, Any]]]]], dict[str, dict[str, dict[str, float]]]
    ] = lambda runs: {}
    prepare: Callable[[argparse.ArgumentParser], None] | None = None


@dataclass(frozen=True)
class MetricSpec:
    """One metric of a task: its name, direction, and the dotted name of its aggregator."""

    name: str
    higher_is_better: bool
    aggregation: str


@dataclass(frozen=True)
class TaskSpec:
    """One task as its YAML file describes it; functions stand as dotted names until they are asked for."""

    name: str
    benchmark: Benchmark
    path: Path
    config: Mapping[str, Any] = field(repr=False)

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.config["metadata"]

    @property
    def version(self) -> str:
        return str(self.metadata["version"])

    @property
    def judge_use(self) -> str | None:
        """The table of a judge profile that this task follows, None where no judge is asked."""
        return self.metadata.get("judge")

    @property
    def on_samples(self) -> bool:
        """True for a task on the data that we ship."""
        return bool(self.metadata.get("on_samples"))

    @property
    def configuration(self) -> str:
        return self.metadata["configuration"]

    @property
    def split(self) -> str:
        return self.config["test_split"]

    @functools.cached_property
    def metrics(self) -> tuple[MetricSpec, ...]:
        return tuple(
            MetricSpec(entry["metric"], entry["higher_is_better"], entry["aggregation"])
            for entry in self.config["metric_list"]
        )

    def hook(self, key: str) -> Callable[..., Any]:
        """Import the function that the YAML names under `key`."""
        return import_name(self.config[key])


@dataclass(frozen=True)
class GroupSpec:
    """A group: its members in order (tasks or groups), and the metrics that it averages over its tasks.

    `benchmark` is None for a group across benchmarks.
    """

    name: str
    benchmark: Benchmark | None
    path: Path
    members: tuple[str, ...]
    averages: tuple[str, ...]


@dataclass(frozen=True)
class Catalogue:
    """All tasks and groups by name."""

    tasks: Mapping[str, TaskSpec]
    groups: Mapping[str, GroupSpec]

    def leaves(self, names: Iterable[str]) -> list[TaskSpec]:
        """Our tasks behind the given names, groups and wildcards resolved, each once, foreign names left out."""
        found: dict[str, TaskSpec] = {}
        for name in names:
            for known in [*self.tasks, *self.groups]:
                if not fnmatch.fnmatchcase(known, name):
                    continue
                if known in self.tasks:
                    found[known] = self.tasks[known]
                else:
                    found.update({task.name: task for task in self.leaves(self.groups[known].members)})
        return list(found.values())


# The C loader is ten times as fast, and not in every build of PyYAML.
class _NameLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Reads a task's YAML with `!function a.b.c` as the text "a.b.c"."""


_NameLoader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def package_folders() -> list[Path]:
    """The folders on the package's path, each of which holds benchmarks; for lmms-eval's `include_path`."""
    return [Path(entry) for entry in lmms_tasks.__path__]


def import_name(dotted: str) -> Any:
    """Import what a dotted name points to."""
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def find_benchmarks() -> dict[str, tuple[Benchmark, Path]]:
    """Every benchmark with its folder, by name."""
    found = {}
    for root in package_folders():
        for file in sorted(root.glob("*/benchmark.py")):
            name = file.parent.name
            found[name] = (importlib.import_module(f"lmms_tasks.{name}.benchmark").BENCHMARK, file.parent)
    return found


def read_catalogue() -> Catalogue:
    """Every task and group of every benchmark, read once a process for each state of the package's path."""
    return _read_catalogue(tuple(package_folders()))


@functools.lru_cache
def _read_catalogue(folders: tuple[Path, ...]) -> Catalogue:
    tasks: dict[str, TaskSpec] = {}
    groups: dict[str, GroupSpec] = {}
    found = [(benchmark, path) for benchmark, folder in find_benchmarks().values() for path in folder.rglob("*.yaml")]
    across = [(None, path) for folder in folders for path in folder.glob("*.yaml")]
    for benchmark, path in [*sorted(found, key=lambda pair: pair[1]), *across]:
        config = _read_yaml(path)
        if "group" in config:
            averages = tuple(entry["metric"] for entry in config.get("aggregate_metric_list") or ())
            groups[config["group"]] = GroupSpec(config["group"], benchmark, path, tuple(config["task"]), averages)
        else:
            tasks[config["task"]] = TaskSpec(config["task"], benchmark, path, config)
    return Catalogue(tasks, groups)


def _read_yaml(path: Path) -> dict[str, Any]:
    config = yaml.load(path.read_text(encoding="utf-8"), Loader=_NameLoader)
    if include := config.pop("include", None):
        config = {**_read_yaml(path.parent / include), **config}
    return config
