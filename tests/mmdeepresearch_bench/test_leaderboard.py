"""The table road, against the official run of Gemini 3.1 Flash Lite (../shared/data/mmdeepresearch_bench)."""

from __future__ import annotations

import csv
import json
import math
from types import SimpleNamespace

import pytest

from lmms_tasks.cli import main
from lmms_tasks.mmdeepresearch_bench import leaderboard, task_scores
from lmms_tasks.mmdeepresearch_bench.overall import card_overall
from lmms_tasks.utils.statistics import mean

TASK = SimpleNamespace(name="mmdeepresearch_bench")


@pytest.fixture
def official(shared_data):
    return shared_data / "mmdeepresearch_bench" / "gemini31flash.task_scores.csv"


def published(shared_data) -> dict[str, float]:
    path = shared_data / "mmdeepresearch_bench" / "gemini31flash.leaderboard.csv"
    (row,) = csv.DictReader(path.open(encoding="utf-8-sig"))
    return {column: float(value) for column, value in row.items() if column != "Model"}


def without(source, target, *columns):
    with source.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [column for column in rows[0] if column not in columns]
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, kept, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return target


def results(printed) -> dict[str, float]:
    return {name.removesuffix(",none"): value for name, value in printed["results"][TASK.name].items()}


def test_all_eleven_columns_are_those_of_the_leaderboard(official, shared_data):
    printed = leaderboard.table(TASK, official)
    assert next(iter(printed)) == "results"
    assert printed["leaderboard"] == published(shared_data)
    assert len(printed["leaderboard"]) == 11
    assert printed["metrics"]["Overall"] != printed["leaderboard"]["Overall"] == 49.08
    assert (printed["complete"], printed["partial"], printed["notes"]) == (140, False, [])
    assert {column: printed["n"][column] for column in ("Sem.", "Acc.", "VQA")} == {
        "Sem.": 120,
        "Acc.": 71,
        "VQA": 102,
    }


def test_row_totals_are_computed_from_the_modules_and_agree_with_the_stored_ones(official):
    totals = leaderboard.table(TASK, official)["row_totals"]
    with official.open(encoding="utf-8-sig") as file:
        stored = {row["Task ID"]: float(row["Stored Overall"]) for row in csv.DictReader(file)}
    assert len(totals) == 140 and totals.keys() == stored.keys()
    assert max(abs(totals[name] - stored[name]) for name in stored) <= 0.00051


def test_splits_are_those_of_the_official_export(official):
    splits = leaderboard.table(TASK, official)["splits"]
    assert {name: (row["n"], round(row["Overall"], 2)) for name, row in splits.items()} == {
        "Research": (100, 49.44),
        "Daily": (40, 48.19),
    }


def test_without_the_totals_of_the_file_nothing_changes(official, tmp_path):
    stripped = without(official, tmp_path / "gemini31flash.csv", "Overall", "Stored Overall", "Overall Delta")
    assert json.dumps(leaderboard.table(TASK, stripped)) == json.dumps(leaderboard.table(TASK, official))


@pytest.mark.parametrize("column", leaderboard.MODULES)
def test_without_a_module_the_official_total_is_nan_and_the_card_recipe_stands(official, tmp_path, column):
    printed = leaderboard.table(TASK, without(official, tmp_path / "run.csv", column))
    assert math.isnan(printed["leaderboard"]["Overall"]) and math.isnan(results(printed)["mmdr_overall_official"])
    (note,) = printed["notes"]
    assert column in note and "NaN" in note
    assert results(printed)["mmdr_overall"] == pytest.approx(42.60199773, abs=1e-8)
    assert printed["leaderboard"]["Read."] == 56.56


@pytest.mark.parametrize("name, column", leaderboard.DIMENSIONS.items())
def test_without_a_dimension_the_card_recipe_is_nan_and_the_official_total_stands(official, tmp_path, name, column):
    printed = leaderboard.table(TASK, without(official, tmp_path / "run.csv", column))
    assert printed["leaderboard"]["Overall"] == 49.08
    assert math.isnan(results(printed)[name]) and math.isnan(results(printed)["mmdr_overall"])
    assert any(column in note for note in printed["notes"])


def test_card_recipe_per_task_is_42_60_and_on_the_columns_45_95(official):
    printed = leaderboard.table(TASK, official)
    numbers = results(printed)
    assert round(numbers["mmdr_overall"], 2) == 42.60 == round(numbers["mmdr_overall_zeroed"], 2)
    assert numbers["validity"] == 1.0
    assert round(numbers["mmdr_overall_official"], 2) == 49.08
    columns = leaderboard.card_modules(printed["leaderboard"])
    assert {name: round(value, 2) for name, value in columns.items()} == {
        "flae": 63.85,
        "trace": 32.40,
        "mosaic": 56.60,
    }
    assert round(card_overall(**columns), 2) == 45.95


def test_module_means_are_those_of_the_dossier(official):
    rows = task_scores.read_score_table(official).rows
    assert round(mean(row["FLAE"] for row in rows), 2) == 58.69
    assert round(mean(row["TRACE"] for row in rows), 2) == 44.57
    assert round(mean(row["MOSAIC"] for row in rows), 2) == 50.20
    assert round(mean(row["MOSAIC"] for row in rows if row["MOSAIC"]), 2) == 58.56
    # EVI is no column: TRACE = 0.6·EVI + 0.4·VEF.
    assert round(mean((row["TRACE"] - 0.4 * row["Vef."]) / 0.6 for row in rows), 2) == 16.18


def test_an_export_reads_back_to_the_same_numbers(official, tmp_path):
    rows = task_scores.read_score_table(official).rows
    leaderboard.write_task_scores(rows, tmp_path / "gemini31flash.csv")
    assert (tmp_path / "gemini31flash.csv").read_bytes().startswith(b"\xef\xbb\xbfTask ID,Split,Overall")
    again = leaderboard.table(TASK, tmp_path / "gemini31flash.csv")
    assert json.dumps(again) == json.dumps(leaderboard.table(TASK, official))


def test_the_exported_leaderboard_row_is_the_official_file(official, shared_data, tmp_path):
    rows = task_scores.read_score_table(official).rows
    leaderboard.write_leaderboard("Gemini 3.1 Flash Lite", rows, tmp_path / "row.csv")
    expected = (shared_data / "mmdeepresearch_bench" / "gemini31flash.leaderboard.csv").read_text("utf-8-sig")
    assert (tmp_path / "row.csv").read_text("utf-8-sig").split() == expected.split()


def test_a_task_that_stands_twice_counts_once_and_a_short_table_is_partial(official, tmp_path):
    lines = official.read_text("utf-8-sig").splitlines()
    zero = "Q0,Research,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,True,0"
    path = tmp_path / "two.csv"
    path.write_text("\n".join([*lines[:3], zero]) + "\n")
    printed = leaderboard.table(TASK, path)
    assert printed["complete"] == 2 and printed["partial"]
    assert printed["row_totals"]["Q0"] == 0.0


@pytest.mark.parametrize("text, words", [("a,b\n1,2\n", "no table"), ("", "no row"), ("Task ID,FLAE\nQ1,x\n", "'x'")])
def test_what_is_no_table_is_one_sentence(tmp_path, text, words):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(SystemExit) as ended:
        leaderboard.table(TASK, path)
    assert words in ended.value.code and "\n" not in ended.value.code


def edited(official, path, change):
    header, *lines = official.read_text("utf-8-sig").splitlines()
    path.write_text("\n".join(change(header, lines)) + "\n", encoding="utf-8")
    return path


def test_one_row_is_measured_against_all_140_tasks(official, tmp_path):
    one = edited(official, tmp_path / "one.csv", lambda header, lines: [header, lines[0]])
    numbers = results(leaderboard.table(TASK, one))
    # The card's recipe on Q0: 0.2 · (63.817843 + 91.392635 + 58.5) / 3 + 0.5 · (0 + 19.111111 + 40 + 0) / 4
    # + 0.3 · (38.266986 + 38.266986) / 2.
    assert numbers["mmdr_overall"] == pytest.approx(33.116349875, abs=1e-9)
    assert numbers["mmdr_overall_zeroed"] == pytest.approx(33.116349875 / 140, abs=1e-9)


def test_a_task_that_stands_twice_is_noted(official, tmp_path):
    twice = edited(official, tmp_path / "twice.csv", lambda header, lines: [header, *lines, lines[3]])
    printed = leaderboard.table(TASK, twice)
    assert printed["leaderboard"]["Overall"] == 49.08 and printed["notes"] == [
        "Several lines hold Q3 with the same scores: a task counts once."
    ]


def test_of_lines_that_differ_the_last_counts_and_the_note_says_so(official, tmp_path):
    def change(header, lines):
        return [header, *lines, lines[3].replace("Q3,", "3,"), lines[5], ",".join(["Q5", *lines[6].split(",")[1:]])]

    table = edited(official, tmp_path / "twice.csv", change)
    printed = leaderboard.table(TASK, table)
    assert printed["row_totals"]["Q5"] == printed["row_totals"]["Q6"] and len(printed["row_totals"]) == 140
    assert printed["notes"] == [
        "Several lines hold Q5 with different scores: the last line of a task counts, by the official rule.",
        "Several lines hold Q3 with the same scores: a task counts once.",
    ]


def test_the_note_on_a_repeated_task_is_logged_too(official, tmp_path, warned):
    twice = edited(official, tmp_path / "twice.csv", lambda header, lines: [header, *lines, lines[3]])
    assert main(["score", TASK.name, str(twice), "--table"]) == 0
    assert warned == ["Several lines hold Q3 with the same scores: a task counts once."]


def test_each_mean_stands_beside_its_own_n(official, tmp_path):
    def no_module(header, lines):
        cells = lines[5].split(",")
        cells[header.split(",").index("FLAE")] = ""
        return [header, *lines[:5], ",".join(cells), *lines[6:]]

    printed = leaderboard.table(TASK, edited(official, tmp_path / "x.csv", no_module))
    assert printed["n"]["Read."] == 140 and printed["n_leaderboard"]["Read."] == 139 == printed["complete"]
    # The card's recipe needs no module column; the official total does.
    assert printed["n"]["mmdr_overall"] == 140 and printed["n_leaderboard"]["Overall"] == 139
    assert printed["splits"]["Daily"]["n_columns"].items() >= {"Overall": 40, "Read.": 40}.items()
    conditional = [split["n_columns"]["Acc."] for split in printed["splits"].values()]
    assert sum(conditional) == printed["n_leaderboard"]["Acc."] in (70, 71)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda head, lines: [f"{head},FLAE", *(f"{line},1" for line in lines)], "the column FLAE stands twice"),
        (lambda head, lines: [f"{head}, VQA ", *(f"{line},1" for line in lines)], "the column VQA stands twice"),
        (lambda head, lines: [head, *lines, lines[3].replace("Q3,", "Q140,", 1)], "line 142: 'Q140' is no Task ID"),
        (lambda head, lines: [head, *lines, lines[3].replace("Q3,", "Q999,", 1)], "'Q999' is no Task ID"),
        (lambda head, lines: [head, lines[3].replace("Q3,", ",", 1)], "line 2: '' is no Task ID"),
        (lambda head, lines: [head, f"{lines[0]},7"], "line 2: it has 21 cells, and the header has 20"),
        (lambda head, lines: [head, lines[0], lines[1][:60]], "line 3: it has 8 cells, and the header has 20"),
        (
            lambda head, lines: [head, lines[0].replace("69.326", "150")],
            "line 2: FLAE of Q0 is no number from 0 to 100",
        ),
        (lambda head, lines: [head, lines[0].replace("69.326", "-5")], "FLAE of Q0 is no number from 0 to 100"),
        (lambda head, lines: [head, lines[0].replace("69.326", "nan")], "FLAE of Q0 is no number from 0 to 100"),
    ],
)
def test_a_damaged_table_is_one_sentence_and_no_number(official, tmp_path, change, words):
    with pytest.raises(SystemExit, match=words):
        leaderboard.table(TASK, edited(official, tmp_path / "x.csv", change))
