"""Question files, tables and slices that are not as expected: named, counted or passed over, never lost in silence."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.sgmri_vqa import hooks, key
from lmms_tasks.sgmri_vqa.annotations import read_table
from lmms_tasks.sgmri_vqa.benchmark import check_images
from lmms_tasks.sgmri_vqa.boxes import Box
from lmms_tasks.sgmri_vqa.slices import image_size
from lmms_tasks.sources import load_rows
from tests.sgmri_vqa.conftest import image_row, volume_row, write_rows

TASKS = read_catalogue().tasks
HEADER = "file,slice,study_level,x,y,width,height,label\n"


def rows_of(task: str) -> list[dict]:
    return list(load_rows(TASKS[task]))


@pytest.mark.parametrize("number", [0, -1, 3.7, "slice 3", True, 10**30])
def test_a_slice_number_that_is_no_whole_number_from_1_is_named(data, number):
    """Such a row may not be taken for one about a volume, which would leave it out."""
    write_rows(data / "image.json", [image_row(), image_row(slice_num=number)])
    with pytest.raises(SystemExit, match="row 1 is about a slice and has no slice_num, a whole number from 1"):
        rows_of("sgmri_vqa_image")


@pytest.mark.parametrize("number", [None, "", float("nan")])
def test_a_row_without_slice_number_and_level_is_about_a_volume(data, number):
    write_rows(data / "volume.json", [volume_row(level=None, slice_num=number), image_row()])
    assert [row["slice_num"] for row in rows_of("sgmri_vqa_volume")] == [None]


@pytest.mark.parametrize("number", [0, -2, 2.5, 10**30, "many"])
def test_sizes_and_counts_that_cannot_be_are_unknown(data, number):
    write_rows(data / "volume.json", [volume_row(num_slices=number, width=number, height=number)])
    (row,) = rows_of("sgmri_vqa_volume")
    assert (row["num_slices"], row["width"], row["height"]) == (None, None, None)
    assert image_size(row) == (256, 256, "assumed")


def test_rows_that_are_not_evaluated_are_told_with_their_number(data, told):
    locate = image_row(task="localization", question="Locate the bounding box of it.")
    write_rows(data / "image.json", [image_row(), image_row(2, slice_num=None), image_row(3, level="volume"), locate])
    assert len(rows_of("sgmri_vqa_image")) == 1
    assert any("2 are about the other level than images" in line and "and 1 are questions" in line for line in told)


@pytest.mark.parametrize(
    ("boxes", "found"),
    [
        ({"x": 1, "y": 2, "width": 3, "height": 4}, []),
        ([[1, 2, 3, 4]], []),
        ([{"x": 1, "y": 2, "w": 3, "h": 4}], []),
        (["a", {"x": "1", "y": "2", "width": "3", "height": "4"}], [Box(1, 2, 3, 4)]),
        ("none", []),
    ],
)
def test_boxes_of_a_record_that_cannot_be_read_are_counted(data, told, boxes, found):
    write_rows(data / "image.json", [image_row(task="localization", ground_truth={"bboxes": boxes}), image_row()])
    assert key.boxes_of(rows_of("sgmri_vqa_image")[0]) == found
    assert any(
        "WARNING" in line and "boxes in the records of 1 localization rows cannot be read" in line for line in told
    )
    assert any("1 localization rows have no key box" in line for line in told) is not bool(found)


@pytest.mark.parametrize("truth", ["{'labels': ['Mass']}", '{"labels": [', [{"labels": ["Mass"]}]])
def test_a_ground_truth_that_is_no_object_is_counted(data, told, truth):
    write_rows(data / "image.json", [image_row(ground_truth=truth), image_row(2)])
    assert [row["labels"] for row in rows_of("sgmri_vqa_image")] == [[], ["Mass "]]
    assert any("WARNING" in line and "ground_truth of 1 rows is no object" in line for line in told)


def test_rows_that_stand_twice_are_counted(data, told):
    write_rows(data / "image.json", [image_row(), image_row(), image_row(2)])
    assert len(rows_of("sgmri_vqa_image")) == 3
    assert any("WARNING" in line and "1 rows repeat another row" in line for line in told)


def test_well_formed_rows_are_not_warned_about(data, told):
    boxes = [{"x": 1, "y": 2, "width": 3, "height": 4}]
    write_rows(data / "image.json", [image_row(), image_row(task="localization", ground_truth={"bboxes": boxes})])
    rows_of("sgmri_vqa_image")
    assert not [line for line in told if "WARNING" in line and "rows were found" not in line]


def test_hidden_files_of_other_programs_are_no_questions(data):
    write_rows(data / "brain" / "test" / "image_qa" / "a.json", [image_row()])
    for hidden in ("brain/test/image_qa/._a.json", "__MACOSX/image_qa/a.json", ".cache/image_qa/a.json"):
        (data / hidden).parent.mkdir(parents=True, exist_ok=True)
        (data / hidden).write_bytes(b"\x00\x05\x16\x07\xff")
    assert len(rows_of("sgmri_vqa_image")) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("f,inf,No,1,2,3,4,a", "line 2 cannot be read"),
        ("f,nan,No,1,2,3,4,a", "line 2 cannot be read"),
        ("f,-3,No,1,2,3,4,a", "slice -3"),
        ("f,1.7,No,1,2,3,4,a", "slice 1.7"),
        ("f,1,No,nan,2,3,4,a", "a box of nan, 2, 3, 4"),
        ("f,1,No,1,2,inf,4,a", "a box of 1, 2, inf, 4"),
        ("f,1,No,1,2,,4,a", "line 2 cannot be read"),
        ("f,1", "it has no study_level"),
    ],
)
def test_a_line_that_cannot_be_a_box_is_named(tmp_path, line, reason):
    (tmp_path / "brain.csv").write_text(f"{HEADER}{line}\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"brain.csv, line 2 cannot be read \(.*") as ended:
        read_table(tmp_path / "brain.csv")
    assert reason in str(ended.value)


def test_tables_that_serve_no_row_are_warned_about(tmp_path, data, told, monkeypatch):
    (tmp_path / "brain.csv").write_text(f"{HEADER}another,1,No,1,2,3,4,a\n", encoding="utf-8")
    monkeypatch.setenv("SGMRI_VQA_ANNOTATIONS", str(tmp_path / "brain.csv"))
    write_rows(data / "volume.json", [volume_row(task="localization", answer="Frame 1: <bbx>[1,2,3,4]</bbx>")])
    assert rows_of("sgmri_vqa_volume")[0]["key_source"] == "answer"
    assert any("WARNING" in line and "names tables from which no row takes its boxes" in line for line in told)


def test_a_slice_0_ends_the_run_since_it_would_shift_every_frame(data, slices):
    write_rows(data / "volume.json", [volume_row(1, "knee")])
    first = next(slices.rglob("file1000001_slice_001.png"))
    Image.new("L", (40, 10)).save(first.with_name("file1000001_slice_000.png"))
    with pytest.raises(SystemExit, match=r"slice_000.png is a slice 0, but slices are counted from 1"):
        check_images(TASKS["sgmri_vqa_volume"])


def test_a_prompt_tells_as_many_frames_as_are_shown(data, slices):
    """The record says 3, and 4 lie there."""
    write_rows(data / "volume.json", [volume_row(1, "knee", num_slices=3)])
    (row,) = rows_of("sgmri_vqa_volume")
    assert len(hooks.doc_to_visual(row)) == 4 and "frames 1 to 4." in hooks.doc_to_text(row)


def test_a_slice_that_is_no_image_is_named_wherever_its_size_is_asked_for(data, slices):
    write_rows(data / "image.json", [image_row(task="localization", answer="<bbx>[1,2,3,4]</bbx>")])
    (row,) = rows_of("sgmri_vqa_image")
    next(slices.rglob("*_1_slice_003.png")).write_bytes(b"")
    for ask in (lambda: hooks.doc_to_text(row), lambda: hooks.process_results(row, ["<bbx>[1,2,3,4]</bbx>"])):
        with pytest.raises(SystemExit, match=r"_slice_003.png cannot be opened"):
            ask()


def test_of_slices_that_lie_twice_the_first_by_path_is_shown_and_told(data, slices, told):
    write_rows(data / "image.json", [image_row()])
    volume = image_row()["volume_id"]
    for folder, size in (("zzz", (7, 7)), ("aaa", (9, 9))):
        (slices / folder).mkdir()
        Image.new("L", size).save(slices / folder / f"{volume}_slice_003.PNG", "PNG")
    check_images(TASKS["sgmri_vqa_image"])
    (image,) = hooks.doc_to_visual(rows_of("sgmri_vqa_image")[0])
    assert image.size == (9, 9)
    assert any("WARNING" in line and "2 slices lie twice" in line for line in told)


def test_answers_given_as_other_json_values_stay_readable(data):
    write_rows(data / "image.json", [image_row(answer=value) for value in (0, 2.0, ["A", "C"])])
    assert [row["answer"] for row in rows_of("sgmri_vqa_image")] == ["0", "2.0", json.dumps(["A", "C"])]
