"""The real commands `lmms-tasks report` and `lmms-tasks compare`: what they print, write and exit with."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest

from tests.report.page_parser import Page
from tests.report.written_runs import TASK, row, write_run

# No test starts a process for each format: a start costs more than all that it does.
_IMPORTS_NOTHING_HEAVY = """
import sys
from lmms_tasks.cli import main
code = main(sys.argv[1:])
assert not {"lmms_eval", "torch", "transformers"} & set(sys.modules), "imported what a report does not need"
sys.exit(code)
"""


def command(*arguments, cwd=None):
    line = [sys.executable, "-c", "import sys; from lmms_tasks.cli import main; sys.exit(main())", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, cwd=cwd)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    a = write_run(folder / "a", [row(n, 0.25 * (n % 3), category="leaf") for n in range(12)], model="acme/alpha")
    b = write_run(folder / "b", [row(n, 0.25 * (n % 4), category="leaf") for n in range(12)], model="acme/beta")
    return a, b


def test_the_page_is_written_to_report_html_and_nothing_is_printed_but_where(runs, tmp_path):
    done = command("report", *runs, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("report.html (")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.numbers[TASK, "alpha · 2026-01-02 03:04", "w_sum"] == (0.25, 12)


def test_every_other_format_is_printed_and_nothing_else(runs):
    markdown, table, told = (command("report", *runs, "--format", name) for name in ("markdown", "csv", "json"))
    assert markdown.returncode == table.returncode == told.returncode == 0
    assert markdown.stdout.startswith("## MIRAGE (agriculture)\n") and f"### {TASK}" in markdown.stdout
    lines = list(csv.DictReader(io.StringIO(table.stdout)))
    assert {line["run"] for line in lines} == {"alpha · 2026-01-02 03:04", "beta · 2026-01-02 03:04"}
    assert [run["metrics"]["w_sum"]["value"] for run in json.loads(told.stdout)["runs"]] == [0.25, 0.375]


def test_a_comparison_is_a_table_or_json_and_nothing_else(runs):
    table, told = command("compare", *runs), command("compare", *runs, "--json")
    assert table.returncode == told.returncode == 0 and told.stderr == ""
    assert "|w_sum|↑|0.2500|0.3750|+0.1250|" in table.stdout
    entry = json.loads(told.stdout)["tasks"][TASK]["metrics"]["w_sum"]
    assert entry["difference"] == 0.125 and entry["low"] < 0.125 < entry["high"]


def test_neither_command_imports_lmms_eval_or_torch(runs, tmp_path):
    for arguments in (("report", runs[0], "--output", tmp_path / "page.html"), ("compare", *runs)):
        line = [sys.executable, "-c", _IMPORTS_NOTHING_HEAVY, *map(str, arguments)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("report", "nowhere"), "There is no nowhere: give a result folder"),
        (("report", "empty"), "No run of ours in empty: none holds a *_results.json."),
        (("report", "broken"), "No run of ours in broken: "),
        (("compare", "empty", "empty"), "No run of ours in empty: "),
        (("compare", "nowhere", "empty"), "There is no nowhere: give a result folder"),
    ],
)
def test_a_bad_folder_is_one_sentence_and_exit_code_1(tmp_path, arguments, sentence):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "20260102_030405_results.json").write_text("{")
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(sentence) and done.stderr.count("\n") == 1


def test_a_page_that_cannot_be_written_is_one_sentence(runs, tmp_path):
    (tmp_path / "file").write_text("")
    done = command("report", runs[0], "--output", tmp_path / "file" / "page.html")
    assert done.returncode == 1
    assert "cannot be written" in done.stderr and done.stderr.count("\n") == 1


def test_wrong_usage_is_exit_code_2():
    assert command("report").returncode == command("compare", "one").returncode == 2
    assert command("report", "x", "--format", "pdf").returncode == 2
