"""Published rows stand under ours only where the run is whole: full split, covered, by the paper's judges."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lmms_tasks.benchmarks import Catalogue, read_catalogue
from lmms_tasks.mirage.published import mmst_standard
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


def test_mirages_table_is_in_the_units_of_our_metrics():
    tasks = read_catalogue().tasks
    identification, management = (mmst_standard(tasks[name]) for name in ("mirage_mmst_id", "mirage_mmst_mg"))
    assert len(identification) == len(management) == 22
    assert identification[0]["model"] == management[0]["model"] == "GPT-4.1"
    assert identification[0]["metrics"] == {
        "identification_accuracy_official": pytest.approx(0.439),
        "reasoning_score": 3.01,
        "site_weighted_score": 54.4,
    }
    assert management[0]["metrics"]["w_sum"] == pytest.approx(0.816)
    assert (identification[0]["rows"], management[0]["rows"]) == (4324, 3860)
    assert mmst_standard(tasks["mirage_mmst_contextual_mg"]) == mmst_standard(tasks["mirage_mmst_id_lite"]) == []
