"""lmms-eval's own `--baseline` with our items: its paired t-test, over the scores of a task's primary metric."""

from __future__ import annotations

import json

import pytest
from scipy import stats

from lmms_tasks.baselines.reference import ReferenceSimple
from tests.lmms_eval_process import lmms_eval

TASK, OTHER, PERCENT = "mirage_mmst_mg_sample", "mirage_mmst_id_sample", "mirage_mmmt_direct_sample"


@pytest.fixture
def evaluate(evaluator, task_manager, home):
    def run(error_rate, tasks, **options):
        model = ReferenceSimple(error_rate=error_rate)
        options = {"task_manager": task_manager, "bootstrap_iters": 0, "log_samples": True, **options}
        return evaluator.simple_evaluate(model=model, tasks=list(tasks), **options)

    return run


@pytest.fixture
def baseline(evaluate, tmp_path):
    """The folder of a run that is wrong in a third of its rows, as lmms-eval leaves its logs."""
    folder = tmp_path / "baseline"
    folder.mkdir()
    samples = evaluate(0.33, [TASK, PERCENT])["samples"]
    for name, lines in samples.items():
        text = "".join(json.dumps(line, default=str) + "\n" for line in lines)
        (folder / f"20260102_030405_samples_{name}.jsonl").write_text(text)
    return folder


def scores(samples, metric):
    return [sample[metric]["score"] for sample in samples]


def scores_in(baseline, task, metric):
    (log,) = baseline.glob(f"*_samples_{task}.jsonl")
    return scores([json.loads(line) for line in log.read_text().splitlines()], metric)


@pytest.mark.parametrize(("task", "metric"), [(TASK, "w_sum"), (PERCENT, "decision_accuracy")])
def test_the_t_test_is_over_the_primary_metrics_scores_in_their_own_unit(evaluate, baseline, task, metric):
    outcome = evaluate(0.0, [task], baseline=str(baseline))
    found = outcome["results"][task]
    before, now = scores_in(baseline, task, metric), scores(outcome["samples"][task], metric)
    test = stats.ttest_rel(now, before)
    low, high = test.confidence_interval(0.95)
    assert found["paired_baseline"].endswith(f"({metric})")
    assert found["paired_baseline_score"] == pytest.approx(sum(before) / len(before))
    assert (found["paired_ci_lower"], found["paired_ci_upper"]) == (pytest.approx(low), pytest.approx(high))
    assert found["paired_pvalue"] == pytest.approx(test.pvalue)
    # What lmms-eval's table prints as the difference.
    assert found[f"{metric},none"] - found["paired_baseline_score"] == pytest.approx((low + high) / 2)


def test_a_log_alone_and_a_file_of_plain_numbers_are_baselines_too(evaluate, baseline, tmp_path):
    (log,) = baseline.glob(f"*_samples_{TASK}.jsonl")
    plain = tmp_path / "plain.jsonl"
    told = scores_in(baseline, TASK, "w_sum")
    plain.write_text("".join(json.dumps({"doc_id": n, "score": score}) + "\n" for n, score in enumerate(told)))
    both = [evaluate(0.0, [TASK], baseline=str(file))["results"][TASK] for file in (log, plain)]
    assert both[0]["paired_pvalue"] == both[1]["paired_pvalue"] < 1
    assert both[0]["paired_baseline_score"] == both[1]["paired_baseline_score"] == pytest.approx(sum(told) / len(told))


def test_a_line_separator_within_an_answer_loses_no_row(evaluate, baseline, tmp_path):
    (log,) = baseline.glob(f"*_samples_{TASK}.jsonl")
    lines = [json.loads(line) | {"filtered_resps": ["one\u2028two"]} for line in log.read_text().splitlines()]
    other = tmp_path / log.name
    other.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    both = [evaluate(0.0, [TASK], baseline=str(file))["results"][TASK] for file in (log, other)]
    assert both[0]["paired_baseline_score"] == both[1]["paired_baseline_score"]
    assert both[0]["paired_pvalue"] == both[1]["paired_pvalue"] < 1


def test_the_log_of_another_task_is_no_baseline(evaluate, baseline):
    (log,) = baseline.glob(f"*_samples_{TASK}.jsonl")
    results = evaluate(0.0, [OTHER], baseline=str(log))["results"][OTHER]
    assert not any(key.startswith("paired_") for key in results)


def test_a_run_against_itself_has_no_difference(evaluate, baseline):
    found = evaluate(0.33, [TASK], baseline=str(baseline))["results"][TASK]
    assert (found["paired_ci_lower"], found["paired_ci_upper"], found["paired_pvalue"]) == (0.0, 0.0, 1.0)


@pytest.mark.long
def test_the_flag_of_the_command_line_prints_and_saves_it(tmp_path, baseline):
    run = ("--model", "reference", "--tasks", TASK, "--log_samples", "--baseline", str(baseline))
    outcome = lmms_eval(tmp_path / "run", *run)
    assert outcome.code == 0, outcome.text[-3000:]
    assert outcome.results[TASK]["paired_baseline"].endswith("(w_sum)")
    assert 0 < outcome.results[TASK]["paired_pvalue"] < 1
    assert "P_Value" in outcome.text and "(w_sum)" in outcome.text
