"""Scores in the official columns, written beside a run and read back; rows as clusters; pages from the snapshot alone."""

from __future__ import annotations

import csv
import math

import numpy
import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.mmdeepresearch_bench import hooks, leaderboard
from lmms_tasks.mmdeepresearch_bench.evidence import SHIPPED
from lmms_tasks.mmdeepresearch_bench.samples.reports import TASKS
from lmms_tasks.mmdeepresearch_bench.samples.write import IMAGES, TEXTS
from lmms_tasks.mmdeepresearch_bench.snapshot import ShippedPages, Snapshot
from lmms_tasks.report.compare import compare
from lmms_tasks.report.intervals import cluster
from lmms_tasks.report.paired import paired_differences
from lmms_tasks.report.runs import Sample, read_runs
from tests.mmdeepresearch_bench.conftest import SAMPLE, metrics, real_rows
from tests.mmdeepresearch_bench.judge_script import script

# The metrics of the card's recipe that a table holds under their own names.
SHARED = ("mmdr_read", "mmdr_insh", "mmdr_stru", "mmdr_sem", "mmdr_acc", "mmdr_overall_official")


def exported(output, ending: str):
    (path,) = output.glob(f"*_{SAMPLE}_{ending}.csv")
    return path


@pytest.fixture
def written(score, judged_by, folder, tmp_path):
    """What `score --output` printed of the six reports, and the folder that it wrote."""
    judged_by(script())
    return score(SAMPLE, folder, "--output", tmp_path / "out"), tmp_path / "out"


def test_a_run_is_exported_and_reads_back_to_the_same_numbers(written, score):
    printed, output = written
    breakdowns = printed["manifests"][SAMPLE]["breakdowns"]
    again = score(SAMPLE, exported(output, "task_scores"), "--table")
    assert again["leaderboard"] == pytest.approx(breakdowns["leaderboard"], nan_ok=True)
    assert (again["complete"], again["partial"]) == (breakdowns["complete"], breakdowns["partial"]) == (6, True)
    first, second = metrics(printed), metrics(again)
    for name in SHARED:
        assert second[name] == pytest.approx(first[name], abs=1e-5), name
    for row in breakdowns["task_scores"]:
        total = 0.2 * row["FLAE"] + 0.5 * row["TRACE"] + 0.3 * row["MOSAIC"]
        assert again["row_totals"][row["Task ID"]] == pytest.approx(total, abs=1e-5)


def test_the_files_are_named_by_date_and_told(judged_by, folder, tmp_path, capsys):
    judged_by(script())
    assert main(["score", SAMPLE, str(folder), "--output", str(tmp_path / "out"), "--json"]) == 0
    told = capsys.readouterr().err
    paths = [exported(tmp_path / "out", ending) for ending in ("task_scores", "partial_leaderboard")]
    assert all(str(path) in told for path in paths)
    (results,) = (tmp_path / "out").glob("*_results.json")
    assert all(path.name.startswith(results.name.removesuffix("_results.json")) for path in paths)
    (row,) = csv.DictReader(paths[1].open(encoding="utf-8-sig"))
    assert list(row) == ["Model", *leaderboard.LEADERBOARD_COLUMNS]


def test_columns_and_digits_are_those_of_the_official_file(written, shared_data):
    official = shared_data / "mmdeepresearch_bench" / "gemini31flash.task_scores.csv"
    header = official.read_text("utf-8-sig").splitlines()[0].split(",")
    rows = list(csv.DictReader(exported(written[1], "task_scores").open(encoding="utf-8-sig")))
    assert list(rows[0]) == header[:-1] and header[-1] == "Has MOSAIC Summary"  # the reference's own, in place of paths
    assert all(abs(float(row["Overall"]) - float(row["Stored Overall"])) <= 0.00051 for row in rows)
    assert [(row["Task ID"], row["Split"]) for row in rows[-2:]] == [("Q100", "Daily"), ("Q101", "Daily")]
    assert rows[1]["Sem."] == rows[1]["VQA"] == "" and rows[1]["MOSAIC"] == "0.0"


def test_what_could_not_be_scored_is_an_empty_cell_and_no_zero(score, judged_by, folder, tmp_path):
    judged_by(script(lambda rubric, prompt: {"error_rate": "high"} if rubric == "report" else None))
    score(SAMPLE, folder, "--output", tmp_path / "out")
    rows = list(csv.DictReader(exported(tmp_path / "out", "task_scores").open(encoding="utf-8-sig")))
    assert {row["FLAE"] for row in rows} == {""} == {row["Overall"] for row in rows}
    assert {row["Complete"] for row in rows} == {"False"}
    assert score(SAMPLE, exported(tmp_path / "out", "task_scores"), "--table")["leaderboard"]["Overall"] is None


def test_the_text_and_the_image_form_of_a_task_are_one_cluster(judged_by, sample_rows):
    """Both forms of two tasks, B better than A by 1, 3, −2, 2: as four rows, and as the two clusters that they are."""
    judged_by(script())
    forms = []
    for number in ("0", "1"):
        row = sample_rows[number]
        for _ in ("image", "text"):
            forms.append(Sample(len(forms), hooks.sample_process_results(row, [row["report"]])))
    keys = [cluster(sample, position) for position, sample in enumerate(forms)]
    assert keys == [("cluster", "Q0"), ("cluster", "Q0"), ("cluster", "Q1"), ("cluster", "Q1")]
    numbers = [list(dict.fromkeys(keys)).index(key) for key in keys]
    (found,) = paired_differences(numpy.array([[1.0], [3.0], [-2.0], [2.0]]), numpy.array(numbers))
    assert (found.value, found.n, found.clusters) == (1.0, 4, 2)


def test_compare_resamples_tasks(written, score, folder, tmp_path, judged_by):
    judged_by(script(lambda rubric, prompt: {"readability": 20} if rubric == "report" else None))
    score(SAMPLE, folder, "--output", tmp_path / "other")
    runs = [read_runs([path], read_catalogue()) for path in (written[1], tmp_path / "other")]
    found = compare(*runs)["tasks"][SAMPLE]
    read = found["metrics"]["mmdr_read"]
    assert (read["n"], read["clusters"]) == (6, 6) and read["difference"] < 0
    assert set(found["categories"]) == {"regime", "language", "difficulty"}
    assert found["metrics"]["mmdr_con"]["difference"] == 0.0


def test_from_the_snapshot_alone_a_real_task_has_the_numbers_of_the_sample(
    score,
    judged_by,
    folder,
    tmp_path,
    monkeypatch,
    home,
):
    """The same reports, pages and judge by the road of real tasks: `score --offline`, twice, and nobody is asked again."""
    server = judged_by(script())
    monkeypatch.setattr("lmms_tasks.mmdeepresearch_bench.fetch.Fetcher.fetch", lambda *_: pytest.fail("fetched"))
    expected = metrics(score(SAMPLE, folder))
    shipped, snapshot = ShippedPages(SHIPPED), Snapshot(home / "evidence")
    cited = {page.url: page for page in shipped._pages.values()}
    assert cited.keys() >= {*TEXTS, *IMAGES}
    for page in cited.values():
        snapshot.put(page)
    (tmp_path / "data").mkdir()
    data = real_rows(tmp_path / "data", TASKS)
    truths = tmp_path / "vef.jsonl"
    truths.write_text("\n".join(f'{{"id": {task.id}, "body": "{task.visual_truth}"}}' for task in TASKS))
    monkeypatch.setenv("MMDR_VEF_GT", str(truths))
    found = metrics(score("mmdeepresearch_bench", folder, "--data", data, "--offline"), "mmdeepresearch_bench")
    count = server.count
    again = metrics(score("mmdeepresearch_bench", folder, "--data", data, "--offline"), "mmdeepresearch_bench")
    assert server.count == count and again == found
    for name in ("mmdr_overall", "mmdr_overall_official", "mmdr_con", "mosaic", "validity", "mmdr_sem_n"):
        assert found[name] == pytest.approx(expected[name]) and not math.isnan(found[name]), name
