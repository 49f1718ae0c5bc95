"""Rows from every layout in which the data may come, key boxes and where they come from, and the slices."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.sgmri_vqa import counts, hooks, key
from lmms_tasks.sgmri_vqa.annotations import read_table, read_tables
from lmms_tasks.sgmri_vqa.benchmark import check_images
from lmms_tasks.sgmri_vqa.boxes import Box
from lmms_tasks.sources import load_rows, local_files
from tests.sgmri_vqa.conftest import image_row, volume_row, write_rows

TASKS = read_catalogue().tasks


def rows_of(task: str) -> list[dict]:
    return list(load_rows(TASKS[task]))


def test_a_snapshot_of_the_hub_serves_all_six_tasks(data):
    for organ in ("brain", "knee"):
        for split in ("train", "test"):
            number = 1 if split == "test" else 2
            write_rows(data / organ / split / "image_qa" / "a.json", [image_row(number, organ)])
            write_rows(data / organ / split / "volume_qa" / "a.json", [volume_row(number, organ)])
    write_rows(data / "knee" / "test" / "image_qa" / "b.json", [image_row(3, "knee")])
    found = {
        task: [(row["organ"], row["level"], row["volume_id"][-1]) for row in rows_of(task)]
        for task in TASKS
        if TASKS[task].benchmark.name == "sgmri_vqa" and not TASKS[task].on_samples
    }
    brain, knee, other = ("brain", "image", "1"), ("knee", "image", "1"), ("knee", "image", "3")
    assert found["sgmri_vqa_image"] == [brain, knee, other]
    assert found["sgmri_vqa_image_brain"] == [brain]
    assert found["sgmri_vqa_image_knee"] == [knee, other]
    assert found["sgmri_vqa_volume"] == [("brain", "volume", "1"), ("knee", "volume", "1")]
    assert found["sgmri_vqa_volume_knee"] == [("knee", "volume", "1")]


def test_the_authors_own_file_names_are_found_and_val_is_the_test_split(data):
    for organ in ("brain", "knee"):
        for split in ("train", "val"):
            for level, row in (("image", image_row), ("volume", volume_row)):
                name = f"gpt4o_{organ}_{split}_{level}_qa_{level}_qa_pairs.json"
                write_rows(data / name, [row(1, organ, question=f"{organ} {split} {level}?")])
    assert [row["question"] for row in rows_of("sgmri_vqa_image")] == ["brain val image?", "knee val image?"]
    assert [row["question"] for row in rows_of("sgmri_vqa_volume_brain")] == ["brain val volume?"]


def test_the_folder_says_more_than_a_word_in_the_files_name(data):
    write_rows(data / "brain" / "val" / "image_qa" / "volume_200.json", [image_row()])
    assert len(rows_of("sgmri_vqa_image")) == 1


def test_recorded_answers_beside_the_questions_are_no_questions(data):
    write_rows(data / "brain_test_image_qa.json", [image_row()])
    write_rows(data / "brain_test_image_answers.json", [image_row() | {"model_output": "Yes"}])
    assert [path.name for path in local_files(TASKS["sgmri_vqa_image"])] == ["brain_test_image_qa.json"]


def test_two_candidates_are_named_in_one_sentence(data):
    write_rows(data / "test" / "brain_image.json", [image_row()])
    write_rows(data / "val" / "brain_image.json", [image_row()])
    with pytest.raises(SystemExit, match=r"Both .*test/brain_image.json and .*val/brain_image.json could hold"):
        rows_of("sgmri_vqa_image")


def test_a_folder_without_questions_of_the_level_ends_with_a_sentence(data):
    write_rows(data / "knee_test_volume.json", [volume_row(1, "knee")])
    with pytest.raises(SystemExit, match="must have image in its path"):
        rows_of("sgmri_vqa_image")
    with pytest.raises(SystemExit, match="must have volume and brain in its path"):
        rows_of("sgmri_vqa_volume_brain")


def test_one_file_of_both_levels_and_organs_is_divided_by_its_rows(tmp_path, monkeypatch):
    rows = [image_row(), volume_row(), image_row(1, "knee"), volume_row(2, "knee", level=None)]
    monkeypatch.setenv("SGMRI_VQA_DATA", str(write_rows(tmp_path / "all.json", rows)))
    assert [row["organ"] for row in rows_of("sgmri_vqa_image")] == ["brain", "knee"]
    assert len(rows_of("sgmri_vqa_volume")) == 2
    assert len(rows_of("sgmri_vqa_volume_knee")) == 1


def test_mixed_answers_nested_truths_and_official_names_become_one_row_form(tmp_path, monkeypatch):
    rows = [
        image_row(answer=3, task="Detection ", ground_truth=json.dumps({"labels": ["A", "B "]})),
        {
            "sample_id": "brain_qa_7",
            "volume_id": "x1",
            "dataset": "knee",
            "level": "image_level",
            "slice_num": "5",
            "task": "diagnosis",
            "qa_type": "open_ended",
            "question": "What?",
            "gt_answer": "A cyst",
            "labels": ["Cyst"],
        },
        image_row(domain=None, volume_id="file1000009", choices={"A": "x"}),
    ]
    monkeypatch.setenv("SGMRI_VQA_DATA", str(write_rows(tmp_path / "image.json", rows)))
    first, second, third = rows_of("sgmri_vqa_image")
    assert (first["answer"], first["labels"], first["task"]) == ("3", ["A", "B "], "detection")
    assert (second["id"], second["organ"], second["slice_num"], second["type"]) == (
        "brain_qa_7",
        "knee",
        5,
        "open_ended",
    )
    assert (second["answer"], second["labels"]) == ("A cyst", ["Cyst"])
    assert third["organ"] == "knee"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"answer": None}, "column answer of row 1 holds no text"),
        ({"question": "  "}, "column question of row 1 holds no text"),
        ({"type": None}, "column type of row 1 holds no text"),
        ({"domain": "elbow", "volume_id": "x"}, "row 1 says neither brain nor knee"),
        ({"slice_num": None, "level": "slice"}, "row 1 is about a slice and has no slice_num"),
    ],
)
def test_what_is_missing_is_named_with_its_row(tmp_path, monkeypatch, change, sentence):
    path = write_rows(tmp_path / "image.json", [image_row(), image_row() | change])
    monkeypatch.setenv("SGMRI_VQA_DATA", str(path))
    with pytest.raises(SystemExit, match=sentence):
        rows_of("sgmri_vqa_image")


def test_questions_for_another_use_of_the_data_are_dropped(tmp_path, monkeypatch):
    rows = [
        image_row(task="localization", question="Locate the bounding box of the mass."),
        image_row(task="localization", question="Where is the mass? Locate the bounding box"),
        image_row(task="detection", question="Locate the bounding box of the mass."),
    ]
    monkeypatch.setenv("SGMRI_VQA_DATA", str(write_rows(tmp_path / "image.json", rows)))
    assert [row["task"] for row in rows_of("sgmri_vqa_image")] == ["localization", "detection"]


BOX = {"x": 1, "y": 2, "width": 3, "height": 4, "label": "Mass"}


@pytest.mark.parametrize(
    ("row", "boxes", "source"),
    [
        # At image level a frame would put every prediction without one on the wrong slice.
        (image_row(ground_truth={"bboxes": [BOX | {"frame": 9, "slice_num": 9}]}), [Box(1, 2, 3, 4)], "record"),
        (image_row(answer="Mass: Frame 3: <bbx>[5,6,7,8]</bbx>"), [Box(5, 6, 7, 8)], "answer"),
        (image_row(answer="Mass at [5,6,7,8]"), [], "none"),
        (volume_row(answer="Frame 2: <bbx>[5,6,7,8]</bbx>"), [Box(5, 6, 7, 8, 2)], "answer"),
        (volume_row(bboxes=[BOX | {"slice_num": 4}], answer="<bbx>[5,6,7,8]</bbx>"), [Box(1, 2, 3, 4, 4)], "record"),
        (volume_row(answer="at the left"), [], "none"),
    ],
)
def test_key_boxes_come_from_the_record_or_from_the_answer(tmp_path, monkeypatch, row, boxes, source):
    level = "volume" if row.get("level") == "volume" else "image"
    monkeypatch.setenv("SGMRI_VQA_DATA", str(write_rows(tmp_path / f"{level}.json", [row | {"task": "localization"}])))
    (found,) = rows_of(f"sgmri_vqa_{level}")
    assert (key.boxes_of(found), found["key_source"]) == (boxes, source)


@pytest.mark.parametrize(
    ("answer", "unlinked"),
    [
        ("best seen on Frame 6 (<bbx>[1,2,3,4]</bbx>)", True),
        ("(Frame 5: <bbx>[1,2,3,4]</bbx>) and on Frame 6 (<bbx>[1,2,3,4]</bbx>)", True),
        ("Frame 5: <bbx>[1,2,3,4]</bbx>; Frame 6: <bbx>[1,2,3,4]</bbx>", False),
        ("Frame 5: <bbx>[1,2,3,4]</bbx>, <bbx>[5,6,7,8]</bbx>", False),
        ("On Frame 6, in the posterior horn of the medial meniscus: <bbx>[1,2,3,4]</bbx>", False),
    ],
)
def test_a_frame_close_before_a_box_that_is_not_its_own_is_counted(answer, unlinked):
    assert key.has_unlinked_frame(answer) is unlinked


def test_such_rows_are_warned_about_with_their_number(tmp_path, monkeypatch, told):
    rows = [
        volume_row(task="localization", answer=answer)
        for answer in ("on Frame 6 (<bbx>[1,2,3,4]</bbx>)", "Frame 6: <bbx>[1,2,3,4]</bbx>")
    ]
    monkeypatch.setenv("SGMRI_VQA_DATA", str(write_rows(tmp_path / "volume.json", rows)))
    rows_of("sgmri_vqa_volume")
    assert any("WARNING" in line and "in 1 answers a frame number stands close before a box" in line for line in told)


def test_the_tables_of_fastmri_plus_are_a_second_source_for_volumes(tmp_path, monkeypatch):
    table = tmp_path / "tables" / "brain.csv"
    table.parent.mkdir()
    brain, knee = (row["volume_id"] for row in (image_row(), image_row(1, "knee")))
    table.write_text(
        "file,slice,study_level,x,y,width,height,label\n"
        f"{brain},2,No,10,20,30,40,Mass \n{brain},5,No,11,21,31,41,Cyst\n{brain},0,Yes,,,,,Normal for age\n"
        f"{knee},2,No,10,20,30,40,Mass\n",
        encoding="utf-8",
    )
    rows = [
        volume_row(task="localization", question="Where is the mass?", answer="Frame 9: <bbx>[1,1,1,1]</bbx>"),
        volume_row(task="localization", question="Where is it?", answer="There."),
        volume_row(1, "knee", task="localization", question="Where is it?", answer="There."),
    ]
    monkeypatch.setenv("SGMRI_VQA_DATA", str(write_rows(tmp_path / "volume.json", rows)))
    monkeypatch.setenv("SGMRI_VQA_ANNOTATIONS", str(table.parent))
    mass, both, on_knee = rows_of("sgmri_vqa_volume")
    # Brains count from 1 and knees as the table does.
    assert key.boxes_of(mass) == [Box(10, 20, 30, 40, 3)] and mass["key_source"] == "tables"
    assert key.boxes_of(both) == [Box(10, 20, 30, 40, 3), Box(11, 21, 31, 41, 6)]
    assert key.boxes_of(on_knee) == [Box(10, 20, 30, 40, 2)]
    monkeypatch.delenv("SGMRI_VQA_ANNOTATIONS")
    assert rows_of("sgmri_vqa_volume")[0]["key_source"] == "answer"


@pytest.mark.parametrize(
    ("organ", "lines", "volumes", "study_level", "degenerate"),
    [("brain", 8213, 997, 643, 2), ("knee", 16167, 974, 13, 1)],
)
def test_the_real_tables_are_read_whole(shared_data, organ, lines, volumes, study_level, degenerate):
    """Counts taken from the files with `csv` and `set`; three boxes have no height or no width."""
    table = read_table(shared_data / "sgmri_vqa" / f"fastmri_plus_{organ}.csv")
    assert len(table) == lines
    assert len({annotation.volume_id for annotation in table}) == volumes
    assert sum(annotation.study_level for annotation in table) == study_level
    assert sum(annotation.box is not None for annotation in table) == lines - study_level
    assert sum(annotation.degenerate for annotation in table) == degenerate


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n", "its column file is missing"),
        ("file,slice,study_level,x,y,width,height,label\nf,1,No,a,1,1,1,x\n", "line 2"),
    ],
)
def test_what_is_no_table_ends_with_a_sentence(tmp_path, content, sentence):
    (tmp_path / "brain.csv").write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit, match=sentence):
        read_tables(tmp_path)


def test_rows_found_are_told_beside_the_published_numbers(data, told, monkeypatch):
    monkeypatch.setattr(counts, "_found", {})
    write_rows(
        data / "image.json", [image_row(), image_row(task="diagnosis", answer="FLAIR"), image_row(answer="Normal")]
    )
    write_rows(data / "volume.json", [volume_row()])
    rows_of("sgmri_vqa_image")
    assert any("3 rows about images (detection 2, diagnosis 1); published: 32,142" in line for line in told)
    assert any("9,165" in line and "9,293" in line for line in told)
    assert not any("the test split was published" in line for line in told)
    rows_of("sgmri_vqa_volume")
    assert any(line.startswith("WARNING") and "4 rows were found" in line for line in told)
    assert any("1 closed-ended rows have a key that is neither yes or no nor a number" in line for line in told)
    assert any("1 closed-ended keys hold the letters 'no'" in line and "normal" in line for line in told)


def one(task: str) -> dict:
    return rows_of(task)[0]


def test_a_slice_is_shown_alone_and_a_volume_whole_and_in_order(data, slices):
    write_rows(data / "image.json", [image_row()])
    write_rows(data / "volume.json", [volume_row(1, "knee")])
    (image,) = hooks.doc_to_visual(one("sgmri_vqa_image"))
    assert image.mode == "RGB" and image.size == (20, 30) and np.asarray(image).max() == 30
    volume = hooks.doc_to_visual(one("sgmri_vqa_volume"))
    assert [np.asarray(frame).max() for frame in volume] == [10, 20, 30, 40]
    (message,) = hooks.doc_to_messages(one("sgmri_vqa_volume"))
    assert [part["type"] for part in message["content"]] == ["image"] * 4 + ["text"]


def test_the_prompt_states_size_and_frames_of_the_real_images(data, slices):
    write_rows(data / "image.json", [image_row(task="localization")])
    write_rows(data / "volume.json", [volume_row(1, "knee", task="localization", num_slices=None)])
    assert "the image, which is 20 × 30 pixels large" in hooks.doc_to_text(one("sgmri_vqa_image"))
    text = hooks.doc_to_text(one("sgmri_vqa_volume"))
    assert "frames 1 to 4." in text and "40 × 10 pixels" in text


def test_without_images_the_sizes_of_the_released_code_are_assumed(data):
    write_rows(data / "image.json", [image_row(task="localization"), image_row(1, "knee", task="localization")])
    brain, knee = rows_of("sgmri_vqa_image")
    assert "256 × 256 pixels" in hooks.doc_to_text(brain) and "320 × 320 pixels" in hooks.doc_to_text(knee)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, "Answer Yes or No if"),
        ({"task": "counting"}, "Answer with a single number"),
        ({"task": "classification", "type": "single_choice"}, "the one right option in brackets, such as (A)"),
        ({"task": "counting", "type": "single_choice"}, "the one right option in brackets, such as (A)"),
        ({"task": "diagnosis", "type": "multi_choice"}, "all right options in brackets"),
        ({"task": "captioning"}, "short paragraph"),
        ({"task": "classification", "type": "open_ended"}, "one or two sentences"),
        ({"task": "localization", "type": "closed_ended"}, "Frame n: <bbx>[x, y, width, height]</bbx>"),
    ],
)
def test_one_line_says_in_which_form_to_answer(data, change, line):
    write_rows(data / "volume.json", [volume_row(1, "knee") | change])
    row = one("sgmri_vqa_volume")
    text = hooks.doc_to_text(row)
    assert line in text.splitlines()[-1] and row["question"] in text.splitlines()
    assert hooks.doc_to_text(row, {"prompt": "minimal"}) == row["question"]


def test_an_unknown_prompt_ends_with_a_sentence(data):
    write_rows(data / "image.json", [image_row()])
    with pytest.raises(SystemExit, match="knows no prompt 'icl': give one of default, minimal"):
        hooks.doc_to_text(one("sgmri_vqa_image"), {"prompt": "icl"})


def test_preflight_names_the_missing_slice_and_where_to_get_access(data, slices, monkeypatch):
    task = TASKS["sgmri_vqa_image"]
    write_rows(data / "image.json", [image_row()])
    check_images(task)
    write_rows(data / "image.json", [image_row(), image_row(slice_num=7)])
    with pytest.raises(SystemExit, match=r"no file file_brain_AXT2_200_1_slice_007.png.*fastmri.med.nyu.edu"):
        check_images(task)
    monkeypatch.setenv("SGMRI_VQA_IMAGE_DIR", str(slices / "nowhere"))
    with pytest.raises(SystemExit, match=r"nowhere, which is no folder.*fastmri.med.nyu.edu"):
        check_images(task)
    monkeypatch.delenv("SGMRI_VQA_IMAGE_DIR")
    with pytest.raises(
        SystemExit, match=r"apply for access at https://fastmri.med.nyu.edu.*prepare sgmri_vqa.*SGMRI_VQA_IMAGE_DIR"
    ):
        check_images(task)


def test_a_gap_in_a_volume_is_named_because_it_would_shift_every_frame(data, slices):
    write_rows(data / "volume.json", [volume_row(1, "knee")])
    next(slices.rglob("file1000001_slice_002.png")).unlink()
    with pytest.raises(SystemExit, match=r"no file file1000001_slice_002\.png"):
        hooks.doc_to_visual(one("sgmri_vqa_volume"))
