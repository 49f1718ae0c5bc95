"""The lexical stand-in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from lmms_tasks.utils.judge import Rubric
from lmms_tasks.utils.judge.offline import offline_verdict, overlap, tokens

from .conftest import Scores

GOLD = (
    "The white coating on the squash leaves is powdery mildew. Remove infected leaves, keep water off the foliage, "
    "and spray potassium bicarbonate every seven days."
)
UNRELATED = (
    "These are carpenter ants, and they do not eat the wood of your house. Find the nest, fix the leak that drew "
    "them in, and place a bait near their trail at night."
)


class Criteria(BaseModel):
    """The fields of single-turn guidance."""

    accuracy: int = Field(ge=0, le=4, description="")
    relevance: int = Field(ge=0, le=4, description="")
    completeness: int = Field(ge=0, le=4, description="")
    parsimony: int = Field(ge=0, le=4, description="")
    identification_accuracy: int = Field(ge=0, le=1, description="")


CRITERIA = Rubric("criteria", "1", "{{answer}}{{gold}}", Criteria, reference="gold", candidate="answer")
SCORES = Rubric("scores", "1", "{{answer}}{{gold}}", Scores, reference="gold", candidate="answer")


def fields(answer: str, gold: str = GOLD, rubric: Rubric = CRITERIA) -> dict:
    return dict(offline_verdict(rubric, {"answer": answer, "gold": gold}).fields)


def test_the_gold_answer_gets_every_maximum() -> None:
    assert fields(GOLD) == dict(accuracy=4, relevance=4, completeness=4, parsimony=4, identification_accuracy=1)


def test_an_unrelated_answer_gets_nothing() -> None:
    assert set(fields(UNRELATED).values()) == {0}


def test_half_of_the_gold_answer_is_parsimonious_and_incomplete() -> None:
    scores = fields("The white coating on the squash leaves is powdery mildew.")
    # 6 of the gold answer's 19 counted words (without "the", "on", "is", …): recall 0.32 → 1, precision 1 → 4.
    assert (scores["completeness"], scores["parsimony"]) == (1, 4)


def test_an_empty_answer_gets_nothing() -> None:
    assert set(fields("").values()) == {0}


def test_yes_means_a_fault_where_the_field_is_one() -> None:
    assert fields(GOLD, rubric=SCORES)["spurious"] == "No"
    assert fields(UNRELATED, rubric=SCORES)["spurious"] == "Yes"


def test_the_verdict_says_that_no_judge_stands_behind_it() -> None:
    verdict = offline_verdict(CRITERIA, {"answer": GOLD, "gold": GOLD})
    assert (verdict.judge, verdict.model, verdict.valid, verdict.input_tokens) == ("offline", "offline", True, 0)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Ｐｏｗｄｅｒｙ MILDEW!", ["powdery", "mildew"]),  # full-width letters are letters (NFKC)
        ("白粉病", ["白", "粉", "病"]),
        ("wheat白粉", ["wheat", "白", "粉"]),
        ("7 days", ["7", "days"]),
        ("It is the", ["it", "is", "the"]),  # nothing else to count
        ("snake_case", ["snake", "case"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert sorted(tokens(text).elements()) == sorted(expected)


def test_words_count_as_often_as_both_texts_have_them() -> None:
    # shared: mildew once, leaf once; 2 of 2 reference words, 2 of 4 candidate words
    assert overlap("mildew mildew mildew leaf", "leaf mildew") == (1.0, 0.5)


@given(st.text(max_size=80), st.text(max_size=80))
def test_scores_stay_in_their_range_and_do_not_change(answer: str, gold: str) -> None:
    first = fields(answer, gold)
    assert all(0 <= first[field.name] <= field.high and type(first[field.name]) is int for field in CRITERIA.fields)
    assert fields(answer, gold) == first


@given(st.text(max_size=80))
def test_identical_texts_get_every_maximum(text: str) -> None:
    assert fields(text, text) == {field.name: field.high for field in CRITERIA.fields}
