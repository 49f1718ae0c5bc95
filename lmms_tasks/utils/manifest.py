"""The manifest of a scored task: what a reader needs to trust, repeat and explain its numbers.

It is built from the items that the aggregators received, which lmms-eval gathers from all ranks: the manifest of a run
on many ranks is the manifest of the run on one.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import lmms_tasks
from lmms_tasks.utils.judge import panel_for, resolve
from lmms_tasks.utils.statistics import mean, scores

Item = Mapping[str, Any]


def task_manifest(
    task: Any,
    items: Mapping[str, Sequence[Item]],
    metrics: Mapping[str, Any],
    data: Mapping[str, Any],
    model: Mapping[str, str],
) -> dict[str, Any]:
    """Everything about one task's numbers that the table does not hold.

    Args:
        task: the `TaskSpec`.
        items: the items of each metric, all rows.
        metrics: the task's results as lmms-eval prints them.
        data: source, revision and fingerprint of the rows.
        model: the model's name and arguments.
    """
    records = list(items.get("judged_coverage", ()))
    return {
        "task": task.name,
        "task_version": task.version,
        "benchmark": task.benchmark.name,
        "versions": {"lmms-tasks": lmms_tasks.__version__, "lmms-eval": _version("lmms-eval")},
        "model": dict(model),
        "data": dict(data),
        "rows": len(records),
        "metrics": {name: value for name, value in metrics.items() if name != "alias"},
        "answers": dict(Counter(status for record in records for status in record["answers"])),
        "rubrics": {name: rubric.hash for name, rubric in task.benchmark.rubrics(task).items()},
        "panel": _panel(task),
        "judges": judge_summary(records),
        "breakdowns": task.benchmark.breakdowns(task, items),
    }


def judge_summary(records: Sequence[Item]) -> dict[str, Any]:
    """What each judge did over all rows: verdicts by status, models as returned, tokens, means of its fields."""
    verdicts = [v for record in records for judgement in record["judgements"] for v in judgement["verdicts"]]
    summary: dict[str, Any] = {}
    for name in sorted({verdict["judge"] for verdict in verdicts}):
        own = [verdict for verdict in verdicts if verdict["judge"] == name]
        valid = [verdict["scores"] for verdict in own if verdict["scores"] is not None]
        summary[name] = {
            "verdicts": dict(sorted(Counter(verdict["status"] for verdict in own).items())),
            "models": sorted({verdict["model"] for verdict in own if verdict["model"]}),
            "input_tokens": sum(verdict["input_tokens"] or 0 for verdict in own),
            "output_tokens": sum(verdict["output_tokens"] or 0 for verdict in own),
            "means": {field: mean(f[field] for f in valid) for field in (valid[0] if valid else ())},
        }
    return summary


def grouped_means(items: Mapping[str, Sequence[Item]], metrics: Sequence[str], key: str) -> dict[str, dict[str, Any]]:
    """Mean and n of each metric within the groups that `key` of the rows' records makes; NaN where n is 0."""
    groups: dict[str, list[int]] = {}
    for position, record in enumerate(items["judged_coverage"]):
        groups.setdefault(str(record[key]), []).append(position)
    table = {}
    for group, positions in sorted(groups.items()):
        table[group] = {"rows": len(positions)}
        for metric in metrics:
            values = scores([items[metric][position] for position in positions])
            table[group][metric] = {"mean": mean(values), "n": len(values)}
    return table


def write_manifest(manifest: Mapping[str, Any], path: Path) -> Path:
    """Write JSON that strict parsers read (NaN as null), whole or not at all; return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(json.dumps(without_nan(manifest), indent=2, ensure_ascii=False), encoding="utf-8")
    partial.replace(path)
    return path


def without_nan(value: Any) -> Any:
    """The same value with NaN and infinities as None, mappings and sequences as plain JSON types."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [without_nan(inner) for inner in value]
    if hasattr(value, "item"):  # a numpy scalar
        return without_nan(value.item())
    return value


def _panel(task: Any) -> dict[str, Any] | None:
    if task.judge_use is None or (panel := panel_for(task.judge_use, task.on_samples)) is None:
        return None
    profile = resolve(task.judge_use, task.on_samples).profile
    return {
        "profile": profile.name,
        "judgements_per_sample": panel.judgements_per_sample,
        "judges": [
            {"name": j.name, "model": j.model, "temperature": j.temperature, "generations": j.generations}
            for j in profile.judges
        ],
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
