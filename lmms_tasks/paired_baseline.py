"""lmms-eval's `--baseline` for tasks whose items are mappings.

lmms-eval 0.7.3 reads plain numbers from a baseline's file, and of a run the first field whose name ends in `_score`, if
there is one: from logs like ours it takes equal texts for scores, or nothing at all. Its paired t-test is kept; the scores
come from here, of the task's primary metric on both sides, in the metric's own unit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.report.runs import finite, primary_metric
from lmms_tasks.utils.text_file import read_text


def compare_with_baseline(baseline: str, results: dict[str, Any], tasks: Iterable[TaskSpec]) -> None:
    """Put the comparison of each task into `results`, under the keys that lmms-eval prints and saves.

    Args:
        baseline: what `--baseline` was given: a sample log, a file of `{"doc_id", "score"}` a line, or the folder of a run,
            in which each task has its log. A baseline that is no path here is left to lmms-eval.
        results: what `simple_evaluate` returns, with its samples.
    """
    from lmms_eval.baselines import get_baseline_display_name
    from lmms_eval.evaluator_utils import compute_baseline_comparison

    for task in tasks:
        row = results["results"].get(task.name)
        if row is None or not Path(baseline).exists():
            continue
        for key in [key for key in row if key.startswith("paired_")]:
            del row[key]  # lmms-eval's own reading of these items
        metric = primary_metric(task).name
        before = _scores_in(baseline, task, metric)
        now = {sample["doc_id"]: _score(sample, metric) for sample in results.get("samples", {}).get(task.name, ())}
        rows = [doc_id for doc_id, score in now.items() if score is not None and before.get(doc_id) is not None]
        if not rows:
            reason = "run with --log_samples" if not now else f"it needs {metric} of the same rows"
            logger.warning(f"{task.name} is not compared with the baseline {baseline}: {reason}.")
            continue
        name = f"{get_baseline_display_name(baseline)} ({metric})"
        found = compute_baseline_comparison([now[n] for n in rows], [before[n] for n in rows], name)
        row |= {
            "paired_baseline": found["baseline_name"],
            "paired_baseline_score": found["baseline_mean"],
            "paired_ci_lower": found["ci_lower"],
            "paired_ci_upper": found["ci_upper"],
            "paired_pvalue": found["p_value"],
        }
        logger.info(
            f"{task.name} against the baseline {name}: {found['mean_diff']:+.4f} over {len(rows)} rows, "
            f"p = {found['p_value']:.4f}."
        )


def _scores_in(baseline: str, task: TaskSpec, metric: str) -> dict[int, float | None]:
    """The baseline's scores by row; {} where its files are of other tasks."""
    path = Path(baseline)
    if path.is_dir():
        logs = sorted(path.rglob(f"*_samples_{task.name}.jsonl"))
        if len(logs) > 1:
            logger.warning(
                f"{baseline} holds {len(logs)} logs of {task.name}: the last one, {logs[-1]}, is the baseline."
            )
        if not logs:
            return {}
        path = logs[-1]
    elif "_samples_" in path.name and not path.name.endswith(f"_samples_{task.name}.jsonl"):
        return {}
    scores: dict[int, float | None] = {}
    for line in read_text(path).split("\n"):  # not `splitlines`: see utils/rows.py
        try:
            record = json.loads(line)
            scores[record["doc_id"]] = _score(record, metric)
        except (ValueError, KeyError, TypeError):
            continue
    return scores


def _score(record: Mapping[str, Any], metric: str) -> float | None:
    """A row's number: of its item, of a plain number under the metric's name, or under `score`."""
    item = record.get(metric, record.get("score"))
    return finite(item.get("score") if isinstance(item, Mapping) else item)
