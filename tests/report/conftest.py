"""Run folders that the real lmms-eval has written: three models × two dates × our tasks × one task that is not ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

OURS = ("mirage_mmst_sample",)
FOREIGN = "colour_of_things"
MODELS = ("acme/alpha", "acme/beta", "acme/gamma")
DATES = ("20260102_030405", "20260203_040506")
_FOREIGN_YAML = """
task: colour_of_things
dataset_path: json
dataset_kwargs:
  data_files:
    test: {rows}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
doc_to_visual: !function things.no_images
process_results: !function things.process_results
generation_kwargs:
  until: []
metric_list:
  - metric: exact
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""
_FOREIGN_PYTHON = """
def no_images(doc):
    return []


def process_results(doc, results):
    return {"exact": float(results[0] == doc["answer"])}
"""


@pytest.fixture(scope="session")
def evaluator():
    import lmms_eval.evaluator

    return lmms_eval.evaluator


@pytest.fixture(scope="session")
def task_manager(evaluator, tmp_path_factory):
    """lmms-eval's index with a task of somebody else's in it."""
    folder = tmp_path_factory.mktemp("foreign")
    rows = folder / "rows.json"
    rows.write_text(json.dumps([{"question": "Sky?", "answer": "blue"}, {"question": "Leaf?", "answer": "green"}]))
    (folder / "colour_of_things.yaml").write_text(_FOREIGN_YAML.format(rows=rows))
    (folder / "things.py").write_text(_FOREIGN_PYTHON)
    return evaluator.TaskManager(include_path=str(folder))


def save_run(evaluator, task_manager, output: Path, model: str, date: str, script, tasks, **options):
    """Evaluate in this process, and let lmms-eval write what its command line writes."""
    from lmms_eval.loggers.evaluation_tracker import EvaluationTracker

    from tests.scripted_model import ScriptedModel

    tracker = EvaluationTracker(output_path=str(output))
    results = evaluator.simple_evaluate(
        model=ScriptedModel(script),
        model_args=f"pretrained={model}",
        tasks=list(tasks),
        task_manager=task_manager,
        bootstrap_iters=0,
        evaluation_tracker=tracker,
        datetime_str=date,
        log_samples=True,
        **options,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples, datetime_str=date)
    for name in results["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])
    return results


@pytest.fixture(scope="session")
def folder(evaluator, task_manager, tmp_path_factory):
    """The folder of all runs; alpha answers with the gold answer more often than beta, and gamma never does."""
    from lmms_tasks.benchmarks import read_catalogue
    from lmms_tasks.sources import load_rows

    home = tmp_path_factory.mktemp("home")
    output = tmp_path_factory.mktemp("runs")
    gold = {
        task.name: [str(task.hook("doc_to_target")(row)) for row in load_rows(task)]
        for task in read_catalogue().leaves(OURS)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMMS_TASKS_HOME", str(home))
        for number, model in enumerate(MODELS):
            for later, date in enumerate(DATES):

                def script(task, doc_id, n, number=number, later=later):
                    right = number < 2 and (doc_id + later) % (number + 2) != 0
                    return gold[task][doc_id] if right and task in gold else f"Rust, perhaps; ask again. {doc_id}"

                save_run(evaluator, task_manager, output, model, date, script, [*OURS, FOREIGN])
    return output
