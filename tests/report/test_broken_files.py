"""Files of a run that are broken: the report says which and stands, a comparison says why it cannot be made."""

from __future__ import annotations

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.report.compare import compare
from lmms_tasks.report.html import page
from lmms_tasks.report.runs import read_runs
from tests.report.page_parser import Page
from tests.report.written_runs import TASK, row, write_run

LOG, MANIFEST, RESULTS = "*_samples_*", "*_lmms_tasks_*", "*_results.json"
RUN = "beta · 2026-01-02 03:04"


def read(*folders):
    return read_runs(folders, read_catalogue())


@pytest.fixture
def pair(tmp_path):
    """A good run and one to break."""
    rows = [row(n, 0.25 * n) for n in range(3)]
    return write_run(tmp_path / "good", rows, model="acme/beta"), write_run(tmp_path / "bad", rows)


def damage(folder, kind, place=-3):
    """Exchange a byte of the file for one that UTF-8 does not have."""
    (file,) = folder.glob(kind)
    content = bytearray(file.read_bytes())
    content[place] = 0xFF
    file.write_bytes(bytes(content))
    return file, len(content) + place


@pytest.mark.parametrize("kind", [LOG, MANIFEST, RESULTS])
def test_a_file_that_is_not_utf_8_is_named_and_the_rest_of_the_report_stands(pair, kind):
    good, bad = pair
    file, place = damage(bad, kind)
    runs = read(good, bad)
    (note,) = runs.notes
    assert f"bad/{file.name} was skipped: it is not UTF-8 (byte {place})." in note
    found = Page(page(runs))
    assert note in found.text and found.numbers[TASK, RUN, "w_sum"] == (0.25, 3)
    # The numbers of a run whose log or manifest alone is broken stand too.
    assert len(runs.tasks) == (1 if kind == RESULTS else 2)


@pytest.mark.parametrize("kind", [LOG, RESULTS])
def test_a_comparison_over_a_file_that_is_not_utf_8_is_one_sentence(pair, kind):
    good, bad = pair
    file, place = damage(bad, kind)
    with pytest.raises(SystemExit) as raised:
        compare(read(good), read(bad))
    assert f"{file.name} was skipped: it is not UTF-8 (byte {place})." in raised.value.code
    assert raised.value.code.count("\n") == 0


def test_a_manifest_that_is_not_utf_8_leaves_a_comparison_and_a_warning(pair):
    good, bad = pair
    damage(bad, MANIFEST)
    found = compare(read(good), read(bad))["tasks"][TASK]
    assert found["rows"] == 3 and "a manifest is missing" in found["warnings"][0]


def cut(file):
    file.write_text(file.read_text()[:40])


def empty(file):
    file.write_text("")


def double(file):
    file.write_text(file.read_text() * 2)


def nest(file):
    file.write_text("[" * 200_000)


@pytest.mark.parametrize(
    ("breaks", "reason"),
    [
        (cut, "no line of it is a row of a sample log"),
        (empty, "it is empty"),
        (double, "row 0 is in it more than once, so two runs share the file"),
        (nest, "no line of it is a row of a sample log"),
    ],
)
def test_a_comparison_gives_the_reason_that_the_report_gives(pair, breaks, reason):
    good, bad = pair
    (log,) = bad.glob(LOG)
    breaks(log)
    runs = read(bad)
    (note,) = runs.notes
    assert note.startswith(f"bad/{log.name} was skipped: {reason}")
    with pytest.raises(SystemExit) as raised:
        compare(read(good), runs)
    assert raised.value.code == f"RUN_B has no sample log of {TASK} that can be read: {note}"
    assert "--log_samples" not in raised.value.code


def test_a_log_that_is_cut_short_is_said_by_report_and_compare(pair):
    good, bad = pair
    (log,) = bad.glob(LOG)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:2]))
    (note,) = read(bad).notes
    assert note == f"bad/{log.name} holds 2 of the run's 3 rows: it was cut short."
    assert f"B: {note}" in compare(read(good), read(bad))["tasks"][TASK]["warnings"]
    log.write_text("".join(lines)[:-20])
    (note,) = read(bad).notes
    assert "line 3 was skipped: it is no row of a sample log" in note
    assert f"B: {note}" in compare(read(good), read(bad))["tasks"][TASK]["warnings"]


def test_many_bad_lines_are_one_note(pair):
    _, bad = pair
    (log,) = bad.glob(LOG)
    log.write_text("x\n" * 500 + log.read_text())
    (note,) = read(bad).notes
    assert "500 lines (1, 2, 3, …) were skipped" in note


@pytest.mark.parametrize("line", ["first", "all"])
def test_lines_without_their_row_are_noted(pair, line):
    good, bad = pair
    (log,) = bad.glob(LOG)
    text = log.read_text()
    log.write_text(text.replace('"doc_id": ', '"document": ', 1 if line == "first" else -1))
    (note,) = read(bad).notes
    assert f"{1 if line == 'first' else 3} of 3 lines do not say which row they are (no doc_id)" in note
    assert len(Page(page(read(bad))).data["tasks"][0]["rows"]) == 3
    with pytest.raises(SystemExit, match="does not say which rows its lines are"):
        compare(read(good), read(bad))


def test_a_line_that_is_of_no_row_and_no_metric_is_no_row(pair):
    _, bad = pair
    (log,) = bad.glob(LOG)
    log.write_text(log.read_text() + '{"another": "file"}\n')
    (note,) = read(bad).notes
    assert "line 4 was skipped" in note


def test_line_separators_inside_a_text_part_no_line(tmp_path):
    (run,) = read(write_run(tmp_path / "run", [row(0, 0.5), row(1, 0.7)])).tasks
    (log,) = (tmp_path / "run").glob(LOG)
    log.write_text(log.read_text().replace("Water it.", "Water \u2028 it. \x85"), encoding="utf-8")
    (again,) = read(tmp_path / "run").tasks
    assert len(again.samples) == len(run.samples) == 2
    assert again.samples[0].answers == ["Water \u2028 it. \x85"]
