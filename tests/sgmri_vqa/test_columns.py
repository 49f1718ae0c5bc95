"""Means over the rows that a metric is about."""

from __future__ import annotations

import math

import pytest

from lmms_tasks.sgmri_vqa.columns import OUT_OF_SCOPE, covered_mean, judged_coverage, strict_mean

SCORED, NO_ENCODER = {"score": 1.0, "status": "answered"}, {"status": "no_encoder"}


@pytest.mark.parametrize(("scored", "unscored", "value"), [(20, 0, 1.0), (19, 1, 1.0), (18, 1, math.nan)])
def test_open_ended_rows_without_an_encoder_make_nan_where_they_are_more_than_five_per_cent(scored, unscored, value):
    # 19 of 20 are 95 %, 18 of 19 are 94.7 %; rows that the metric is not about do not count on either side.
    items = [SCORED] * scored + [NO_ENCODER] * unscored + [OUT_OF_SCOPE] * 100
    assert covered_mean(items) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("items", "value"),
    [
        ([SCORED, NO_ENCODER, OUT_OF_SCOPE], 0.5),
        ([OUT_OF_SCOPE], math.nan),
        # A part of the metric that was never there is no zero of the model's.
        ([SCORED, {"status": "no_bertscore"}], math.nan),
    ],
)
def test_the_strict_twin_counts_an_unscored_row_as_zero(items, value):
    assert strict_mean(items) == pytest.approx(value, nan_ok=True)


def test_coverage_is_over_the_rows_that_need_a_judge():
    needs = {"needs_judge": True, "score": 1.0, "status": "judged"}
    assert judged_coverage([needs, needs | {"score": 0.0, "status": "unscored"}, {"status": "answered"}]) == 0.5
    assert math.isnan(judged_coverage([{"status": "answered"}]))
