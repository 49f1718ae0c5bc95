"""The shipped phantoms: every task and question type, and that they can be drawn again."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.sgmri_vqa import key, rows
from lmms_tasks.sgmri_vqa.samples import draw
from lmms_tasks.sgmri_vqa.samples.questions import BY_ID
from lmms_tasks.sources import load_rows

TASKS = read_catalogue().tasks


@pytest.fixture(scope="module")
def samples():
    return {level: list(load_rows(TASKS[f"sgmri_vqa_{level}_sample"])) for level in ("image", "volume")}


def test_there_are_forty_rows_and_more_of_every_task_organ_and_type(samples):
    assert sum(map(len, samples.values())) >= 40
    for level, found in samples.items():
        assert {row["task"] for row in found} == set(rows.TASKS[level])
        assert {row["organ"] for row in found} == set(rows.ORGANS)
    assert {row["type"] for found in samples.values() for row in found} == set(rows.QUESTION_TYPES)


def test_localizations_of_volumes_have_both_doubtful_shapes_and_the_well_formed_one(samples):
    answers = [row["answer"] for row in samples["volume"] if row["task"] == "localization"]
    assert sum("on Frame 3 (<bbx>" in answer and "(Frame" not in answer for answer in answers) == 1
    assert sum("(Frame 2: <bbx>" in answer and "on Frame 3 (<bbx>" in answer for answer in answers) == 1
    assert sum(map(key.has_unlinked_frame, answers)) == 2
    assert sum("<bbx>" in answer and not key.has_unlinked_frame(answer) for answer in answers) == 3
    assert sum("<bbx>" not in answer for answer in answers) == 1


def test_a_lesion_fills_its_box_and_nothing_beside_it():
    phantom = BY_ID["phantom_knee_1"]
    without = type(phantom)(phantom.volume_id, phantom.organ, phantom.modality, phantom.slices, phantom.size)
    for number, _, (x, y, width, height) in BY_ID["phantom_knee_1"].boxes("Joint Effusion "):
        alone = [lesion for lesion in phantom.lesions if lesion.label == "Joint Effusion "]
        drawn = type(phantom)(
            *[getattr(without, name) for name in ("volume_id", "organ", "modality", "slices", "size")], tuple(alone)
        )
        changed = np.argwhere(np.asarray(drawn.draw(number)) != np.asarray(without.draw(number)))
        assert changed.min(axis=0).tolist() == [y, x]
        assert changed.max(axis=0).tolist() == [y + height - 1, x + width - 1]


def test_drawing_again_gives_the_same_rows_and_pictures(tmp_path):
    import pyarrow.parquet

    draw.main(tmp_path)
    for name in (draw.IMAGE, draw.VOLUME):
        again, shipped = (pyarrow.parquet.read_table(folder / name).to_pylist() for folder in (tmp_path, draw.FOLDER))
        for one, other in zip(again, shipped, strict=True):
            pictures = [[_pixels(image) for image in row.pop("images")] for row in (one, other)]
            assert one == other and pictures[0] == pictures[1]


def _pixels(image: dict) -> bytes:
    with Image.open(io.BytesIO(image["bytes"])) as opened:
        return opened.tobytes()
