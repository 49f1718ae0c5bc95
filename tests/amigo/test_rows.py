"""Rows: what preflight names, where the target comes from, and episodes built from a user's images."""

from __future__ import annotations

import csv
import json

import pytest
from loguru import logger
from PIL import Image

from lmms_tasks.amigo import rows
from lmms_tasks.amigo.samples.draw import gallery
from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.run import Run
from lmms_tasks.sources import load_rows

A, B, C = {"belt": "yes", "color": "red"}, {"belt": "no", "color": "red"}, {"belt": "no", "color": "blue"}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Write rows of images that exist, point AMIGO_DATA to them, and return a function that loads them."""
    for number in range(4):
        Image.new("RGB", (8, 8), (number * 40, 0, 0)).save(tmp_path / f"{number}.png")
    (tmp_path / "copy.png").write_bytes((tmp_path / "0.png").read_bytes())

    def load(*given):
        file = tmp_path / "episodes.json"
        file.write_text(json.dumps(list(given)))
        monkeypatch.setenv("AMIGO_DATA", str(file))
        return load_rows(read_catalogue().tasks["amigo"])

    return load


def an_episode(**changes):
    return {"episode_id": "e1", "images": ["0.png", "1.png"], "gold_idx": 2, "attributes": [A, B], **changes}


def test_a_valid_row_is_an_episode(data):
    (loaded,) = data(an_episode())
    episode = rows.episode_of(loaded)
    assert (episode.size, episode.gold, list(episode.tables)) == (2, 2, [A, B])


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"gold_idx": 0}, "gold_idx 0, outside 1 to 2"),
        ({"gold_idx": 3}, "gold_idx 3, outside 1 to 2"),
        ({"gold_idx": "two"}, "cannot be read"),
        ({"images": ["0.png", "0.png"]}, "the same image at 1 and 2"),
        ({"images": ["0.png", "copy.png"]}, "the same image at 1 and 2"),
        ({"attributes": [A, B, C]}, "3 attribute tables for 2 images"),
        ({"attributes": [B, C]}, "images 1 and 2, which no allowed question can tell apart"),
        ({"attributes": [{"belt": "unsure"}, {"belt": "no"}]}, "no allowed question can tell apart"),
        ({"images": []}, "has no images"),
        ({"episode_id": "e0"}, "has the episode_id of row 0"),
    ],
)
def test_preflight_names_each_invalid_row(data, changes, fault):
    with pytest.raises(SystemExit) as ended:
        data(an_episode(episode_id="e0"), an_episode(**changes))
    assert "row 1" in ended.value.code and fault in ended.value.code
    assert ended.value.code.count("row 0") == ("row 0" in fault)


def test_all_invalid_rows_are_named_in_one_sentence(data):
    with pytest.raises(SystemExit) as ended:
        data(an_episode(episode_id="e0", gold_idx=9), an_episode(attributes=[B, C]))
    assert "row 0 (e0)" in ended.value.code and "row 1 (e1)" in ended.value.code


def test_a_missing_column_is_named(data):
    with pytest.raises(SystemExit, match="episode_id"):
        data({"images": ["0.png"], "gold_idx": 1})


def test_without_a_target_the_gallery_s_name_gives_one_and_always_the_same(data):
    def golds():
        made = [an_episode(episode_id=f"e{n}", gallery_id=f"g{n}", gold_idx=None) for n in range(40)]
        return [rows.episode_of(loaded).gold for loaded in data(*made)]

    assert golds() == golds() and set(golds()) == {1, 2}


def test_rows_that_call_themselves_official_and_are_too_few_are_a_warning(data):
    heard = []
    sink = logger.add(lambda message: heard.append(str(message)), level="WARNING")
    data(an_episode(source="AMIGO"))
    data(an_episode(source="my own"))
    logger.remove(sink)
    assert len(heard) == 1 and "4,587" in heard[0]


def test_without_data_the_check_ends_the_run_and_tells_the_schema():
    task = read_catalogue().tasks["amigo"]
    with pytest.raises(SystemExit, match="AMIGO_DATA") as ended:
        task.benchmark.check(task)
    assert all(column in ended.value.code for column in ("episode_id", "images", "gold_idx", "attributes"))


def test_without_tables_and_without_an_oracle_preflight_ends_the_run(data, monkeypatch, tmp_path):
    data(an_episode(attributes=None))
    task = read_catalogue().tasks["amigo"]
    with Run.begin([task]) as run, pytest.raises(SystemExit, match=r"\[amigo.oracle\]"):
        run.preflight()
    monkeypatch.setenv("LMMS_TASKS_JUDGES", "offline")
    with pytest.raises(SystemExit, match=r"\[amigo.oracle\]"):
        task.benchmark.check_images(task)
    profile = tmp_path / "two.toml"
    profile.write_text(
        '[[amigo.oracle.judges]]\nname = "a"\nmodel = "m"\nbase_url = "http://localhost:1"\ngenerations = 2\n'
    )
    monkeypatch.setenv("LMMS_TASKS_JUDGES", str(profile))
    with pytest.raises(SystemExit, match="one judge with one generation"):
        task.benchmark.check_images(task)
    # Scoring transcripts asks nobody.
    with Run.begin([task]) as run:
        run.preflight(need_images=False)


def test_with_tables_preflight_passes(data):
    data(an_episode())
    task = read_catalogue().tasks["amigo"]
    with Run.begin([task]) as run:
        run.preflight()


@pytest.fixture
def catalogue_of_dresses(tmp_path):
    """24 images with a CSV of their attributes."""
    import random

    folder = tmp_path / "photos"
    folder.mkdir()
    tables = gallery(24, 8, random.Random(5))
    with (tmp_path / "attributes.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["image", *tables[0]])
        writer.writeheader()
        for number, table in enumerate(tables):
            Image.new("RGB", (8, 8), (number, 9, 9)).save(folder / f"{number}.png")
            writer.writerow({"image": f"{number}.png", **table})
    return folder, tmp_path / "attributes.csv"


def test_prepare_builds_episodes_that_preflight_accepts(catalogue_of_dresses, tmp_path, monkeypatch, capsys):
    folder, table = catalogue_of_dresses
    output = tmp_path / "made" / "episodes.jsonl"
    command = ["prepare", "amigo", "--images", str(folder), "--attributes", str(table), "--output", str(output)]
    assert main([*command, "--size", "6"]) == 0
    assert "4 episodes of 6 images" in capsys.readouterr().out
    monkeypatch.setenv("AMIGO_DATA", str(output))
    loaded = load_rows(read_catalogue().tasks["amigo"])
    assert len(loaded) == 4
    first = output.read_bytes()
    assert main([*command, "--size", "6"]) == 0 and output.read_bytes() == first
    assert main([*command, "--size", "6", "--episodes", "12"]) == 0
    golds = [json.loads(line)["gold_idx"] for line in output.read_text().splitlines()]
    assert sorted(golds) == sorted([1, 2, 3, 4, 5, 6] * 2)


def test_prepare_says_what_is_wrong(catalogue_of_dresses, tmp_path):
    folder, table = catalogue_of_dresses
    command = ["prepare", "amigo", "--images", str(folder), "--output", str(tmp_path / "x.jsonl"), "--attributes"]
    with pytest.raises(SystemExit, match="No gallery of 30"):
        main([*command, str(table), "--size", "30", "--episodes", "1"])
    (folder / "3.png").unlink()
    with pytest.raises(SystemExit, match=r"lacks 1 images of the table, such as 3.png"):
        main([*command, str(table)])
    with pytest.raises(SystemExit, match="correct --attributes"):
        main([*command, str(tmp_path / "none.csv")])
