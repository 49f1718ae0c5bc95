"""What stands first in the page of each benchmark: the paper's own columns, what is behind them, and where it fails."""

from __future__ import annotations

import pytest

from lmms_tasks.benchmarks import find_benchmarks, read_catalogue
from lmms_tasks.report.runs import ABOUT_THE_RUN, paper_columns
from tests.report.page_parser import page_of
from tests.report.written_runs import TASK, row, write_run

COLUMNS = {
    "mirage_mmst_id_sample": ["identification_accuracy_official", "reasoning_score", "site_weighted_score"],
    "mirage_mmst_mg_sample": [
        "w_sum",
        "mg_accuracy",
        "mg_relevance",
        "mg_completeness",
        "mg_parsimony",
        "site_weighted_score",
    ],
    "mirage_mmmt_direct_sample": ["decision_accuracy", "goal_relevance_clarify", "goal_relevance_respond"],
    "amigo_synthetic": ["identification_success", "protocol_compliance", "efficiency"],
    "sgmri_vqa_image_sample": [
        "detection",
        "classification",
        "diagnosis",
        "localization_v",
        "localization_ar",
        "captioning",
        "average",
    ],
    "sgmri_vqa_volume_sample": [
        "detection",
        "counting",
        "classification",
        "localization_v",
        "localization_ar",
        "captioning",
        "average",
    ],
    "mmdeepresearch_bench_sample": ["mmdr_overall", "mmdr_overall_official", "flae", "trace", "mosaic", "mmdr_read"],
}


@pytest.mark.parametrize("task", COLUMNS)
def test_the_papers_own_columns_come_first_under_its_headings(shown, task):
    found, text = shown
    order = [metric for of, run, metric in found.numbers if of == task and run == "alpha · 2026-01-02 03:04"]
    assert order[: len(COLUMNS[task])] == COLUMNS[task]
    assert [name for name in order if name in ABOUT_THE_RUN] == order[-2:] or task == "amigo_synthetic"
    spec = read_catalogue().tasks[task]
    article = text[text.index(f'data-task="{task}"') :]
    for metric in COLUMNS[task]:
        assert article.index(f"{spec.benchmark.columns(spec)[metric]} <span") < article.index("more metrics</summary>")


def test_every_declared_column_is_a_metric_of_some_task_of_its_benchmark():
    for benchmark, _ in find_benchmarks().values():
        tasks = [task for task in read_catalogue().tasks.values() if task.benchmark is benchmark]
        known = {metric.name for task in tasks for metric in task.metrics}
        assert tasks and all(task.benchmark.columns(task).keys() <= known for task in tasks)
        assert all(paper_columns(task) for task in tasks)


def test_rows_coverage_judges_and_versions_stand_beside_the_columns(shown):
    cells = "14 of 26 rows", "14 of 85", "100 %", "offline: offline", "task 1.0, lmms-tasks "
    for cell in cells:
        assert cell in shown[0].text
    assert shown[0].text.count("needs none") >= 6  # AMIGO has no judge


def test_every_breakdown_of_every_benchmark_is_a_chart(shown):
    titles = {title for _, title in shown[0].charts}
    for title in (
        "mirage_mmst_mg_sample: w_sum by category",
        "mirage_mmmt_direct_sample: decision_accuracy by turns",
        "amigo_synthetic: identification_success by gallery size",
        "sgmri_vqa_image_sample: a_score by task",
        "sgmri_vqa_volume_sample: a_score by organ",
        "mmdeepresearch_bench_sample: mmdr_overall by regime",
    ):
        task = title.partition(":")[0]
        if task == "amigo_synthetic":  # its first rows have one size of gallery, which makes a table and no chart
            assert "identification_success by gallery size" in shown[0].text
        else:
            assert title in titles
    # One more a task for all its runs.
    assert all(any(of == task and "of each run" in title for of, title in shown[0].charts) for task in COLUMNS)


def test_a_breakdown_of_plain_numbers_is_a_chart_like_one_with_means_and_n(tmp_path):
    by_size = {
        size: {"n": n, "w_sum": value, "ends": {"guess": n}} for size, n, value in (("5", 2, 0.5), ("10", 3, None))
    }
    by_size["20"] = {"rows": 4, "w_sum": {"mean": 0.25, "n": 4}}
    run = write_run(tmp_path / "run", [row(n, 0.5) for n in range(9)], breakdowns={"by_gallery_size": by_size})
    found, text = page_of(run)
    assert (TASK, f"{TASK}: w_sum by gallery size") in found.charts
    assert "10  (n 3)" in text and "20  (n 4)" in text and "ends" not in found.text


def test_of_amigo_no_published_number_is_shown_and_the_page_says_why(shown):
    assert "No published numbers stand here: AMIGO has no public data set" in shown[0].text
    assert "published, other prompts" not in shown[0].text
