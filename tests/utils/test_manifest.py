import json
import math

import pytest

from lmms_tasks.utils.manifest import (
    agreement,
    grouped_means,
    judge_summary,
    judged_itself,
    without_nan,
    write_manifest,
)


def verdict(judge, generation, scores, status="valid", model="m-1"):
    tokens = {"input_tokens": 10, "output_tokens": 2}
    return {"judge": judge, "generation": generation, "status": status, "scores": scores, "model": model, **tokens}


def record(*verdicts):
    return {"judgements": [{"verdicts": list(verdicts)}]}


ROWS = [
    record(verdict("a", 0, {"accuracy": 4}), verdict("a", 1, {"accuracy": 2}), verdict("b", 0, {"accuracy": 1})),
    record(verdict("a", 0, {"accuracy": 1}), verdict("a", 1, None, "invalid"), verdict("b", 0, {"accuracy": 1})),
    {"judgements": []},  # an empty answer: a zero without a call
]


def test_a_judges_mean_is_over_rows_of_the_mean_over_its_valid_generations():
    summary = judge_summary(ROWS)
    assert summary["a"]["means"] == {"accuracy": 2.0}  # (3 + 1) / 2, and not (4 + 2 + 1) / 3
    assert summary["a"]["verdicts"] == {"invalid": 1, "valid": 3}
    assert (summary["a"]["input_tokens"], summary["b"]["output_tokens"]) == (40, 4)


def test_marks_of_references_cost_tokens_and_say_nothing_about_the_model():
    marks = {"reference_judgements": [{"verdicts": [verdict("a", 0, {"accuracy": 10}), verdict("b", 0, {"x": 1})]}]}
    rows = [record(verdict("a", 0, {"accuracy": 4})) | marks]
    summary = judge_summary(rows)
    assert summary["a"]["means"] == {"accuracy": 4.0} and summary["a"]["verdicts"] == {"valid": 2}
    assert summary["a"]["input_tokens"] == 20
    assert summary["b"]["means"] == {} and summary["b"]["output_tokens"] == 2
    assert agreement(rows)["accuracy"]["rows"] == 0


def test_every_model_name_that_was_returned_is_listed():
    rows = [record(verdict("a", 0, {"x": 1}, model="m-1")), record(verdict("a", 0, {"x": 1}, model="m-2"))]
    assert judge_summary(rows)["a"]["models"] == ["m-1", "m-2"]


def test_yes_and_no_count_as_1_and_0():
    rows = [record(verdict("a", 0, {"spurious": "Yes"})), record(verdict("a", 0, {"spurious": "No"}))]
    assert judge_summary(rows)["a"]["means"] == {"spurious": 0.5}


def test_agreement_is_over_all_scores_of_a_row():
    told = agreement(ROWS)["accuracy"]
    assert told["rows"] == 2
    # Scores 4, 2, 1: mean 7/3, variance (25 + 1 + 16) / 27; scores 1, 1: none.
    assert told["mean_standard_deviation"] == pytest.approx(math.sqrt(42 / 27) / 2)
    assert -1 < told["krippendorff_alpha"] < 1


def test_groups_have_means_with_their_n_and_unscored_rows_only_in_the_number_of_rows():
    items = {"x": [{"score": 1.0}, {}, {"score": 0.0}, {}]}
    table = grouped_means(items, ["x"], ["a", "a", "a", "b"])
    assert table["a"] == {"rows": 3, "x": {"mean": 0.5, "n": 2}}
    assert table["b"]["x"]["n"] == 0 and math.isnan(table["b"]["x"]["mean"])


def test_a_judge_that_is_the_model_under_test_is_found_by_the_last_part_of_its_name():
    panel = {"judges": [{"name": "q", "model": "Qwen/Qwen3-32B"}, {"name": "p", "model": "microsoft/Phi-4-reasoning"}]}
    assert judged_itself({"name": "vllm", "args": "model=/models/qwen3-32b,tensor_parallel_size=2"}, panel) == ["q"]
    assert judged_itself({"name": "vllm", "args": "model=Qwen/Qwen3-8B"}, panel) == []
    assert judged_itself({"name": "dummy", "args": ""}, panel) == []
    assert judged_itself({"name": "vllm", "args": "model=Qwen/Qwen3-32B"}, None) == []


def test_a_manifest_is_strict_json_with_nan_as_null(tmp_path):
    path = write_manifest({"a": math.nan, "b": [math.inf, 1.5], "c": {1: "x"}}, tmp_path / "deep" / "m.json")
    assert json.loads(path.read_text()) == {"a": None, "b": [None, 1.5], "c": {"1": "x"}}
    assert list(path.parent.iterdir()) == [path]


def test_numpy_scalars_become_plain_numbers():
    import numpy

    assert without_nan({"a": numpy.float64(0.5), "b": numpy.int64(2)}) == {"a": 0.5, "b": 2}
