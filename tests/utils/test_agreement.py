import math

import pytest

from lmms_tasks.utils.agreement import krippendorff_alpha, mean_standard_deviation


def test_standard_deviation_is_that_of_the_population_averaged_over_rows():
    rows = [{"a": 1, "b": 3}, {"a": 2, "b": 2}]  # 1 and 0
    assert mean_standard_deviation(rows) == 0.5


def test_a_row_with_one_score_tells_nothing():
    assert mean_standard_deviation([{"a": 0, "b": 4}, {"a": 3}]) == 2.0
    assert math.isnan(mean_standard_deviation([{"a": 3}]))


def test_alpha_of_the_worked_example_with_missing_ratings():
    """Three coders, fifteen units: interval alpha 0.811 (Krippendorff, Computing Krippendorff's Alpha-Reliability)."""
    coders = {
        "A": "* * * * * 3 4 1 2 1 1 3 3 * 3",
        "B": "1 * 2 1 3 3 4 3 * * * * * * *",
        "C": "* * 2 1 3 4 4 * 2 1 1 3 3 * 4",
    }
    columns = {name: text.split() for name, text in coders.items()}
    rows = [{name: float(codes[unit]) for name, codes in columns.items() if codes[unit] != "*"} for unit in range(15)]
    assert krippendorff_alpha(rows) == pytest.approx(0.811, abs=0.0005)


def test_alpha_is_1_where_all_agree_and_rows_differ():
    assert krippendorff_alpha([{"a": 0, "b": 0}, {"a": 4, "b": 4}]) == 1.0


@pytest.mark.parametrize("rows", [[], [{"a": 3, "b": 3}, {"a": 3, "b": 3}], [{"a": 1}, {"a": 2}]])
def test_alpha_is_nan_where_it_is_undefined(rows):
    assert math.isnan(krippendorff_alpha(rows))
