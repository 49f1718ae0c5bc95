import math

import pytest

from lmms_tasks.utils.statistics import covered_mean, plain_mean, standard_error, strict_mean


def rows(scored: int, unscored: int, score: float = 1.0, status: str = "unscored") -> list[dict]:
    return [{"score": score, "status": "judged"}] * scored + [{"status": status}] * unscored


def test_mean_is_over_scored_rows_while_coverage_is_at_least_95_percent():
    assert covered_mean(rows(19, 1)) == 1.0  # 19 / 20 is exactly 95 %


def test_mean_is_nan_under_95_percent_coverage():
    assert math.isnan(covered_mean(rows(18, 1)))  # 18 / 19 = 94.7 %


def test_mean_without_rows_is_nan():
    assert math.isnan(covered_mean([]))


def test_strict_mean_counts_an_unscored_row_as_zero():
    assert strict_mean(rows(3, 1)) == 0.75


def test_strict_mean_is_zero_where_the_judge_failed_on_every_row():
    assert strict_mean(rows(0, 4)) == 0.0


def test_strict_mean_is_nan_where_no_judge_was_asked():
    assert math.isnan(strict_mean(rows(0, 4, status="no_judge")))
    assert math.isnan(strict_mean(rows(0, 3, status="no_judge") + rows(0, 1, status="request_failed")))


def test_plain_mean_is_over_the_scored_rows_however_few():
    assert plain_mean(rows(1, 9)) == 1.0


def test_order_of_rows_does_not_change_a_mean():
    items = [{"score": value} for value in (0.1, 1e16, 0.2, -1e16, 0.3)]
    assert covered_mean(items) == covered_mean(items[::-1]) == math.fsum([0.1, 0.2, 0.3]) / 5


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 1.0], 0.5),  # s² = 0.5, s / sqrt(2) = 0.5
        ([1.0, 2.0, 3.0], 1 / math.sqrt(3)),  # s = 1
    ],
)
def test_standard_error_is_that_of_the_central_limit_theorem(values, expected):
    assert standard_error(values) == pytest.approx(expected, abs=1e-15)


def test_standard_error_of_one_value_is_nan():
    assert math.isnan(standard_error([1.0]))
