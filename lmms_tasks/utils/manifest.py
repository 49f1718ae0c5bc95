"""The manifest of a scored task: what a reader needs to trust, repeat and explain its numbers.

It is built from the items that the aggregators received, which lmms-eval gathers from all ranks: the manifest of a run
on many ranks is the manifest of the run on one.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from loguru import logger

import lmms_tasks
from lmms_tasks.utils.agreement import krippendorff_alpha, mean_standard_deviation
from lmms_tasks.utils.judge import panel_for, resolve
from lmms_tasks.utils.judge.verdict import NUMBERS
from lmms_tasks.utils.redaction import redact
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
    records = row_records(items)
    panel = _panel(task)
    breakdowns = task.benchmark.breakdowns(task, items)
    itself = judged_itself(model, panel)
    # Who answers while the model plays is no judge of the panel.
    oracles = [oracle for oracle in breakdowns.get("oracles", ()) if oracle.get("model")]
    itself += judged_itself(model, {"judges": oracles})
    if itself:
        logger.warning(f"{task.name}: the judge {', '.join(itself)} is the model under test; such scores favour it.")
    return {
        "task": task.name,
        "task_version": task.version,
        "benchmark": task.benchmark.name,
        "versions": {"lmms-tasks": lmms_tasks.__version__, "lmms-eval": _version("lmms-eval")},
        "model": {name: redact(value) for name, value in model.items()},
        "data": dict(data),
        "rows": len(records),
        "metrics": {name: value for name, value in metrics.items() if name != "alias"},
        "answers": dict(Counter(status for record in records for status in record["answers"])),
        "rubrics": _rubric_hashes(task),
        "panel": panel,
        "judge_is_model_under_test": itself,
        "judges": judge_summary(records),
        "agreement": agreement(records),
        "breakdowns": breakdowns,
    }


def row_records(items: Mapping[str, Sequence[Item]]) -> list[Item]:
    """The rows' records: the items of `judged_coverage`, or of the metric that carries them where no judge is asked."""
    carriers = [name for name in ("judged_coverage", *items) if items.get(name) and "answers" in items[name][0]]
    return list(items[carriers[0]]) if carriers else []


def judge_summary(records: Sequence[Item]) -> dict[str, Any]:
    """What each judge did over all rows: verdicts by status, models as returned, tokens, means of its fields.

    A mean is over rows, of a row's mean over the judge's valid generations; "Yes" counts as 1, "No" as 0. Judgements of
    the references (`reference_judgements`) are among the verdicts and tokens, and not in the means.
    """
    judgements = [judgement for record in records for judgement in record["judgements"]]
    of_references = [judgement for record in records for judgement in record.get("reference_judgements", ())]
    every = [verdict for judgement in (*judgements, *of_references) for verdict in judgement["verdicts"]]
    summary: dict[str, Any] = {}
    for name in sorted({verdict["judge"] for verdict in every}):
        rows = [[verdict for verdict in judgement["verdicts"] if verdict["judge"] == name] for judgement in judgements]
        own = [verdict for verdict in every if verdict["judge"] == name]
        summary[name] = {
            "verdicts": dict(sorted(Counter(verdict["status"] for verdict in own).items())),
            "models": sorted({verdict["model"] for verdict in own if verdict["model"]}),
            "input_tokens": sum(verdict["input_tokens"] or 0 for verdict in own),
            "output_tokens": sum(verdict["output_tokens"] or 0 for verdict in own),
            "means": _field_means(rows),
        }
    return summary


def _field_means(rows: Sequence[Sequence[Item]]) -> dict[str, float]:
    by_field: dict[str, list[float]] = {}
    for row in rows:
        valid = [verdict["scores"] for verdict in row if verdict["scores"] is not None]
        for field in valid[0] if valid else ():
            values = [NUMBERS.get(scores[field], scores[field]) for scores in valid]
            if all(isinstance(value, int | float) for value in values):
                by_field.setdefault(field, []).append(mean(values))
    return {field: mean(values) for field, values in by_field.items()}


def agreement(records: Sequence[Item]) -> dict[str, Any]:
    """For each field of the verdicts: how many rows have two scores or more, and how far the scores agree."""
    ratings: dict[str, list[dict[str, float]]] = {}
    for record in records:
        for judgement in record["judgements"]:
            valid = [verdict for verdict in judgement["verdicts"] if verdict["scores"] is not None]
            for field in valid[0]["scores"] if valid else ():
                row = {
                    f"{verdict['judge']} {verdict['generation']}": NUMBERS.get(
                        verdict["scores"][field], verdict["scores"][field]
                    )
                    for verdict in valid
                }
                if all(isinstance(value, int | float) for value in row.values()):
                    ratings.setdefault(field, []).append(row)
    return {
        field: {
            "rows": sum(len(row) > 1 for row in rows),
            "mean_standard_deviation": mean_standard_deviation(rows),
            "krippendorff_alpha": krippendorff_alpha(rows),
        }
        for field, rows in ratings.items()
    }


def judged_itself(model: Mapping[str, str], panel: Mapping[str, Any] | None) -> list[str]:
    """The judges of a panel that are the model under test, by the last part of the model's name."""
    tested = {part.strip().rpartition("/")[2].casefold() for part in re.split(r"[,=]", model["args"]) if part.strip()}
    judges = panel["judges"] if panel else ()
    return [judge["name"] for judge in judges if judge["model"].rpartition("/")[2].casefold() in tested]


def grouped_means(
    items: Mapping[str, Sequence[Item]], metrics: Sequence[str], groups: Sequence[Any]
) -> dict[str, dict[str, Any]]:
    """Mean and n of each metric within each group; NaN where n is 0.

    Args:
        groups: the group of each row, in the order of the items.
    """
    positions_of: dict[str, list[int]] = {}
    for position, group in enumerate(groups):
        positions_of.setdefault(str(group), []).append(position)
    table: dict[str, dict[str, Any]] = {}
    for group, positions in sorted(positions_of.items()):
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


def _rubric_hashes(task: Any) -> dict[str, str]:
    """The hash of each rubric as the judges saw it: the user's own text where the profile names a `rubric_file`."""
    panel = panel_for(task.judge_use, task.on_samples) if task.judge_use else None
    rubrics = task.benchmark.rubrics(task)
    return {name: (panel.rubric(rubric) if panel else rubric).hash for name, rubric in rubrics.items()}


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
