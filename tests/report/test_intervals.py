"""Intervals of means: by which method, inside which range, and what is said where there is none."""

from __future__ import annotations

import math
import random

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.report import tables
from lmms_tasks.report.html import page
from lmms_tasks.report.intervals import (
    ALL_EQUAL,
    BOOTSTRAP,
    FEW_CLUSTERS,
    INTERVALS,
    NORMAL,
    ONE_CLUSTER,
    WILSON,
    clustered_error,
    estimate,
    interval,
    method,
    wilson,
)
from lmms_tasks.report.runs import read_runs
from lmms_tasks.report.summary import as_json
from tests.report.page_parser import Page
from tests.report.written_runs import row, write_run


def read(folder):
    return read_runs([folder], read_catalogue())


def test_intervals_are_those_of_the_textbooks():
    # Wilson for 8 of 10 at 95 %: (0.49016, 0.94332), as in R's prop.test(8, 10, correct = FALSE).
    assert wilson(0.8, 10) == (pytest.approx(0.49016, abs=1e-5), pytest.approx(0.94332, abs=1e-5))
    # 1, 2, 3, 4 ten times: mean 2.5, s² = 40 × 1.25 / 39 = 1.282051, sqrt(s² / 40) = 0.179029, × 1.959964 = 0.350889.
    low, high = interval([1.0, 2.0, 3.0, 4.0] * 10, range(40))
    assert (low, high) == (pytest.approx(2.149111, abs=1e-6), pytest.approx(2.850889, abs=1e-6))
    # The same share in per cent.
    low, high = interval([100.0] * 8 + [0.0] * 2, range(10))
    assert (low, high) == (pytest.approx(49.016, abs=1e-3), pytest.approx(94.332, abs=1e-3))
    assert interval([1.0, 1.0], range(2)) == interval([0.3], [0]) == (None, None)
    # Two clusters with residual sums −2 and 2: sqrt(8) / 4.
    assert clustered_error([1.0, 2.0, 3.0, 4.0], "aabb") == pytest.approx(math.sqrt(8) / 4)


def test_few_rows_have_the_percentiles_of_all_draws():
    # Four draws of 1, 2, 3, 4: of 256 sums one is 4, four are 5, ten are 6. 5 / 256 = 2.0 % lie under 6 and 5.9 % under 7,
    # so the 2.5 % point is 6 / 4, and by symmetry the 97.5 % point is 14 / 4.
    assert interval([1.0, 2.0, 3.0, 4.0], range(4)) == (1.5, 3.5)
    # Two clusters of 0 and 2: a draw has the mean 0 in a quarter of the cases, and 2 in another.
    assert interval([0.0, 0.0, 2.0, 2.0], "aabb") == (0.0, 2.0)


def test_three_scores_on_a_scale_to_100_stay_on_it():
    """By the central limit theorem it was −6.58 to 106.58."""
    low, high = interval([0.0, 50.0, 100.0], range(3))
    assert (low, high) == (0.0, 100.0)


@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "clusters"])
@pytest.mark.parametrize("n", [2, 3, 5, 29, 30, 31, 200])
def test_no_interval_leaves_the_range_of_the_scores_nor_misses_the_mean(n, clustered):
    for seed in range(30):
        chance = random.Random(seed)
        # Most rows at the top of the scale and few far below it: where a symmetric interval leaves the scale.
        values = [1.0 if chance.random() < 0.9 else chance.random() / 2 for _ in range(n - 1)] + [0.1]
        clusters = [position // 2 if clustered else position for position in range(n)]
        low, high = interval(values, clusters)
        if low is None:
            assert len(set(clusters)) < 2 or len(set(values)) == 1
            continue
        assert min(values) <= low <= math.fsum(values) / n + 1e-9 and math.fsum(values) / n - 1e-9 <= high <= max(
            values
        )


def test_the_method_is_that_of_the_kind_and_number_of_scores():
    assert method([0.0, 1.0, 1.0], range(3)) == WILSON
    assert method([0.0, 1.0, 1.0], [0, 1, 1]) == method([0.0, 0.5, 1.0], range(3)) == BOOTSTRAP
    many = [0.1 * (n % 7) for n in range(FEW_CLUSTERS)]
    assert method(many, range(FEW_CLUSTERS)) == NORMAL and method(many[1:], range(FEW_CLUSTERS - 1)) == BOOTSTRAP
    assert method([0.5, 0.5], range(2)) == ALL_EQUAL and method([0.1, 0.5], "aa") == ONE_CLUSTER


def test_the_same_scores_have_the_same_interval():
    values = [random.Random(1).random() * n for n in range(12)]
    assert interval(values, range(12)) == interval(values, range(12))


def test_where_all_scores_are_equal_every_form_says_so(tmp_path):
    runs = read(write_run(tmp_path / "run", [row(n, 0.5) for n in range(3)]))
    assert estimate(runs.tasks[0], "w_sum").about == ALL_EQUAL
    found = Page(page(runs))
    assert ALL_EQUAL in found.text and INTERVALS in found.text
    assert f"| w_sum | ↑ | 0.5000 | {ALL_EQUAL} | 3 |" in tables.markdown(runs).replace("\\", "")
    told = as_json(runs)
    assert told["runs"][0]["metrics"]["w_sum"]["interval"] == ALL_EQUAL and told["intervals"] == INTERVALS


def test_every_form_names_the_method(tmp_path):
    runs = read(write_run(tmp_path / "run", [row(n, 0.25 * n) for n in range(3)]))
    entry = as_json(runs)["runs"][0]["metrics"]["w_sum"]
    assert (entry["interval"], entry["low"], entry["high"]) == (BOOTSTRAP, 0.0, 0.5)
    assert f",{BOOTSTRAP},3," in tables.comma_separated(runs)
    assert "percentile bootstrap (4,000 draws" in tables.markdown(runs) and INTERVALS in Page(page(runs)).text


def test_rows_of_one_cluster_widen_the_interval(tmp_path):
    rows = [row(n, float(n % 4 > 1), cluster=n // 4 * 2 + n % 4 // 2) for n in range(40)]
    alone = [{**r, "judged_coverage": {k: v for k, v in r["judged_coverage"].items() if k != "cluster"}} for r in rows]
    widths = []
    for number, lines in enumerate((rows, alone)):
        (run,) = read_runs([write_run(tmp_path / str(number), lines)], read_catalogue()).tasks
        found = estimate(run, "w_sum")
        widths.append(found.high - found.low)
    # Pairs of equal rows: half the information, sqrt(2) the width, but for Wilson's and n − 1's corrections.
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(2), rel=0.06)
