"""The shipped episodes: tiers, positions, what members differ in, and that they can be drawn again."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections import Counter

import pyarrow.parquet
import pytest
from PIL import Image

from lmms_tasks.amigo import agents
from lmms_tasks.amigo.episode import Protocol
from lmms_tasks.amigo.metrics import episode_scores
from lmms_tasks.amigo.samples import draw
from tests.amigo.games import play_all, shown


@pytest.fixture(scope="module")
def episodes():
    return pyarrow.parquet.read_table(draw.FILE).to_pylist()


def tier(episodes, size):
    return [row for row in episodes if row["n_images"] == size]


def test_there_are_65_episodes_at_least_and_each_position_is_the_target_equally_often(episodes):
    assert len(episodes) == 85 >= 65
    assert len({row["episode_id"] for row in episodes}) == 85
    assert {row["n_images"] for row in episodes} == {5, 10, 20, 30}
    for size in (5, 10, 20, 30):
        golds = Counter(row["gold_idx"] for row in tier(episodes, size))
        assert set(golds) == set(range(1, size + 1)) and len(set(golds.values())) == 1


def test_members_of_a_gallery_differ_in_allowed_attributes_only(episodes):
    for row in episodes:
        tables = json.loads(row["attributes"])
        assert len(tables) == len(row["images"]) == row["n_images"]
        for slot in Protocol().prohibited:
            assert len({table[slot] for table in tables}) == 1
        assert len({hashlib.sha256(image["bytes"]).digest() for image in row["images"]}) == row["n_images"]


def test_members_of_a_gallery_look_different(episodes):
    galleries = {row["gallery_id"]: row for row in episodes}
    for row in galleries.values():
        pixels = [Image.open(io.BytesIO(image["bytes"])).convert("RGB").tobytes() for image in row["images"]]
        assert len(set(pixels)) == row["n_images"]


def test_every_attribute_that_differs_can_be_seen():
    """Changing one attribute changes the drawing, whatever the others are."""
    from lmms_tasks.amigo.samples.dress import Dress

    colour, ground = draw.COLOURS["blue"], draw.BACKGROUNDS["cream"]
    for length in ("short", "long"):
        base = {slot: values[0] for slot, values in draw.VALUES.items()} | {"sleeve_length": length}
        for slot, values in draw.VALUES.items():
            drawn = [Dress({**base, slot: value}, colour, ground).png() for value in values]
            assert len({Image.open(io.BytesIO(data)).convert("RGB").tobytes() for data in drawn}) == len(values), slot


def test_each_episode_is_solvable_without_a_skip_in_log2_n_plus_2_turns_on_average(episodes):
    for size in (5, 10, 20, 30):
        turns = []
        for row in tier(episodes, size):
            played = play_all(row, agents.greedy)
            scores = episode_scores(played)
            assert scores["verified_success"] == scores["protocol_compliance"] == 1.0 and "Skip" not in shown(played)
            turns.append(scores["efficiency"])
        assert sum(turns) / len(turns) <= math.log2(size) + 2


def test_guessing_at_once_succeeds_on_1_in_n(episodes):
    for size in (5, 10, 20, 30):
        scores = [episode_scores(play_all(row, agents.guess_at_once)) for row in tier(episodes, size)]
        assert sum(one["identification_success"] for one in scores) / len(scores) == pytest.approx(1 / size)
        assert {(one["protocol_compliance"], one["verified_success"]) for one in scores} == {(1.0, 0.0)}


@pytest.mark.long
def test_the_file_can_be_drawn_again(episodes, tmp_path):
    draw.write(tmp_path / "again.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "again.parquet").to_pylist() == episodes
