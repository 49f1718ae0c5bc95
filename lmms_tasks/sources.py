"""Where a task's rows come from: the samples that we ship, the user's own files, or the hub."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.utils.images import image_columns
from lmms_tasks.utils.rows import find_files, fingerprint, missing_images, parquet_files

if TYPE_CHECKING:
    import datasets

_HUB_COMMIT = re.compile(r"@([0-9a-f]{40})/")


def local_source(task: TaskSpec) -> Path | None:
    """The user's own rows for this task, from the benchmark's variable; the shipped samples stay as they are."""
    given = os.environ.get(task.benchmark.data_variable, "").strip()
    return Path(given).expanduser() if given and not task.on_samples else None


def local_files(task: TaskSpec) -> list[Path]:
    """The user's files that hold this task's rows; [] where the rows are the hub's or shipped."""
    source = local_source(task)
    if source is None:
        return []
    if task.benchmark.local_files is not None:
        return task.benchmark.local_files(task, source)
    return find_files(source, task.benchmark.schema(task.configuration), task.split)


def local_dataset(task: TaskSpec) -> dict[str, Any]:
    """The keys of a task's configuration that put local rows in place of the hub's; {} without local rows."""
    given = local_files(task)
    if not given:
        return {}
    files = parquet_files(given, task.benchmark.schema(task.configuration))
    return {
        "dataset_path": "parquet",
        "dataset_name": None,
        "dataset_kwargs": {"data_files": {task.split: [str(file) for file in files]}},
    }


def load_rows(task: TaskSpec) -> datasets.Dataset:
    """The rows that lmms-eval would score: same files, same selection, without the image columns.

    Raises:
        SystemExit: the rows cannot be had; one sentence says what to do.
    """
    import datasets

    try:
        loaded = datasets.load_dataset(**_load_arguments(task), split=task.split)
    except Exception as error:
        raise SystemExit(_unreachable(task, error)) from error
    selected = task.hook("process_docs")(loaded)
    return selected.remove_columns(image_columns(selected.column_names))


def check_rows(task: TaskSpec, need_images: bool) -> None:
    """End the run with one sentence if the task's rows, or the images of local rows, cannot be had; decodes nothing."""
    import datasets

    source = local_source(task)
    if source is not None:
        load_rows(task)
        schema = task.benchmark.schema(task.configuration)
        if need_images and schema.images and (sentence := missing_images(local_files(task), schema)):
            raise SystemExit(sentence)
    elif not task.on_samples:
        try:
            datasets.load_dataset_builder(**_load_arguments(task))
        except Exception as error:
            raise SystemExit(_unreachable(task, error)) from error
    if need_images:
        task.benchmark.check_images(task)


def describe(task: TaskSpec, rows: datasets.Dataset) -> dict[str, Any]:
    """Source, revision and fingerprint of the rows that were evaluated, for the run's manifest."""
    source = local_source(task)
    checksums = " ".join(rows.info.download_checksums or ())
    commit = _HUB_COMMIT.search(checksums)
    return {
        "source": "shipped samples" if task.on_samples else str(source or task.config["dataset_path"]),
        "configuration": task.config.get("dataset_name") or task.configuration,
        "split": task.split,
        "revision": commit.group(1) if commit else None,
        "rows": len(rows),
        "fingerprint": fingerprint(rows),
        # A task on a part of its configuration says which part.
        **({"positions": list(rows["position"])} if "position" in rows.column_names else {}),
    }


def _load_arguments(task: TaskSpec) -> dict[str, Any]:
    config = {**task.config, **local_dataset(task)}
    arguments = {"path": config["dataset_path"], "name": config.get("dataset_name"), **config.get("dataset_kwargs", {})}
    if task.on_samples:
        # As lmms-eval does: a relative path is meant from the YAML's folder.
        arguments["data_files"] = {
            split: str(task.path.parent / file) for split, file in arguments["data_files"].items()
        }
    return arguments


def _unreachable(task: TaskSpec, error: Exception) -> str:
    if local_source(task) is not None:
        return f"{task.name}: the rows in {local_source(task)} cannot be read ({_short(error)})."
    if task.on_samples:
        return f"{task.name}: the shipped samples cannot be read ({_short(error)}); reinstall lmms-tasks."
    return (
        f"{task.name}: the dataset {task.config['dataset_path']} cannot be reached ({_short(error)}); check the network, "
        f"or set {task.benchmark.data_variable} to a local copy."
    )


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
