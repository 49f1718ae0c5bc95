"""Published rows stand under ours only where the run is whole: full split, covered, by the paper's judges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lmms_tasks.benchmarks import Catalogue, read_catalogue
from lmms_tasks.report.html import page
from lmms_tasks.report.runs import read_runs
from tests.report.page_parser import Page
from tests.report.written_runs import row, write_run

FULL = 4
PANEL = {"profile": "paper", "judges": [{"name": "one", "model": "m", "generations": 3}]}


def published(task):
    """A published table over four rows."""
    metrics = {"w_sum": 0.816}
    return [{"model": "GPT-4.1", "source": "the project's site", "rows": FULL, "metrics": metrics}]


@pytest.fixture
def catalogue():
    known = read_catalogue()
    task = known.tasks["mirage_mmst_mg"]
    benchmark = replace(task.benchmark, published=published)
    return Catalogue({task.name: replace(task, benchmark=benchmark)}, {})


def shown(catalogue, folder, rows, **options):
    run = write_run(folder, rows, task="mirage_mmst_mg", **{"panel": PANEL, **options})
    return Page(page(read_runs([run], catalogue)))


def test_a_whole_run_by_the_papers_judges_has_them(catalogue, tmp_path):
    found = shown(catalogue, tmp_path / "run", [row(n, 0.5) for n in range(FULL)])
    assert "published, other prompts" in found.text and "GPT-4.1" in found.text and "0.8160" in found.text


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        ([0.5] * 3, {}, "it is over 3 rows and not the full split of 4"),
        ([0.5, 0.5, 0.5, None], {}, "fewer than 95% of its rows are judged"),
        ([0.5] * 4, {"panel": {**PANEL, "profile": "single"}}, "its judges are the profile single and not paper"),
        ([0.5] * 4, {"panel": None}, "its judges are the profile none and not paper"),
        (
            [0.5] * 4,
            {"panel": {**PANEL, "judges": [*PANEL["judges"], {"name": "two", "model": "n"}]}},
            "the judge two gave no verdict",
        ),
    ],
)
def test_any_other_run_has_the_reason_instead(catalogue, tmp_path, rows, options, reason):
    found = shown(catalogue, tmp_path / "run", [row(n, score) for n, score in enumerate(rows)], **options)
    assert reason in found.text
    assert "published, other prompts" not in found.text and "GPT-4.1" not in found.text


def rows_of(task):
    spec = read_catalogue().tasks[task]
    return spec.benchmark.published(spec)


def test_mirages_single_turn_table_is_in_the_units_of_our_metrics():
    identification, management = rows_of("mirage_mmst_id"), rows_of("mirage_mmst_mg")
    assert len(identification) == len(management) == 22
    assert identification[0]["model"] == management[0]["model"] == "GPT-4.1"
    assert identification[0]["metrics"] == {
        "identification_accuracy_official": pytest.approx(0.439),
        "reasoning_score": 3.01,
        "site_weighted_score": 54.4,
    }
    assert management[0]["metrics"]["w_sum"] == pytest.approx(0.816)
    assert (identification[0]["rows"], management[0]["rows"]) == (4324, 3860)
    assert rows_of("mirage_mmst_contextual_mg") == rows_of("mirage_mmst_id_lite") == []


def test_mirages_multi_turn_table_stands_beside_the_form_that_has_official_code():
    plain, reasoned = rows_of("mirage_mmmt_decomp"), rows_of("mirage_mmmt_decomp_cot")
    assert len(plain) == len(reasoned) == 6 and plain[0]["rows"] == 861
    # Accuracy is in per cent in both; 70.75 % of a scale from 0 to 4 are 2.83.
    assert plain[0]["metrics"] == {
        "decision_accuracy_official": 62.98,
        "goal_relevance_clarify": pytest.approx(2.83),
        "goal_relevance_respond": pytest.approx(77.07 / 25),
    }
    assert reasoned[-1]["model"] == "Qwen2.5-VL-72B"
    assert reasoned[-1]["metrics"]["decision_accuracy_official"] == 37.4
    assert rows_of("mirage_mmmt_direct") == []


def test_sgmris_tables_are_shares_and_their_averages_the_mean_of_their_columns():
    from lmms_tasks.sgmri_vqa.columns import COLUMNS

    for level, count in (("image", 13), ("volume", 11)):
        rows = [line["metrics"] for line in rows_of(f"sgmri_vqa_{level}")]
        assert len(rows) == count
        for metrics in rows:
            assert metrics.keys() == {*COLUMNS[level], "average"}
            columns = [metrics[column] for column in COLUMNS[level]]
            assert metrics["average"] == pytest.approx(sum(columns) / 6, abs=0.0002)
    assert rows_of("sgmri_vqa_image_brain") == []


def test_the_split_of_sgmris_tables_has_bounds_for_its_number_of_rows():
    (image_least, image_most), (volume_least, volume_most) = (
        rows_of(f"sgmri_vqa_{level}")[0]["rows"] for level in ("image", "volume")
    )
    # 9,293 rows in the test split: what the one level lacks of its 5 questions a slice or volume, the other has.
    assert image_least + volume_most == image_most + volume_least == 9293


def test_the_table_of_research_reports_stands_beside_the_official_total():
    rows = rows_of("mmdeepresearch_bench")
    assert len(rows) == 25 and rows[0]["rows"] == 140
    assert rows[-1]["model"] == "Gemini Deep Research (Gemini 3 Pro)"
    assert rows[-1]["metrics"]["mmdr_overall_official"] == 49.41 and rows[-1]["metrics"]["mmdr_read"] == 84.53
    assert rows_of("mmdeepresearch_bench_text") == []


@pytest.mark.parametrize("task", sorted(read_catalogue().tasks))
def test_every_published_metric_is_one_of_its_task_and_samples_have_none(task):
    declared = rows_of(task)
    if isinstance(declared, str):
        assert "AMIGO" in declared and not declared.endswith(".")
        return
    names = {metric.name for metric in read_catalogue().tasks[task].metrics}
    assert all(row["metrics"] and row["metrics"].keys() <= names for row in declared)
    assert not declared or not read_catalogue().tasks[task].on_samples


def test_a_number_of_rows_may_have_bounds(catalogue, tmp_path):
    (task,) = catalogue.tasks.values()
    bounded = replace(task.benchmark, published=lambda task: [{**published(task)[0], "rows": (3, 4)}])
    bounds = Catalogue({task.name: replace(task, benchmark=bounded)}, {})
    assert "GPT-4.1" in shown(bounds, tmp_path / "four", [row(n, 0.5) for n in range(4)]).text
    assert "not the full split of 3 to 4" in shown(bounds, tmp_path / "five", [row(n, 0.5) for n in range(5)]).text
