"""The shipped dialogues of MIRAGE MMMT: schema, variety, pictures, and that they can be drawn again."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import re
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from lmms_tasks.mirage.dialogue import split_by_speaker
from lmms_tasks.mirage.samples import draw_mmmt, texts_mmmt

IMAGE_COLUMNS = ("image_1", "image_2", "image_3")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    import datasets

    files = {"test": str(draw_mmmt.FOLDER / draw_mmmt.MULTI_TURN)}
    cache = str(tmp_path_factory.mktemp("cache"))
    return datasets.load_dataset("parquet", data_files=files, split="test", cache_dir=cache)


@pytest.fixture(scope="module")
def rows(dataset) -> list[dict]:
    return list(dataset)


def images(row: dict) -> list[bytes]:
    return [row[column]["bytes"] for column in IMAGE_COLUMNS if row[column] is not None]


def test_columns_are_those_of_the_benchmark_with_undecoded_images(dataset):
    import datasets

    texts = {"id", "dialog_context", "decision", "utterance", "dialog_turns", "known_goal", "missing_goal"}
    assert set(dataset.column_names) == texts | set(IMAGE_COLUMNS)
    for column in IMAGE_COLUMNS:
        assert isinstance(dataset.features[column], datasets.Image) and dataset.features[column].decode is False


def test_both_decisions_and_one_to_six_turns_occur(rows):
    assert len(rows) == 26
    assert Counter(row["decision"] for row in rows) == {"<Clarify>": 12, "<Respond>": 14}
    assert {row["dialog_turns"] for row in rows} == {1, 2, 3, 4, 5, 6}
    # Neither rule that needs no model solves them.
    assert {row["decision"] for row in rows if row["dialog_turns"] == 1} == {"<Clarify>", "<Respond>"}
    assert {row["decision"] for row in rows if row["dialog_turns"] > 1} == {"<Clarify>", "<Respond>"}


def test_dialogues_are_written_as_the_benchmark_writes_them(rows):
    for row in rows:
        text = row["dialog_context"]
        assert text.startswith("user: ") and text.endswith("\n") and not text.endswith("\n\n")
        turns = split_by_speaker(text)
        assert len(turns) == row["dialog_turns"] and turns[-1].speaker == "User"
    assert len({row["dialog_context"] for row in rows}) == len(rows)


def test_what_makes_the_real_rows_difficult_occurs_here_too(rows):
    speakers = [[turn.speaker for turn in split_by_speaker(row["dialog_context"])] for row in rows]
    assert any(a == b for row in speakers for a, b in itertools.pairwise(row))
    assert any("<personal data hidden>" in row["dialog_context"] for row in rows)
    assert any(re.search(r"\n\d\. ", row["dialog_context"]) for row in rows)
    assert any(re.search(r"[\u4e00-\u9fff]", row["dialog_context"]) for row in rows)
    # Ids repeat with both decisions; an id and its number of turns do not.
    decisions = {row["id"]: {r["decision"] for r in rows if r["id"] == row["id"]} for row in rows}
    assert sum(len(found) == 2 for found in decisions.values()) >= 5
    assert len({(row["id"], row["dialog_turns"]) for row in rows}) == len(rows)


def test_goals_fit_the_decision(rows):
    for row in rows:
        assert row["known_goal"] and all(": " in fact for fact in row["known_goal"])
        if row["decision"] == "<Clarify>":
            assert row["missing_goal"] and re.search(r"[?？]", row["utterance"])
        else:
            assert not re.search(r"[?？]", row["utterance"])
    answered = [row for row in rows if row["decision"] == "<Respond>" and row["missing_goal"]]
    assert [(row["id"], row["dialog_turns"]) for row in answered] == [("#s0103", 3)]


def test_pictures_are_one_to_three_small_and_each_conversations_own(rows):
    assert {len(images(row)) for row in rows} == {1, 2, 3}
    by_conversation = {row["id"]: tuple(hashlib.sha256(data).hexdigest() for data in images(row)) for row in rows}
    for row in rows:
        assert tuple(hashlib.sha256(data).hexdigest() for data in images(row)) == by_conversation[row["id"]]
    hashes = [digest for found in by_conversation.values() for digest in found]
    assert len(set(hashes)) == len(hashes) == 22
    for row in rows:
        for data in images(row):
            with Image.open(io.BytesIO(data)) as image:
                assert image.format == "JPEG" and 160 <= max(image.size) <= 280
    assert (draw_mmmt.FOLDER / draw_mmmt.MULTI_TURN).stat().st_size < 450_000


def test_shipped_rows_are_what_the_script_writes(rows):
    shipped = {(row["id"], row["dialog_turns"]): row for row in rows}
    for conversation in texts_mmmt.CONVERSATIONS:
        for cut in conversation.cuts:
            row = shipped.pop((conversation.id, cut.turns))
            assert row["dialog_context"] == conversation.context(cut.turns)
            written = (cut.decision, cut.utterance, cut.known, cut.missing)
            assert written == (row["decision"], row["utterance"], row["known_goal"], row["missing_goal"])
    assert not shipped
    conversation = texts_mmmt.CONVERSATIONS[10]
    stored = images(next(row for row in rows if row["id"] == conversation.id))
    for image, data in zip(draw_mmmt.pictures(conversation), stored, strict=True):
        with Image.open(io.BytesIO(data)) as other:
            pixels = np.asarray(other.convert("RGB"), dtype=np.float32)
        # JPEG loses a little, and versions of Pillow differ by a rounding.
        assert np.abs(pixels - np.asarray(image, dtype=np.float32)).mean() < 6


def test_no_dialogue_comes_from_the_benchmark(rows, shared_data):
    real = json.loads((shared_data / "mirage" / "samples" / "mmmt_decomp_60.json").read_text())
    spoken = {turn.text for row in real for turn in split_by_speaker(row["dialog_context"])}
    assert not spoken & {turn.text for row in rows for turn in split_by_speaker(row["dialog_context"])}


@pytest.mark.long
def test_the_script_writes_identical_files_when_run_twice(tmp_path):
    for folder in ("one", "two"):
        draw_mmmt.main(tmp_path / folder)
    first, second = ((tmp_path / folder / draw_mmmt.MULTI_TURN).read_bytes() for folder in ("one", "two"))
    assert first == second
