"""Rows and slices of SGMRI-VQA as a user has them on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.sources import load_rows

_TASKS = read_catalogue().tasks
IMAGE, VOLUME = (_TASKS[f"sgmri_vqa_{level}_sample"] for level in ("image", "volume"))


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """None of the user's own settings of this benchmark."""
    import os

    for name in list(os.environ):
        if name.startswith("SGMRI_VQA_"):
            monkeypatch.delenv(name)


def image_row(number: int = 1, organ: str = "brain", **more) -> dict:
    """A question about a slice in the columns of the hub."""
    return {
        "volume_id": f"file_brain_AXT2_200_{number}" if organ == "brain" else f"file100000{number}",
        "slice_num": 3,
        "modality": "T2",
        "domain": organ,
        "type": "closed_ended",
        "task": "detection",
        "question": f"Is there a lesion in slice {number}?",
        "answer": "Yes",
        "reasoning": "",
        "ground_truth": {"labels": ["Mass "], "diagnosis": [], "bboxes": []},
    } | more


def volume_row(number: int = 1, organ: str = "brain", **more) -> dict:
    """A question about a volume in the columns of the hub."""
    row = image_row(number, organ, ground_truth={"final_diagnosis": ["Mass "]}, num_slices=4, step=1, level="volume")
    del row["slice_num"]
    return row | more


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """An empty folder that SGMRI_VQA_DATA names."""
    folder = tmp_path / "questions"
    folder.mkdir()
    monkeypatch.setenv("SGMRI_VQA_DATA", str(folder))
    return folder


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


@pytest.fixture
def slices(tmp_path, monkeypatch) -> Path:
    """Slices 1 to 4 of the volumes of `image_row(1)` for both organs, where SGMRI_VQA_IMAGE_DIR finds them."""
    folder = tmp_path / "slices"
    for organ, size in (("brain", (20, 30)), ("knee", (40, 10))):
        volume = image_row(1, organ)["volume_id"]
        (folder / organ / volume).mkdir(parents=True)
        for number in range(1, 5):
            pixels = np.full((size[1], size[0]), 10 * number, dtype=np.uint8)
            Image.fromarray(pixels).save(folder / organ / volume / f"{volume}_slice_{number:03d}.png")
    monkeypatch.setenv("SGMRI_VQA_IMAGE_DIR", str(folder))
    return folder


@pytest.fixture(scope="session")
def rows():
    return {task.name: list(load_rows(task)) for task in (IMAGE, VOLUME)}


@pytest.fixture
def row(rows):
    """The first sample row of a task and, if given, a question type."""

    def find(task, kind: str, **more):
        wanted = {"task": kind, **more}
        return next(row for row in rows[task.name] if all(row[key] == value for key, value in wanted.items()))

    return find


@pytest.fixture
def judged_by(impatient_judge):
    return impatient_judge("sgmri_vqa", tries=2, concurrency=8)
