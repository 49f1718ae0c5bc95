"""W-Sum and weighted scores against hand-made corners and the recorded official judgements."""

from __future__ import annotations

import json
import math
import operator
import random
from fractions import Fraction
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_tasks.mirage.w_sum import id_weighted_score, mg_weighted_score, overall, w_sum, w_sum_official

FACETS = ("accuracy", "relevance", "completeness", "parsimony")
SCORES = st.tuples(*[st.integers(0, 4)] * 4)
# (2A + R + C + P) / 20 by hand; the last is the example that the project's site shows.
CORNERS = {
    "all_zero": ((0, 0, 0, 0), 0.0),
    "all_four": ((4, 4, 4, 4), 1.0),
    "only_accuracy_4": ((4, 0, 0, 0), 0.4),
    "only_one_other_4": ((0, 0, 4, 0), 0.2),
    "all_one": ((1, 1, 1, 1), 0.25),
    "all_three": ((3, 3, 3, 3), 0.75),
    "site_example_1_2_2_2": ((1, 2, 2, 2), 0.4),
}


@pytest.fixture
def aggregates(shared_data: Path) -> dict:
    """Results of the unmodified official printer beside exact ones, for recorded and synthetic judgements."""
    return json.loads((shared_data / "mirage" / "aggregates.json").read_text(encoding="utf-8"))


@pytest.fixture
def judge_scores(shared_data: Path) -> dict:
    """Scores that Qwen3-32B gave to gpt-4o-mini in the official sample files."""
    return json.loads((shared_data / "mirage" / "judge_scores.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("scores", "value"), CORNERS.values(), ids=CORNERS)
def test_w_sum_of_a_corner(scores, value):
    assert w_sum(*scores) == pytest.approx(value, abs=1e-12)
    assert w_sum_official([scores]) == pytest.approx(value, abs=1e-12)


def test_only_accuracy_counts_twice():
    for position, weight in enumerate((2, 1, 1, 1)):
        scores = [0.0] * 4
        scores[position] = 1.0
        assert w_sum(*scores) == weight / 20


def test_the_corners_are_those_of_the_reference_file(aggregates):
    assert {name: value for name, (_, value) in CORNERS.items()} == aggregates["wsum_corners"]


def test_the_official_printer_rounds_means_before_it_weighs():
    """Means are 10/3: rounded to 3.33 they give 5 * 3.33 / 20 = 0.8325, exactly 5/6 = 0.8333..."""
    rows = [(4, 4, 4, 4), (3, 3, 3, 3), (3, 3, 3, 3)]
    assert w_sum_official(rows) == 0.8325
    assert math.fsum(w_sum(*row) for row in rows) / 3 == pytest.approx(5 / 6, abs=1e-12)


def test_a_third_partys_means_give_its_printed_w_sum():
    """MetaMirage (170 rows): (2 * 2.32 + 3.04 + 2.33 + 2.45) / 20 = 0.623, which its table prints."""
    assert w_sum_official([(2.32, 3.04, 2.33, 2.45)]) == 0.6230


def test_unrounded_means_of_the_third_party_differ_in_the_fourth_decimal():
    """Means that round to those four: sums over 170 rows of 394, 517, 396, 416 give (2*394+517+396+416)/3400."""
    totals = {"accuracy": 394, "relevance": 517, "completeness": 396, "parsimony": 416}
    means = [total / 170 for total in totals.values()]
    assert [round(mean, 2) for mean in means] == [2.32, 3.04, 2.33, 2.45]
    assert w_sum(*means) == pytest.approx(0.62265, abs=5e-6)
    columns = [[total // 170 + (row < total % 170) for row in range(170)] for total in totals.values()]
    rows = list(zip(*columns, strict=True))
    assert w_sum_official(rows) == 0.6230
    assert math.fsum(w_sum(*row) for row in rows) / 170 == pytest.approx(2117 / 3400, abs=1e-12)


@pytest.mark.parametrize("name", ["standard_MG", "contextual_MG"])
def test_recorded_management_scores_give_the_official_aggregates(name, judge_scores, aggregates):
    rows = [tuple(row[facet] for facet in FACETS) for row in judge_scores[name]]
    expected = aggregates[name]
    assert len(rows) == expected["n"]
    for position, facet in enumerate(FACETS):
        mean = math.fsum(row[position] for row in rows) / len(rows)
        assert mean == pytest.approx(expected["exact_means"][facet], abs=1e-9)
    assert w_sum_official(rows) == pytest.approx(expected["official_weighted_sum"], abs=1e-9)
    mean = math.fsum(w_sum(*row) for row in rows) / len(rows)
    assert mean == pytest.approx(expected["exact_weighted_sum"], abs=1e-9)
    assert mean == pytest.approx(expected["mean_of_per_sample_wsum"], abs=1e-9)


def test_recorded_identification_scores_give_the_sites_weighted_score(judge_scores, aggregates):
    rows, expected = judge_scores["standard_ID"], aggregates["standard_ID"]
    accuracy = math.fsum(row["identification_accuracy"] for row in rows) / len(rows)
    reasoning = math.fsum(row["reasoning_accuracy"] for row in rows) / len(rows)
    assert len(rows) == expected["n"]
    assert (accuracy, reasoning) == (expected["exact_identification_accuracy"], expected["exact_reasoning"])
    assert id_weighted_score(accuracy, reasoning) == pytest.approx(expected["site_ID_WS_x100"], abs=1e-9)
    by_row = [id_weighted_score(row["identification_accuracy"], row["reasoning_accuracy"]) for row in rows]
    assert math.fsum(by_row) / len(rows) == pytest.approx(expected["site_ID_WS_x100"], abs=1e-9)


@pytest.mark.parametrize(
    ("accuracy", "reasoning", "value"), [(0, 0, 0), (1, 4, 100), (1, 0, 200 / 3), (0, 4, 100 / 3), (0, 2, 50 / 3)]
)
def test_identification_weighs_twice_as_much_as_reasoning(accuracy, reasoning, value):
    assert id_weighted_score(accuracy, reasoning) == pytest.approx(value, abs=1e-12)


def test_the_management_score_is_w_sum_in_per_cent():
    assert [mg_weighted_score(value) for value in (0.0, 0.66, 1.0)] == [0.0, 66.0, 100.0]


def test_overall_is_the_plain_mean_of_both_subjects_whatever_their_sizes():
    assert overall(30.0, 70.0) == 50.0


def test_no_rows_give_no_number():
    assert math.isnan(w_sum_official([]))


def test_a_score_that_was_not_judged_stays_unknown():
    nan = float("nan")
    values = [id_weighted_score(nan, 2), id_weighted_score(1, nan), mg_weighted_score(nan), overall(nan, 50.0)]
    assert all(math.isnan(value) for value in values)


@pytest.mark.parametrize("wrong", [-1, 4.01, 7, float("nan"), float("inf")])
@pytest.mark.parametrize("position", range(4))
def test_w_sum_refuses_a_score_outside_its_scale(position, wrong):
    scores = [2.0] * 4
    scores[position] = wrong
    with pytest.raises(ValueError, match=FACETS[position]):
        w_sum(*scores)
    with pytest.raises(ValueError, match=FACETS[position]):
        w_sum_official([(4, 4, 4, 4), scores])


def test_the_official_w_sum_refuses_a_row_that_lacks_a_score():
    with pytest.raises(ValueError):
        w_sum_official([(4, 4, 4)])


def test_weighted_scores_refuse_values_outside_their_scales():
    for function, values in [
        (id_weighted_score, (1.01, 2)),
        (id_weighted_score, (43.9, 2)),
        (id_weighted_score, (1, 5)),
        (mg_weighted_score, (81.6,)),
        (mg_weighted_score, (-0.1,)),
        (overall, (101.0, 50.0)),
        (overall, (50.0, -1.0)),
    ]:
        with pytest.raises(ValueError):
            function(*values)


@given(SCORES)
def test_w_sum_of_whole_scores_lies_on_the_grid_of_twentieths(scores):
    value = w_sum(*scores)
    assert 0.0 <= value <= 1.0
    assert value * 20 == pytest.approx(round(value * 20), abs=1e-12)


@given(st.lists(st.tuples(*[st.floats(0, 4)] * 4), min_size=1), st.integers())
def test_the_order_of_rows_changes_no_digit(rows, seed):
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert w_sum_official(shuffled) == w_sum_official(rows)


def test_the_order_of_rows_does_not_decide_how_a_mean_is_rounded():
    """Added one by one, these four give 1.475 or a digit less, and so 1.48 or 1.47, depending on their order."""
    accuracies = [0.0, 2.8, 1.7, 1.4]
    # Not by sum(), which compensates from Python 3.12 on.
    added, sorted_first = (reduce(operator.add, order) / 4 for order in (accuracies, sorted(accuracies)))
    assert round(added, 2) != round(sorted_first, 2)
    rows = [(accuracy, 0, 0, 0) for accuracy in accuracies]
    assert w_sum_official(rows) == w_sum_official(sorted(rows)) == 0.147


@given(st.tuples(*[st.floats(0, 4)] * 4))
def test_w_sum_adds_exactly(scores):
    total = sum(weight * Fraction(score) for weight, score in zip((2, 1, 1, 1), scores, strict=True))
    assert w_sum(*scores) == float(total) / 20


@given(st.lists(SCORES, min_size=1))
def test_rounding_first_moves_the_official_w_sum_by_a_known_amount_at_the_most(rows):
    """Each mean moves by 0.005 at the most, five weights over 20: 0.00125; then half of the fourth decimal."""
    exact = math.fsum(w_sum(*row) for row in rows) / len(rows)
    assert abs(w_sum_official(rows) - exact) <= 0.00125 + 0.00005 + 1e-12
