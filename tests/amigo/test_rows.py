"""Rows: what preflight names, where the target comes from, and episodes built from a user's images."""

from __future__ import annotations

import copy
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
        ({"gold_idx": "two"}, "gold_idx that cannot be read ('two' is no whole number)"),
        ({"gold_idx": 1.7}, "gold_idx that cannot be read ('1.7' is no whole number)"),
        ({"gold_idx": True}, "gold_idx that cannot be read"),
        ({"attributes": "{"}, "attributes that cannot be read"),
        ({"attributes": 3}, "attributes that cannot be read"),
        ({"attributes": [A, {"belt": {"is": "wide"}}]}, "attributes that cannot be read (the value of belt"),
        ({"images": ["0.png", "0.png"]}, "the same image at 1 and 2"),
        ({"images": ["0.png", "copy.png"]}, "the same image at 1 and 2"),
        ({"attributes": [A, B, C]}, "3 attribute tables for 2 images"),
        ({"images": []}, "has no images"),
        ({"episode_id": "e0"}, "has the episode_id of row 0"),
    ],
)
def test_preflight_names_each_invalid_row(data, changes, fault):
    with pytest.raises(SystemExit) as ended:
        data(an_episode(episode_id="e0"), an_episode(**changes))
    assert "row 1" in ended.value.code and fault in ended.value.code
    assert ended.value.code.count("row 0") == ("row 0" in fault)


@pytest.mark.parametrize("given", [2, 2.0, "2", "2.0", " 2 "])
def test_a_target_may_be_written_as_any_whole_number(given):
    assert rows.gold_of({"episode_id": "e", "gold_idx": given}, 3) == 2


@pytest.mark.parametrize("given", [2.7, True, float("nan"), float("inf"), "2.7", "1e1", "٢", [2]])
def test_a_target_that_is_no_whole_number_is_never_rounded(given):
    with pytest.raises(ValueError, match="is no whole number"):
        rows.gold_of({"episode_id": "e", "gold_idx": given}, 3)


def test_the_images_hash_follows_bytes_and_order_and_not_names(tmp_path):
    for name, content in (("a", b"1"), ("b", b"2"), ("copy of a", b"1")):
        (tmp_path / name).write_bytes(content)
    a, b, copy = (str(tmp_path / name) for name in ("a", "b", "copy of a"))
    expected = rows.gallery_hash({"images": [a, b]})
    assert expected == rows.gallery_hash({"images": [copy, {"path": "x", "bytes": b"2"}]})
    assert expected != rows.gallery_hash({"images": [b, a]})
    with pytest.raises(SystemExit, match=r"none\.png cannot be opened"):
        rows.gallery_hash({"images": ["none.png"]})


def test_all_invalid_rows_are_named_in_one_sentence(data):
    with pytest.raises(SystemExit) as ended:
        data(an_episode(episode_id="e0", gold_idx=9), an_episode(attributes=[A, B, C]))
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


def test_preflight_names_images_that_no_question_of_the_task_tells_apart(data):
    data(an_episode(episode_id="e0"), an_episode(attributes=[B, C]))
    task = read_catalogue().tasks["amigo"]
    with Run.begin([task]) as run:
        with pytest.raises(
            SystemExit, match=r"row 1 \(e1\) has images 1 and 2, which no allowed question can tell apart"
        ):
            run.preflight()
        run.preflight(need_images=False)  # the episodes were played
    allowing = copy.deepcopy(task)
    allowing.config["lmms_eval_specific_kwargs"] = {"default": {"prohibited": []}}
    with Run.begin([allowing]) as run:
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
    with pytest.raises(SystemExit, match="has 24 images, fewer than a gallery of 30"):
        main([*command, str(table), "--size", "30", "--episodes", "1"])
    for count in ("0", "-1"):
        with pytest.raises(SystemExit, match="--episodes 1 or more"):
            main([*command, str(table), "--episodes", count])
    with pytest.raises(SystemExit, match="correct --images"):
        main([*command, str(table), "--images", str(tmp_path / "nowhere")])
    (folder / "3.png").unlink()
    with pytest.raises(SystemExit, match=r"lacks 1 images of the table, such as 3.png"):
        main([*command, str(table)])
    with pytest.raises(SystemExit, match="correct --attributes"):
        main([*command, str(tmp_path / "none.csv")])


def prepare(tmp_path, name, content, size=2):
    table = tmp_path / name
    table.write_bytes(content if isinstance(content, bytes) else content.encode())
    output = tmp_path / "out.jsonl"
    command = ["prepare", "amigo", "--images", str(tmp_path / "photos"), "--attributes", str(table)]
    assert main([*command, "--output", str(output), "--size", str(size)]) == 0
    return [json.loads(line) for line in output.read_text().splitlines()]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.csv", "image,belt\n0.png,yes,leather\n1.png,no\n", "line 2: 'leather' stands under no column name"),
        ("t.csv", "image,belt,\n0.png,yes,leather\n1.png,no,\n", "line 2: 'leather' stands under no column name"),
        ("t.csv", "image,belt,belt\n0.png,yes,no\n", "column belt is there twice"),
        ("t.csv", "image,belt\n,yes\n", "line 2: the column image is empty"),
        ("t.csv", "image,belt\n", "has no rows"),
        ("t.csv", "", "column image is missing"),
        ("t.csv", "image,neckline\n0.png,décolleté\n".encode("latin-1"), "is not UTF-8"),
        ("t.csv", "image,belt\n0.png,yes\n1.png,no\n0.png,no\n", "image 0.png is there twice"),
        ("t.json", '{"0.png": {"belt": "yes"}', "is no JSON"),
        ("t.json", '[{"image": "0.png"}]', "is no JSON object of the form"),
        ("t.json", '{"0.png": {"belt": "yes"}, "0.png": {"belt": "no"}}', "image 0.png is there twice"),
        ("t.json", '{"0.png": {"belt": {"is": "wide"}}}', "image 0.png: the value of belt"),
        ("t.json", '{"0.png": {"belt": [["wide"]]}}', "image 0.png: the value of belt"),
        ("t.csv", "image,belt\n0.png,yes\ncopy.png,no\n", "0.png and copy.png in .* are the same image"),
        ("t.csv", "image,belt\n0.png,yes\n1.png,yes\n", "No gallery of 2 images"),
    ],
)
def test_prepare_names_what_is_wrong_with_a_table(catalogue_of_dresses, tmp_path, name, content, sentence):
    folder, _ = catalogue_of_dresses
    (folder / "copy.png").write_bytes((folder / "0.png").read_bytes())
    with pytest.raises(SystemExit, match=sentence):
        prepare(tmp_path, name, content)


def test_prepare_reads_names_with_blanks_around_them(catalogue_of_dresses, tmp_path):
    (row,) = prepare(tmp_path, "t.csv", "image , belt , print \n0.png, yes , plain | floral\n1.png,no,\n\n")
    tables = dict(zip((path.rpartition("/")[2] for path in row["images"]), row["attributes"], strict=True))
    assert tables == {
        "0.png": {"belt": "yes", "print": ["plain", "floral"]},
        "1.png": {"belt": "no", "print": "unsure"},
    }
