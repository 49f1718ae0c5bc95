"""The real `lmms-eval` command, in processes of its own. Each start costs twelve seconds, so each run shows much."""

from __future__ import annotations

import json
import math

import pytest

from tests.judge_server import JudgeServer
from tests.lmms_eval_process import lmms_eval, lmms_tasks

SAMPLES = ("mirage_mmst_id_sample", "mirage_mmst_mg_sample", "mirage_mmst_contextual_mg_sample")
REAL = ("mirage_mmst_id", "mirage_mmst_mg", "mirage_mmst_contextual_mg")


def numbers(results: dict) -> dict:
    """The metrics of a task's results without error bars, NaN as a word so that equality works."""
    return {
        key: "NaN" if isinstance(value, float) and math.isnan(value) else value
        for key, value in results.items()
        if key.endswith(",none") and "_stderr" not in key
    }


def scored(outcome) -> dict:
    assert outcome.code == 0, outcome.text[-3000:]
    results = json.loads(outcome.stdout)["results"]
    return {
        task: {k: "NaN" if v is None else v for k, v in row.items() if k.endswith(",none") and "_stderr" not in k}
        for task, row in results.items()
    }


@pytest.fixture
def real_rows(shared_data) -> str:
    return str(shared_data / "mirage" / "samples")


def test_any_model_of_lmms_eval_runs_with_no_flag_and_no_variable(tmp_path):
    outcome = lmms_eval(tmp_path, "--model", "dummy", "--tasks", "mirage_mmst_sample", "--limit", "2")
    assert outcome.code == 0
    assert set(SAMPLES) < outcome.results.keys()
    assert outcome.results["mirage_mmst_id_sample"]["identification_accuracy,none"] == 0.0
    assert outcome.manifest("mirage_mmst_id_sample")["rows"] == 2


def test_tasks_are_found_by_include_path_where_the_plugin_is_switched_off(tmp_path):
    folder = lmms_tasks("path").stdout.strip()
    arguments = ("--model", "dummy", "--tasks", "mirage_mmst_id_sample", "--limit", "2", "--include_path", folder)
    outcome = lmms_eval(tmp_path, *arguments, LMMS_TASKS_DISABLE="1")
    assert outcome.code == 0
    assert outcome.results["mirage_mmst_id_sample"]["judged_coverage,none"] == 1.0
    assert not list(tmp_path.rglob("*_lmms_tasks_*"))


@pytest.fixture(scope="module")
def reference_on_samples(tmp_path_factory):
    return lmms_eval(
        tmp_path_factory.mktemp("reference"),
        *("--model", "reference", "--tasks", "mirage_mmst_sample", "--log_samples"),
        LMMS_TASKS_JUDGES="offline",
        LMMS_TASKS_HOME=str(tmp_path_factory.mktemp("home")),
    )


def test_gold_answers_reach_the_top(reference_on_samples):
    results = reference_on_samples.results
    assert results["mirage_mmst_id_sample"]["identification_accuracy,none"] > 0.9
    assert results["mirage_mmst_mg_sample"]["w_sum,none"] > 0.6
    assert results["mirage_mmst_contextual_mg_sample"]["w_sum,none"] > 0.6


def test_the_group_is_the_plain_mean_of_the_two_standard_subjects(reference_on_samples):
    results = reference_on_samples.results
    members = [results[name]["site_weighted_score,none"] for name in SAMPLES[:2]]
    assert results["mirage_mmst_sample"]["site_weighted_score,none"] == pytest.approx(sum(members) / 2)
    assert "site_weighted_score,none" not in results[SAMPLES[2]]
    group_metrics = [k for k in results["mirage_mmst_sample"] if k.endswith(",none") and "_stderr" not in k]
    assert group_metrics == ["site_weighted_score,none"]


def test_scoring_the_log_gives_the_numbers_of_the_run_and_its_group(reference_on_samples):
    logs = [str(reference_on_samples.log(task)) for task in SAMPLES]
    again = scored(lmms_tasks("score", "mirage_mmst_sample", *logs, "--json"))
    for task in SAMPLES:
        assert again[task] == numbers(reference_on_samples.results[task])
    assert again["mirage_mmst_sample"] == numbers(reference_on_samples.results["mirage_mmst_sample"])


def test_answers_generated_first_and_scored_later_give_the_same_numbers(tmp_path, reference_on_samples):
    arguments = ("--model", "reference", "--tasks", "mirage_mmst_sample", "--predict_only", "--log_samples")
    outcome = lmms_eval(tmp_path, *arguments)
    assert outcome.code == 0
    logs = [str(outcome.log(task)) for task in SAMPLES]
    later = scored(lmms_tasks("score", "mirage_mmst_sample", *logs, "--json", LMMS_TASKS_JUDGES="offline"))
    assert later == {name: numbers(reference_on_samples.results[name]) for name in (*SAMPLES, "mirage_mmst_sample")}


def test_real_rows_go_through_a_real_vision_language_model(tmp_path, real_rows):
    arguments = ("--model", "tiny_vlm", "--model_args", "max_new_tokens=4", "--tasks", "mirage_mmst", "--log_samples")
    outcome = lmms_eval(tmp_path, *arguments, MIRAGE_DATA=real_rows)
    assert outcome.code == 0
    assert [len(outcome.samples(task)) for task in REAL] == [3, 5, 8]
    assert all(sample["filtered_resps"] for task in REAL for sample in outcome.samples(task))
    assert outcome.results["mirage_mmst_id"]["identification_accuracy,none"] == 0.0


def test_two_ranks_give_the_numbers_and_logs_of_one_and_without_judges_one_sentence_says_so(tmp_path, real_rows):
    arguments = ("--model", "reference", "--tasks", "mirage_mmst", "--log_samples")
    one = lmms_eval(tmp_path / "one", *arguments, MIRAGE_DATA=real_rows)
    two = lmms_eval(tmp_path / "two", *arguments, ranks=2, MIRAGE_DATA=real_rows)
    assert one.code == two.code == 0
    for task in REAL:
        assert numbers(one.results[task]) == numbers(two.results[task])
        by_row = [sorted(outcome.samples(task), key=lambda sample: sample["doc_id"]) for outcome in (one, two)]
        assert by_row[0] == by_row[1]
        told = [outcome.manifest(task) for outcome in (one, two)]
        assert told[0] == told[1]
    for outcome in (one, two):
        # Said once, before the model's answers, with what is missing and what to do.
        assert outcome.text.count("No judge is configured") == 1
        sentence, _ = outcome.text.split("No judge is configured")[1].split("\n", 1)
        assert "LMMS_TASKS_JUDGE_QWEN3_BASE_URL" in sentence and "lmms-tasks score" in sentence
        assert outcome.text.index("No judge is configured") < outcome.text.index("Building contexts")
        assert math.isnan(outcome.results["mirage_mmst_mg"]["w_sum,none"])
        assert outcome.results["mirage_mmst_id"]["identification_accuracy,none"] == 1.0
        assert outcome.results["mirage_mmst_id"]["judged_coverage,none"] == 0.0


def test_a_chat_model_sees_the_question_untouched_and_all_images_and_its_reasoning_is_stripped(tmp_path):
    """`--model openai` against a server on loopback; the answers are those of `tests/test_evaluation.py`."""
    from lmms_tasks.benchmarks import read_catalogue
    from lmms_tasks.sources import load_rows
    from tests.test_evaluation import FULL, REASONING

    task = "mirage_mmst_mg_sample"
    rows = list(load_rows(read_catalogue().tasks[task]))
    questions = [row["question"] for row in rows]
    kinds = list(REASONING.values())

    def answer(body: dict, number: int) -> str:
        (message,) = body["messages"]
        text, *images = message["content"]
        position = questions.index(text["text"])
        assert [part["type"] for part in images] == ["image_url"] * rows[position]["n_images"]
        return kinds[position % 4][0]

    with JudgeServer(answer) as model, JudgeServer(FULL) as judge:
        arguments = ("--model", "openai", "--model_args", f"model=scripted,base_url={model.base_url},api_key=none")
        outcome = lmms_eval(
            tmp_path,
            *arguments,
            *("--tasks", task, "--log_samples"),
            LMMS_TASKS_JUDGES="single",
            LMMS_TASKS_JUDGE_SINGLE_BASE_URL=judge.base_url,
            LMMS_TASKS_JUDGE_SINGLE_MODEL="judge",
        )
    assert outcome.code == 0
    unanswered = len([position for position in range(len(rows)) if position % 4 == 2])
    assert model.count == len(rows)
    assert judge.count == len(rows) - unanswered
    expected = 0.7 * (len(rows) - unanswered) / len(rows)
    assert outcome.results[task]["w_sum,none"] == pytest.approx(expected, abs=1e-12)
    assert outcome.results[task]["judged_coverage,none"] == 1.0
    assert outcome.manifest(task)["answers"] == {"judged": len(rows) - unanswered, "unclosed_reasoning": unanswered}


def test_a_run_that_cannot_succeed_ends_before_the_model_with_one_sentence_and_exit_code_1(tmp_path, real_rows):
    outcome = lmms_eval(
        tmp_path, "--model", "reference", "--tasks", "mirage_mmst_id", MIRAGE_DATA=str(tmp_path / "none")
    )
    assert outcome.code == 1
    assert outcome.stderr.strip().splitlines()[-1].startswith("There is no file or folder")
    assert "Traceback" not in outcome.text and "Building contexts" not in outcome.text


def test_a_run_that_fails_is_exit_code_1_where_lmms_eval_alone_exits_0(tmp_path):
    arguments = ("--model", "gemma3", "--model_args", f"pretrained={tmp_path}/none,device=cpu,device_map=cpu")
    outcome = lmms_eval(tmp_path, *arguments, "--tasks", "mirage_mmst_id_sample")
    assert outcome.code == 1
    assert outcome.stderr.strip().splitlines()[-1].startswith("The run failed: ")
    assert "Traceback" in outcome.stderr  # for whoever has to find the cause
