"""Decisions over all rows: the 861 gold decisions of the benchmark by `lmms-tasks score`, and the numbers beside them."""

from __future__ import annotations

import csv
import json
import math

import pytest

from lmms_tasks.cli import main
from lmms_tasks.mirage.decision_scores import (
    accuracy_item,
    accuracy_over_parsed_item,
    applicable_mean,
    baselines,
    confusion,
    precision_and_recall,
)

CLARIFY, RESPOND = "<Clarify>", "<Respond>"
FAILED = "request_failed"


def answer(decision: str) -> str:
    return f"<Decision>\n{decision}\n</Decision>\n<Utterance>\nHow old is it?\n</Utterance>"


@pytest.fixture(scope="session")
def decisions(shared_data) -> list[dict]:
    """The gold decisions with their ids and turns, in the order of the rows."""
    with (shared_data / "mirage" / "mmmt_decisions.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [int(row["row"]) for row in rows] == list(range(861))
    return [{**row, "dialog_turns": int(row["dialog_turns"])} for row in rows]


@pytest.fixture
def rows_file(decisions, tmp_path):
    """Rows with the real ids, decisions and turns around a dialogue of ours."""
    lines = []
    for row in decisions:
        dialogue = "".join(f"{('user', 'expert')[n % 2]}: Turn {n}.\n" for n in range(row["dialog_turns"]))
        lines.append({**row, "dialog_context": dialogue, "utterance": "How old is it?"})
    path = tmp_path / "direct.json"
    path.write_text(json.dumps(lines))
    return path


@pytest.fixture
def score(capsys, tmp_path, rows_file):
    """Score answers by position, or by another key, with `lmms-tasks score mirage_mmmt_direct`."""

    def run(answers: list, key: str = "doc_id", keys=None) -> dict:
        path = tmp_path / "answers.jsonl"
        keys = range(len(answers)) if keys is None else keys
        lines = (json.dumps({key: k, "prediction": a}) for k, a in zip(keys, answers, strict=True))
        path.write_text("\n".join(lines))
        assert main(["score", "mirage_mmmt_direct", str(path), "--data", str(rows_file), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def accuracy(printed: dict) -> float:
    return printed["results"]["mirage_mmmt_direct"]["decision_accuracy,none"]


def test_always_clarify_and_the_one_turn_rule_score_as_published(score, decisions):
    # 487 of 861 rows are <Clarify>; 569 of 861 follow the rule.
    always = score([answer(CLARIFY)] * 861)
    assert accuracy(always) == pytest.approx(100 * 487 / 861) and round(accuracy(always), 2) == 56.56
    rule = score([answer(CLARIFY if row["dialog_turns"] == 1 else RESPOND) for row in decisions])
    assert accuracy(rule) == pytest.approx(100 * 569 / 861) and round(accuracy(rule), 2) == 66.09
    for printed in (always, rule):
        told = printed["manifests"]["mirage_mmmt_direct"]["breakdowns"]["baselines"]
        assert told == {"always_clarify": accuracy(always), "clarify_iff_one_turn": accuracy(rule)}


def test_rows_are_keyed_by_position_since_ids_repeat(score, decisions):
    # A table of gold decisions by id keeps the last row of each id: 30 rows would get another one's decision.
    by_id = {row["id"]: row["decision"] for row in decisions}
    flipped = [number for number, row in enumerate(decisions) if by_id[row["id"]] != row["decision"]]
    assert (len(by_id), len(flipped)) == (788, 30)
    gold = score([answer(row["decision"]) for row in decisions])
    assert accuracy(gold) == 100.0
    as_keyed_by_id = score([answer(by_id[row["id"]]) for row in decisions])
    assert accuracy(as_keyed_by_id) == pytest.approx(100 * (861 - 30) / 861)


def test_an_answer_that_names_a_repeated_id_is_refused(score, decisions):
    with pytest.raises(SystemExit, match="several rows have the id"):
        score([answer(CLARIFY)] * 861, key="id", keys=[row["id"] for row in decisions])


def test_the_manifest_has_confusion_precision_recall_and_a_table_by_turns(score, decisions):
    # Unparsable on every row of three turns, clarify on all others.
    printed = score(["Hm." if row["dialog_turns"] == 3 else answer(CLARIFY) for row in decisions])
    results = printed["results"]["mirage_mmmt_direct"]
    told = printed["manifests"]["mirage_mmmt_direct"]["breakdowns"]
    three = [row["decision"] for row in decisions if row["dialog_turns"] == 3]
    clarify_of_three = three.count(CLARIFY)
    assert len(three) == 140
    hits, others = 487 - clarify_of_three, 861 - 140
    assert told["confusion"]["clarify"] == {
        "clarify": hits,
        "respond": 0,
        "unparsable": clarify_of_three,
        "request_failed": 0,
    }
    assert told["confusion"]["respond"]["clarify"] == others - hits
    assert told["clarify"]["precision"] == pytest.approx(100 * hits / others)
    assert told["clarify"]["recall"] == pytest.approx(100 * hits / 487)
    assert results["decision_accuracy,none"] == pytest.approx(100 * hits / 861)
    assert results["decision_accuracy_official,none"] == pytest.approx(100 * hits / others)
    assert results["parse_rate,none"] == pytest.approx(others / 861)
    assert list(told["by_turns"]) == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "11", "17"]
    assert told["by_turns"]["3"]["decision_accuracy"] == {"mean": 0.0, "n": 140}
    assert told["by_turns"]["3"]["decision_accuracy_official"] == {"mean": None, "n": 0}
    assert told["by_turns"]["1"]["rows"] == 599
    assert told["prompt"]["version"] == "1" and len(told["prompt"]["sha256"]) == 64


def test_without_a_judge_the_decision_metrics_stand_alone(score):
    results = score([answer(CLARIFY)] * 861)["results"]["mirage_mmmt_direct"]
    assert results["judged_coverage,none"] == results["judgements_per_sample,none"] == 0.0
    judged = [key for key in results if key.startswith("goal_relevance") and "_stderr" not in key]
    assert len(judged) == 4 and all(results[key] is None for key in judged)


def test_broken_off_answers_and_failed_requests_are_counted_apart(score):
    answers = [answer(CLARIFY)] * 861
    answers[0] = "<think>The user"  # no answer: wrong
    answers[1] = answer(CLARIFY).removesuffix("</Utterance>")  # row 1 is <Clarify>: right, and broken off
    answers[2] = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout"  # row 2 is <Respond>: no answer of the model
    printed = score(answers)
    told = printed["manifests"]["mirage_mmmt_direct"]["breakdowns"]
    assert told["truncated_answers"] == 2
    assert told["confusion"]["respond"]["request_failed"] == 1
    assert told["confusion"]["clarify"]["unparsable"] == 1
    assert accuracy(printed) == pytest.approx(100 * 486 / 860)


def test_a_mean_over_the_rows_that_apply_takes_coverage_over_these_only():
    elsewhere = [{"applies": False, "status": "judged"}] * 900
    scored = [{"score": 3.0, "status": "judged"}]
    assert applicable_mean([*elsewhere, *scored * 19, {"status": "unscored"}]) == 3.0  # 95 % of 20
    assert math.isnan(applicable_mean([*elsewhere, *scored * 18, {"status": "unscored"}]))  # 18 of 19
    assert math.isnan(applicable_mean(elsewhere)) and math.isnan(applicable_mean([]))


def test_with_repeated_answers_a_row_is_the_mean_over_them():
    predictions = ["clarify", "respond", "unparsable", "unparsable"]
    assert accuracy_item("clarify", predictions) == {"score": 25.0}
    assert accuracy_over_parsed_item("clarify", predictions) == {"score": 50.0}
    assert accuracy_over_parsed_item("clarify", ["unparsable"]) == {"applies": False}
    assert accuracy_item("clarify", [*predictions, "request_failed"]) == {}


def test_precision_and_recall_by_hand_and_without_any_clarify():
    records = [
        {"decision": "clarify", "predictions": ["clarify", "clarify", "respond", "unparsable", FAILED], "turns": 1},
        {"decision": "respond", "predictions": ["clarify", "respond", "respond", FAILED], "turns": 2},
    ]
    # 2 of 3 predicted are right, 2 of 4 actual are found; a request that failed was never predicted.
    expected = {"precision": pytest.approx(200 / 3), "recall": 50.0}
    assert precision_and_recall(confusion(records)) == expected
    assert baselines(records) == {"always_clarify": 50.0, "clarify_iff_one_turn": 100.0}
    empty = precision_and_recall(confusion([]))
    assert math.isnan(empty["precision"]) and math.isnan(empty["recall"])
