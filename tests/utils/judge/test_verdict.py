"""From verdicts to a row's judgement."""

from __future__ import annotations

import json

import pytest

from lmms_tasks.utils.judge import Verdict
from lmms_tasks.utils.judge.verdict import reduce

NUMERIC = ("accuracy", "spurious")


def valid(judge: str, accuracy: int, generation: int = 0, spurious: str = "No") -> Verdict:
    return Verdict({"accuracy": accuracy, "spurious": spurious}, "valid", None, judge, generation)


def failed(judge: str, generation: int = 0) -> Verdict:
    return Verdict(None, "failed", "h:1: 503: busy", judge, generation)


def test_generations_are_reduced_inside_a_judge_before_judges_weigh_equally() -> None:
    verdicts = [valid("a", 4, 0), valid("a", 2, 1), valid("a", 3, 2), valid("b", 0, 0), failed("b", 1)]
    # a: (4 + 2 + 3) / 3 = 3; b: 0 / 1 = 0; row: 1.5. The mean over verdicts would be 9 / 4.
    assert reduce(verdicts, NUMERIC).fields["accuracy"] == 1.5


def test_yes_counts_one_and_no_zero() -> None:
    verdicts = [valid("a", 0, 0, "Yes"), valid("a", 0, 1, "No"), valid("b", 0, 0, "Yes")]
    assert reduce(verdicts, NUMERIC).fields["spurious"] == 0.75


@pytest.mark.parametrize(
    "judges, counting, scored",
    [
        (1, 1, True),
        (1, 0, False),
        (2, 2, True),
        (2, 1, False),
        (3, 2, True),
        (3, 1, False),
        (4, 3, True),
        (4, 2, False),
    ],
)
def test_two_thirds_of_the_judges_must_count(judges: int, counting: int, scored: bool) -> None:
    verdicts = [valid(f"j{n}", 4) if n < counting else failed(f"j{n}") for n in range(judges)]
    judgement = reduce(verdicts, NUMERIC)
    assert judgement.scored == scored
    assert judgement.fields == ({"accuracy": 4.0, "spurious": 0.0} if scored else None)


def test_one_valid_generation_makes_a_judge_count() -> None:
    assert reduce([failed("a", 0), failed("a", 1), valid("a", 1, 2)], NUMERIC).fields["accuracy"] == 1.0


def test_an_unscored_row_says_why() -> None:
    judgement = reduce([valid("a", 4), failed("b"), failed("c")], NUMERIC)
    assert judgement.reason == ("1 of 3 judges gave a valid verdict, 2 needed (b: h:1: 503: busy; c: h:1: 503: busy)")


def test_the_record_is_json_and_complete() -> None:
    record = reduce([valid("a", 4), failed("a", 1)], NUMERIC).record()
    assert json.loads(json.dumps(record)) == record
    assert [(one["status"], one["scores"]) for one in record["verdicts"]] == [
        ("valid", {"accuracy": 4, "spurious": "No"}),
        ("failed", None),
    ]
