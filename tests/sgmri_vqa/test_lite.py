"""The fixed part for sweeps: its rows are chosen by rule, in proportion, and told in the manifest."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections import Counter

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.sgmri_vqa.rows import SUBSET_ROWS, TASKS
from lmms_tasks.sources import describe, load_rows
from tests.sgmri_vqa.conftest import image_row, volume_row, write_rows

CATALOGUE = read_catalogue()
LITE = {level: CATALOGUE.tasks[f"sgmri_vqa_{level}_lite"] for level in TASKS}
# Rows of each organ and task that are generated for a level: together 1,200 and 240.
SIZES = {"image": {"brain": 160, "knee": 80}, "volume": {"brain": 32, "knee": 16}}
MADE = {"image": image_row, "volume": volume_row}


def questions(level: str, organ: str) -> list[dict]:
    """Generated rows in which the tasks take turns, as five questions each about a slice or a volume."""
    return [
        MADE[level](number, organ, task=task, question=f"Question {number} of {organ} about {task}?")
        for number in range(SIZES[level][organ])
        for task in TASKS[level]
    ]


@pytest.fixture
def generated(data):
    for organ in ("knee", "brain"):
        for level in TASKS:
            write_rows(data / organ / "test" / f"{level}_qa" / "rows.json", questions(level, organ))
    return data


def chosen(level: str) -> list[tuple[int, str]]:
    return [(row["position"], row["question"]) for row in load_rows(LITE[level])]


def test_400_rows_of_a_group_in_proportion_to_the_published_levels():
    # Five questions each to 1,492 slices and 368 volumes: 400 · 1,492 / 1,860 = 320.9.
    assert SUBSET_ROWS["image"] == round(400 * 1492 / 1860)
    assert SUBSET_ROWS["volume"] == round(400 * 368 / 1860)
    assert sum(SUBSET_ROWS.values()) == 400


def test_each_organ_and_task_has_its_share(generated):
    for level, task in LITE.items():
        rows = load_rows(task)
        assert len(rows) == SUBSET_ROWS[level]
        found = Counter((row["organ"], row["level"], row["task"]) for row in rows)
        whole = sum(SIZES[level].values()) * len(TASKS[level])
        for organ, size in SIZES[level].items():
            for name in TASKS[level]:
                assert abs(found[organ, level, name] - SUBSET_ROWS[level] * size / whole) < 1


def test_positions_are_those_of_the_whole_task_and_stand_in_the_manifest(generated):
    for level, task in LITE.items():
        whole, rows = load_rows(CATALOGUE.tasks[f"sgmri_vqa_{level}"]), load_rows(task)
        assert [whole[position]["question"] for position in rows["position"]] == list(rows["question"])
        told = describe(task, rows)
        assert told["positions"] == list(rows["position"]) == sorted(set(rows["position"]))
        assert len(told["fingerprint"]) == 64


def test_files_read_one_by_one_or_together_give_the_same_choice(generated, tmp_path, monkeypatch):
    by_folder = {level: chosen(level) for level in TASKS}
    # Levels mixed: a row's place is counted among the questions of its own level.
    mixed = [row for organ in ("brain", "knee") for level in ("volume", "image") for row in questions(level, organ)]
    monkeypatch.setenv("SGMRI_VQA_DATA", str(write_rows(tmp_path / "all.json", mixed)))
    assert {level: chosen(level) for level in TASKS} == by_folder


def test_every_process_and_rank_makes_the_same_choice(generated, home):
    code = (
        "import json\n"
        "from lmms_tasks.benchmarks import read_catalogue\n"
        "from lmms_tasks.sources import load_rows\n"
        "print(json.dumps(list(load_rows(read_catalogue().tasks['sgmri_vqa_image_lite'])['position'])))\n"
    )
    here = list(load_rows(LITE["image"])["position"])
    environment = os.environ | {"RANK": "1", "WORLD_SIZE": "2", "PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == here


def test_fewer_rows_than_asked_for_are_all_taken(data):
    write_rows(data / "volume.json", [volume_row(number) for number in range(7)])
    rows = load_rows(LITE["volume"])
    assert list(rows["position"]) == list(range(7))


def test_the_list_shows_the_tasks_and_their_group(capsys):
    assert main(["list"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in ("sgmri_vqa_lite", "sgmri_vqa_image_lite", "sgmri_vqa_volume_lite"))
    assert CATALOGUE.groups["sgmri_vqa_lite"].members == ("sgmri_vqa_image_lite", "sgmri_vqa_volume_lite")
    for level, task in LITE.items():
        assert task.metrics == CATALOGUE.tasks[f"sgmri_vqa_{level}"].metrics


def test_a_scored_subset_prints_errors_and_keeps_its_positions(generated, tmp_path, capsys):
    rows = load_rows(LITE["volume"])
    answers = tmp_path / "answers.jsonl"
    lines = [json.dumps({"doc_id": n, "prediction": "Yes" if n % 2 else "No"}) for n in range(len(rows))]
    answers.write_text("\n".join(lines))
    output = tmp_path / "out"
    assert main(["score", "sgmri_vqa_volume_lite", str(answers), "--json", "--output", str(output)]) == 0
    results = json.loads(capsys.readouterr().out)["results"]["sgmri_vqa_volume_lite"]
    assert 0 < results["a_score,none"] < 1 and results["a_score_stderr_clt,none"] > 0
    assert not math.isnan(results["a_score_stderr_clt,none"])
    (path,) = output.rglob("*_lmms_tasks_sgmri_vqa_volume_lite.json")
    data = json.loads(path.read_text())["data"]
    assert data["positions"] == list(rows["position"]) and data["fingerprint"] and data["rows"] == len(rows)
