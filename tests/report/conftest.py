"""Run folders that the real lmms-eval has written: three models × two dates × all benchmarks × one task that is not ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.report.page_parser import page_of

OURS = (
    "mirage_mmst_sample",
    "mirage_mmmt_sample",
    "amigo_synthetic",
    "sgmri_vqa_sample",
    "mmdeepresearch_bench_sample",
)
LIMIT = 14  # rows a task, as many as MIRAGE's samples have
FOREIGN = "colour_of_things"
# Each answers that share of the rows with another row's gold answer.
MODELS = {"acme/alpha": 0.2, "acme/beta": 0.5, "acme/gamma": 1.0}
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
def task_manager(evaluator, tmp_path_factory):
    """lmms-eval's index with a task of somebody else's in it."""
    folder = tmp_path_factory.mktemp("foreign")
    rows = folder / "rows.json"
    rows.write_text(json.dumps([{"question": "Sky?", "answer": "blue"}, {"question": "Leaf?", "answer": "green"}]))
    (folder / "colour_of_things.yaml").write_text(_FOREIGN_YAML.format(rows=rows))
    (folder / "things.py").write_text(_FOREIGN_PYTHON)
    return evaluator.TaskManager(include_path=str(folder))


def save_run(evaluator, task_manager, output: Path, name: str, date: str, model, tasks, **options):
    """Evaluate in this process, and let lmms-eval write what its command line writes."""
    from lmms_eval.loggers.evaluation_tracker import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(output))
    results = evaluator.simple_evaluate(
        model=model,
        model_args=f"pretrained={name}",
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
    from lmms_tasks.baselines.reference import ReferenceSimple

    home = tmp_path_factory.mktemp("home")
    output = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMMS_TASKS_HOME", str(home))
        for name, error_rate in MODELS.items():
            for later, date in enumerate(DATES):
                model = ReferenceSimple(error_rate=error_rate, seed=later)
                save_run(evaluator, task_manager, output, name, date, model, [*OURS, FOREIGN], limit=LIMIT)
    return output


@pytest.fixture(scope="module")
def shown(folder):
    """The page about all runs."""
    return page_of(folder)
