"""Scoring answers without a model: the same hooks and aggregators that lmms-eval runs, on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tqdm import tqdm

from lmms_tasks.benchmarks import Catalogue, GroupSpec, TaskSpec, import_name
from lmms_tasks.utils.statistics import mean, scores, standard_error

Items = dict[str, list[Mapping[str, Any]]]


def scorings(
    task: TaskSpec, rows: Sequence[Mapping[str, Any]], answers: Mapping[int, Sequence[str]]
) -> Iterator[tuple[TaskSpec, Callable[[], Any]]]:
    """Each answered row's task and scoring, for the judges' lines before the first call."""
    process_results = task.hook("process_results")
    for position, texts in answers.items():
        yield task, partial(process_results, rows[position], list(texts))


def score_rows(
    task: TaskSpec, rows: Sequence[Mapping[str, Any]], answers: Mapping[int, Sequence[str]], threads: int
) -> Items:
    """The items of each metric, one a row that has an answer, in the order of the rows."""
    process_results = task.hook("process_results")

    def process(position: int) -> Mapping[str, Mapping[str, Any]]:
        return process_results(rows[position], list(answers[position]))

    # Closed by hand: leaving a `with` block after Ctrl-C would wait for every judgement that is under way.
    executor = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="score")
    try:
        processed = list(tqdm(executor.map(process, answers), total=len(answers), desc=f"Scoring {task.name}"))
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    return {metric.name: [row[metric.name] for row in processed] for metric in task.metrics}


def sample_log(
    task: TaskSpec, rows: Sequence[Mapping[str, Any]], answers: Mapping[int, Sequence[str]], items: Items
) -> Iterator[dict[str, Any]]:
    """One line a scored row, with the keys of lmms-eval's sample log, so that whatever reads those reads these."""
    target, text = task.hook("doc_to_target"), task.hook("doc_to_text")
    for number, (position, texts) in enumerate(answers.items()):
        yield {
            "doc_id": position,
            "target": str(target(rows[position])),
            "input": text(rows[position]),
            "filtered_resps": list(texts),
            **{name: column[number] for name, column in items.items()},
        }


def aggregate(task: TaskSpec, items: Items) -> dict[str, Any]:
    """A task's results as lmms-eval's results file has them, with the standard error of each mean."""
    results: dict[str, Any] = {"alias": task.name}
    for metric in task.metrics:
        results[f"{metric.name},none"] = import_name(metric.aggregation)(items[metric.name])
        results[f"{metric.name}_stderr_clt,none"] = standard_error(scores(items[metric.name]))
    return results


def aggregate_group(group: GroupSpec, catalogue: Catalogue, results: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A group's results: the plain mean of each averaged metric over the tasks that declare it."""
    leaves = [task.name for task in catalogue.leaves(group.members)]
    row: dict[str, Any] = {"alias": group.name}
    for metric in group.averages:
        values = [results[name][metric] for name in leaves if metric in results.get(name, {})]
        if len(values) > 0 and all(name in results for name in leaves):
            row[metric] = mean(values)
    return row
