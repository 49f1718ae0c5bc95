"""MIRAGE (agriculture) as the command line, preflight and the manifest know it.

Read in every run of lmms-eval, whatever its tasks: what scoring needs is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_tasks.benchmarks import Benchmark, TaskSpec
from lmms_tasks.mirage.rows import DECOMP, DIRECT, SCHEMAS

_MULTI_TURN = (DIRECT.word, DECOMP.word)


def _breakdowns(task: TaskSpec, items: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    if task.configuration in _MULTI_TURN:
        from lmms_tasks.mirage.mmmt_breakdowns import mmmt_breakdowns

        return mmmt_breakdowns(task, items)
    from lmms_tasks.mirage.seen import train_entities
    from lmms_tasks.utils.manifest import grouped_means

    metrics = [metric.name for metric in task.metrics if metric.name not in ("judged_coverage", "w_sum_official")]
    records = items["judged_coverage"]
    keys = [key for key in ("category", "n_images", "location_related", "time_related") if key in records[0]]
    tables = {f"by_{key}": grouped_means(items, metrics, [record[key] for record in records]) for key in keys}
    if (known := train_entities(task)) is not None:
        seen = ["seen" if known.intersection(record["entities"]) else "unseen" for record in records]
        tables["by_entity_in_train"] = grouped_means(items, metrics, seen)
    return tables


def _check(task: TaskSpec) -> None:
    from lmms_tasks.mirage.seen import check

    # Rows of dialogues name no entity.
    if task.configuration not in _MULTI_TURN:
        check(task)


def _rubrics(task: TaskSpec) -> dict[str, Any]:
    if task.configuration in _MULTI_TURN:
        from lmms_tasks.mirage.mmmt_hooks import form_of

        rubric = form_of(task.name).rubric
        return {rubric.name: rubric}
    from lmms_tasks.mirage.hooks import ID_RUBRIC, MG_RUBRIC

    return {rubric.name: rubric for rubric in ((ID_RUBRIC,) if "_id" in task.name else (MG_RUBRIC,))}


def _columns(task: TaskSpec) -> dict[str, str]:
    if task.configuration in _MULTI_TURN:
        decisions = {
            "decision_accuracy": "Acc%",
            "goal_relevance_clarify": "Clarify",
            "goal_relevance_respond": "Respond",
        }
        return decisions | {
            "known_accuracy": "Known facts",
            "missing_coverage": "Missing facts",
            "spurious": "Spurious %",
            "perfect": "Perfect %",
        }
    if "_id" in task.name:
        return {
            "identification_accuracy_official": "ID accuracy",
            "reasoning_score": "Reasoning",
            "site_weighted_score": "ID weighted",
        }
    facets = {f"mg_{name}": name.capitalize() for name in ("accuracy", "relevance", "completeness", "parsimony")}
    return {"w_sum": "W-Sum", **facets, "site_weighted_score": "MG weighted"}


def _published(task: TaskSpec) -> list[dict[str, Any]]:
    from lmms_tasks.mirage.published import published

    return published(task)


BENCHMARK = Benchmark(
    name="mirage",
    title="MIRAGE (agriculture)",
    data_variable="MIRAGE_DATA",
    variables=("MIRAGE_TRAIN_ENTITIES",),
    schema=SCHEMAS.__getitem__,
    breakdowns=_breakdowns,
    rubrics=_rubrics,
    check=_check,
    columns=_columns,
    published=_published,
    # CC-BY-SA-4.0: they may be passed on.
    restricted_images=lambda task: False,
)
