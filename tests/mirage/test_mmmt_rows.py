"""Rows of dialogues from hub-like and local sources, and dialogues split by speaker."""

from __future__ import annotations

import json

import datasets
import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.mirage import mmmt_rows
from lmms_tasks.mirage.dialogue import Speech, split_by_speaker, transcript
from lmms_tasks.mirage.rows import DECOMP, DIRECT
from lmms_tasks.sources import load_rows

ROW = {
    "id": "#1",
    "dialog_context": "user: My oak is ill.\nexpert: Since when?\nuser: May.\n",
    "decision": "<Clarify>",
    "utterance": "What do the leaves look like?",
    "images": ["./images/#1_0.jpg", "./images/#1_1.jpg"],
    "dialog_turns": 3,
    "known_goal": ["plant: oak"],
    "missing_goal": ["leaves"],
}


def hub_like(**changes) -> datasets.Dataset:
    columns = {key: value for key, value in {**ROW, **changes}.items() if key != "images"}
    columns |= {"image_1": {"bytes": b"x", "path": None}, "image_2": None, "image_3": None}
    dataset = datasets.Dataset.from_list([columns])
    for column in ("image_1", "image_2", "image_3"):
        dataset = dataset.cast_column(column, datasets.Image())
    return dataset


def test_turns_are_split_at_labels_at_the_start_of_a_line():
    text = "user: One.\r\nStill one, said the user: me.\nuser: Two.\nexpert: Three?\n\n- User: no label\nuser:\nFour.\n"
    assert split_by_speaker(text) == [
        Speech("User", "One.\nStill one, said the user: me."),
        Speech("User", "Two."),
        Speech("Expert", "Three?\n\n- User: no label"),
        Speech("User", "Four."),
    ]


def test_capitalised_labels_and_text_without_label_are_the_users_and_experts():
    assert split_by_speaker("User: One.\nuser: still one\nExpert: Two.") == [
        Speech("User", "One.\nuser: still one"),
        Speech("Expert", "Two."),
    ]
    assert split_by_speaker("What is this?") == [Speech("User", "What is this?")]
    assert transcript("What is this?\nexpert: A fern.\n") == "User: What is this?\n\nExpert: A fern."


def test_the_real_dialogues_split_into_the_turns_that_they_count(shared_data):
    rows = json.loads((shared_data / "mirage" / "samples" / "mmmt_decomp_60.json").read_text())
    assert len(rows) == 60
    for row in rows:
        assert len(split_by_speaker(row["dialog_context"])) == row["dialog_turns"] == mmmt_rows.turns(row)


def test_hub_rows_keep_their_images_encoded_and_count_them():
    selected = mmmt_rows.select(hub_like(), DECOMP)
    assert selected[0]["image_1"] == {"bytes": b"x", "path": None}
    assert selected["n_images"][:] == [1]
    assert mmmt_rows.goals(selected[0]["known_goal"]) == ["plant: oak"]


@pytest.mark.parametrize("decision", ["<Clarify>", "Clarify", "clarify", " <CLARIFY> "])
def test_a_gold_decision_is_read_in_any_spelling(decision):
    assert mmmt_rows.gold_decision(mmmt_rows.select(hub_like(decision=decision), DIRECT)[0]) == "clarify"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"decision": "<Clarify> or <Respond>"}, "column decision of row 0"),
        ({"decision": None}, "column decision of row 0"),
        ({"dialog_context": " "}, "column dialog_context of row 0 holds no text"),
        ({"dialog_turns": "three"}, "column dialog_turns of row 0 is no number"),
        ({"dialog_turns": 0}, "column dialog_turns of row 0 is no number"),
        ({"known_goal": "oak, of 1990"}, "column known_goal of row 0 is no list"),
        ({"missing_goal": '{"age": 1}'}, "column missing_goal of row 0 is no list"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_that_names_column_and_row(changes, words):
    with pytest.raises(SystemExit) as ended:
        mmmt_rows.select(hub_like(**changes), DECOMP)
    assert words in ended.value.code and "\n" not in ended.value.code


def test_direct_needs_no_goals_and_decomp_says_which_are_missing():
    rows = hub_like().remove_columns(["known_goal", "missing_goal"])
    assert len(mmmt_rows.select(rows, DIRECT)) == 1
    with pytest.raises(SystemExit, match="known_goal, missing_goal is missing"):
        mmmt_rows.select(rows, DECOMP)


def test_goals_are_a_list_its_json_text_or_nothing():
    assert mmmt_rows.goals('["a: 1", "b"]') == ["a: 1", "b"]
    assert mmmt_rows.goals(None) == mmmt_rows.goals("") == mmmt_rows.goals("[]") == []


def test_facts_become_an_object_where_nothing_is_lost():
    assert mmmt_rows.as_object(["a: 1: 2", "b: x"]) == {"a": "1: 2", "b": "x"}
    assert mmmt_rows.as_object(["a: 1", "a: 2"]) == ["a: 1", "a: 2"]
    assert mmmt_rows.as_object(["a: 1", "no name"]) == ["a: 1", "no name"]


def test_turns_are_the_rows_own_number_even_as_text_else_counted():
    assert mmmt_rows.turns({**ROW, "dialog_turns": "8"}) == 8
    assert mmmt_rows.turns({**ROW, "dialog_turns": None}) == 3


def test_one_decomp_file_serves_both_tasks_and_a_folder_is_told_apart_by_name(monkeypatch, tmp_path):
    catalogue = read_catalogue()
    (tmp_path / "mine.json").write_text(json.dumps([ROW]))
    monkeypatch.setenv("MIRAGE_DATA", str(tmp_path / "mine.json"))
    for name in ("mirage_mmmt_direct", "mirage_mmmt_decomp"):
        (row,) = load_rows(catalogue.tasks[name])
        assert (mmmt_rows.turns(row), row["n_images"]) == (3, 2)
    for word in ("direct", "decomp"):
        (tmp_path / f"{word}_test.json").write_text(json.dumps([{**ROW, "utterance": word}]))
    monkeypatch.setenv("MIRAGE_DATA", str(tmp_path))
    for word in ("direct", "decomp"):
        assert load_rows(catalogue.tasks[f"mirage_mmmt_{word}"])[0]["utterance"] == word
