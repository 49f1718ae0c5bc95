"""Slices are no columns of the rows: preflight looks for them before a model is created, and `score` does without."""

from __future__ import annotations

import shutil

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.sgmri_vqa import hooks
from lmms_tasks.sources import check_rows, load_rows
from tests.sgmri_vqa.conftest import image_row, write_rows

TASK = read_catalogue().tasks["sgmri_vqa_image"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """One row of each organ, where SGMRI_VQA_DATA finds them."""
    path = write_rows(tmp_path / "image.json", [image_row(), image_row(1, "knee")])
    monkeypatch.setenv("SGMRI_VQA_DATA", str(path))


def test_slices_that_are_all_there_pass(rows, slices):
    check_rows(TASK, need_images=True)


def test_no_folder_of_slices_ends_the_run_and_says_where_to_get_access(rows):
    with pytest.raises(SystemExit, match=r"fastmri\.med\.nyu\.edu.*SGMRI_VQA_IMAGE_DIR"):
        check_rows(TASK, need_images=True)


def test_a_volume_that_is_missing_is_named(rows, slices):
    volume = image_row(1, "knee")["volume_id"]
    shutil.rmtree(slices / "knee" / volume)
    with pytest.raises(SystemExit, match=volume):
        check_rows(TASK, need_images=True)


def test_scoring_with_a_text_judge_needs_no_slices(rows):
    check_rows(TASK, need_images=False)


def test_the_size_in_the_slices_header_decides_where_a_normalised_box_lies(rows, slices):
    """Thousandths of 20 × 30 pixels, the slice on disk; the released code would take 256 × 256."""
    row = next(iter(load_rows(TASK))) | {"task": "localization", "key_boxes": "[[10, 15, 10, 15, null]]"}
    answer = "<|box_start|>(500,500),(1000,1000)<|box_end|>"
    items = hooks.process_results(row, [answer])
    assert items["v_score"]["score"] == 1.0
    assert items["judged_coverage"]["image_size"] == "image"
