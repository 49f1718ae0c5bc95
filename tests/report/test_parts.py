"""Runs over a part of the rows, and the clock of a run's date: said in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from lmms_tasks.benchmarks import Catalogue, read_catalogue
from lmms_tasks.report import tables
from lmms_tasks.report.across import across_runs
from lmms_tasks.report.compare import compare
from lmms_tasks.report.html import page
from lmms_tasks.report.published import reason_against
from lmms_tasks.report.runs import read_runs
from lmms_tasks.report.summary import as_json
from tests.report.page_parser import Page
from tests.report.test_published import PANEL, published
from tests.report.written_runs import TASK, row, write_run

SIX = {"source": "shipped samples", "fingerprint": "f" * 64, "rows": 6}


def read(*folders):
    return read_runs(folders, read_catalogue())


def add_to_results(folder, **content):
    (file,) = folder.glob("*_results.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), **content}))
    return folder


PARTS = {
    "the manifest": (SIX, {}),
    "lmms-tasks score": ({}, {"n-samples": {TASK: {"rows": 6, "answered": 2}}, "manifests": {}}),
    "lmms-eval": ({}, {"n-samples": {TASK: {"original": 6, "effective": 2}}}),
}


@pytest.mark.parametrize("who", PARTS)
def test_a_run_over_a_part_of_the_rows_says_so_in_every_form(tmp_path, who):
    data, results = PARTS[who]
    runs = read(add_to_results(write_run(tmp_path / "run", [row(0, 0.5), row(1, 0.7)], data=data), **results))
    found = Page(page(runs))
    assert "2 of 6 rows" in found.text
    assert "| 2 of 6 |" in tables.markdown(runs)
    told = as_json(runs)["runs"][0]
    assert (told["rows"], told["rows_in_data"], told["row_coverage"]) == (2, 6, pytest.approx(1 / 3))
    assert told["facts"]["rows"] == "2 of 6"
    (line,) = [one for one in csv.DictReader(io.StringIO(tables.comma_separated(runs))) if one["metric"] == "w_sum"]
    assert (line["rows"], line["rows_in_data"]) == ("2", "6")


def test_a_run_over_fewer_rows_is_never_marked_the_best(tmp_path):
    def marked(*scores):
        rows = [[row(n, score) for n in range(count)] for count, score in scores]
        place = tmp_path / str(scores)
        runs = [write_run(place / str(n), lines, model=f"acme/{n}", data=SIX) for n, lines in enumerate(rows)]
        return re.findall(r'class="n best" data-metric="w_sum" data-value="([\d.]+)"', page(read(*runs)))

    assert marked((1, 0.9), (2, 0.5), (2, 0.7)) == ["0.7"]
    assert marked((1, 0.9), (2, 0.5)) == []
    assert marked((1, 0.7), (2, 0.5), (2, 0.7)) == ["0.7"]


def test_a_whole_run_has_no_such_word(tmp_path):
    runs = read(write_run(tmp_path / "run", [row(0, 0.5), row(1, 0.7)]))
    assert "2 of 2" not in Page(page(runs)).text and as_json(runs)["runs"][0]["row_coverage"] == 1.0


def test_a_count_that_is_no_number_is_no_count(tmp_path):
    folder = write_run(tmp_path / "run", [row(0, 0.5)], data={"rows": "six"})
    (manifest,) = folder.glob("*_lmms_tasks_*")
    manifest.write_text(manifest.read_text().replace('"rows": 1', '"rows": "all"'))
    (run,) = read(add_to_results(folder, **{"n-samples": {TASK: [6, 2]}})).tasks
    assert (run.rows, run.whole, run.partial) == (1, 0, False)


def test_published_rows_stand_beside_no_part_also_where_the_bounds_would_let_it(tmp_path):
    task = read_catalogue().tasks["mirage_mmst_mg"]
    bounded = replace(task.benchmark, published=lambda of: [{**published(of)[0], "rows": (3, 6)}])
    catalogue = Catalogue({task.name: replace(task, benchmark=bounded)}, {})
    rows = [row(n, 0.5) for n in range(4)]
    part, whole = (
        write_run(tmp_path / name, rows, task=task.name, panel=PANEL, data={**SIX, "rows": count})
        for name, count in (("part", 6), ("whole", 4))
    )
    (run,) = read_runs([part], catalogue).tasks
    assert reason_against(run, (3, 6)) == "it is over 4 of 6 rows and not the full split of 3 to 6"
    assert "GPT-4.1" not in Page(page(read_runs([part], catalogue))).text
    assert "GPT-4.1" in Page(page(read_runs([whole], catalogue))).text


def test_a_comparison_says_which_side_is_a_part(tmp_path):
    rows = [row(0, 0.5), row(1, 0.7)]
    a, b = write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows, data=SIX)
    assert "B is over 2 of 6 rows." in compare(read(a), read(b))["tasks"][TASK]["warnings"]


CLOCKS = {
    "lmms-eval": ({"config": {"resolved_cli_args": {"timezone": "Asia/Singapore"}}}, "2026-01-01T19:04:05+00:00"),
    "in New York": ({"config": {"resolved_cli_args": {"timezone": "America/New_York"}}}, "2026-01-02T08:04:05+00:00"),
    "lmms-eval as a library": ({}, None),
    "lmms-tasks score": ({"manifests": {}}, None),
    "an unknown zone": ({"config": {"resolved_cli_args": {"timezone": "../x"}}}, None),
}
TOLD = {
    "lmms-eval": "20260102_030405, by lmms-eval's --timezone Asia/Singapore (2026-01-01 19:04 UTC)",
    "in New York": "20260102_030405, by lmms-eval's --timezone America/New_York (2026-01-02 08:04 UTC)",
    "lmms-eval as a library": "20260102_030405, by lmms-eval's --timezone, Asia/Singapore unless given",
    "lmms-tasks score": "20260102_030405, local time of the machine that scored",
    "an unknown zone": "20260102_030405, by lmms-eval's --timezone ../x",
}


@pytest.mark.parametrize("who", CLOCKS)
def test_every_form_says_by_which_clock_the_date_is(tmp_path, who):
    content, utc = CLOCKS[who]
    runs = read(add_to_results(write_run(tmp_path / "run", [row(0, 0.5)]), **content))
    told = as_json(runs)["runs"][0]
    assert (told["date"], told["clock"], told["utc"]) == ("20260102_030405", TOLD[who], utc)
    assert TOLD[who] in Page(page(runs)).text and TOLD[who] in tables.markdown(runs).replace("\\", "")


def test_of_two_runs_of_a_task_the_later_one_counts_by_utc(tmp_path):
    """04:00 in Singapore is before 03:00 in New York of the same day."""
    for name, hour in (("Asia/Singapore", "04"), ("America/New_York", "03")):
        folder = write_run(tmp_path / hour, [row(0, 0.5, answer=name)], date=f"20260102_{hour}0000")
        add_to_results(folder, config={"resolved_cli_args": {"timezone": name}})
    runs = read(tmp_path)
    seen = []
    benchmark = replace(runs.tasks[0].spec.benchmark, across=lambda tasks: seen.extend(tasks) or {})
    spec = replace(runs.tasks[0].spec, benchmark=benchmark)
    tagged = [
        replace(
            run, spec=spec, samples=[replace(s, items={"judged_coverage": {"zone": run.timezone}}) for s in run.samples]
        )
        for run in runs.tasks
    ]
    across_runs(tagged)
    assert [record["zone"] for _, records in seen for record in records] == ["America/New_York"]
