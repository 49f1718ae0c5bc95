"""Rows, visual truths and reports in the forms that users have them."""

from __future__ import annotations

import json

import datasets
import pytest

from lmms_tasks.mmdeepresearch_bench import rows, truth
from lmms_tasks.mmdeepresearch_bench.reports import check_folder, read_reports
from tests.mmdeepresearch_bench.web import picture


def hub_like(ids=(0, 120)) -> datasets.Dataset:
    """Two tasks in the columns of the hub's card: `image_url` is a list of images, despite its name."""
    image = {"bytes": picture(), "path": "Q0I0.png"}
    entries = [
        {"id": n, "caption": "Why?", "body": f"Task {n}", "image_url": [image] * count, "language": "en", "difficulty": "hard", "tags": ["EES"]}
        for n, count in zip(ids, (2, 1), strict=True)
    ]  # fmt: skip
    features = datasets.Features(
        {
            "id": datasets.Value("int64"),
            **dict.fromkeys(("caption", "body", "language", "difficulty"), datasets.Value("string")),
            "tags": datasets.List(datasets.Value("string")),
            "image_url": datasets.List(datasets.Image()),
        }
    )
    return datasets.Dataset.from_list(entries, features=features)


def test_the_hubs_columns_become_text_rows_and_the_images_stay_encoded():
    first, second = rows.select(hub_like(), "rows")
    assert (first["regime"], first["report_type"], first["n_images"]) == ("research", "research", 2)
    assert (second["regime"], second["report_type"], second["n_images"]) == ("daily", "daily_hard", 1)
    assert not {"image_url", "images"} & first.keys()
    (image,) = rows.task_images("rows", "Q120")
    assert image["bytes"] == picture()
    assert rows.task_images("rows", 7) == []


def test_an_id_that_stands_twice_or_a_task_without_text_ends_the_run():
    with pytest.raises(SystemExit, match="Q3 stands twice"):
        rows.select(hub_like((3, 3)), "rows")
    empty = hub_like().map(lambda row: {**row, "body": "", "caption": ""})
    with pytest.raises(SystemExit, match="row 0"):
        rows.select(empty, "rows")


@pytest.mark.parametrize("value", [5, "5", "Q5", "q5", " 5 "])
def test_an_id_is_the_same_however_it_is_written(value):
    assert rows.task_id(value) == "Q5"


@pytest.mark.parametrize(
    "regime, difficulty, kind",
    [("research", "easy", "research"), ("daily", "easy", "daily_easy"), ("daily", "complex", "daily_medium"), ("daily", "", "daily_medium")],
)  # fmt: skip
def test_kinds_of_report(regime, difficulty, kind):
    assert rows.report_type_of(regime, difficulty) == kind


def official_folder(folder):
    """The official layout: quiz.jsonl, quiz_vef.jsonl, an image folder whose names differ in case."""
    (folder / "image").mkdir()
    (folder / "image" / "Q0I0.jpg").write_bytes(picture("JPEG"))
    task = {"id": 0, "caption": "Why?", "body": "Task", "image_url": ["Q0I0.JPG"]}
    (folder / "quiz.jsonl").write_text(json.dumps(task) + "\n")
    (folder / "quiz_vef.jsonl").write_text(json.dumps({"id": 0, "body": "A red square."}) + "\n")
    return folder


def test_the_official_folder_is_read_and_its_images_are_found(tmp_path):
    (file,) = rows.local_files(official_folder(tmp_path))
    (row,) = [json.loads(line) for line in file.read_text().splitlines()]
    assert row["id"] == "0" and row["images"] == [str(tmp_path / "image" / "Q0I0.jpg")]


def test_two_files_that_could_hold_the_tasks_are_both_named(tmp_path):
    official_folder(tmp_path)
    (tmp_path / "other.jsonl").write_text((tmp_path / "quiz.jsonl").read_text())
    with pytest.raises(SystemExit) as ended:
        rows.local_files(tmp_path)
    assert "quiz.jsonl" in ended.value.code and "other.jsonl" in ended.value.code


def test_truths_are_matched_by_id_and_not_by_their_order(tmp_path, monkeypatch):
    file = tmp_path / "vef.jsonl"
    file.write_text('{"id": 120, "body": "second"}\n{"id": "Q0", "text": "first"}\n')
    monkeypatch.setenv("MMDR_VEF_GT", str(file))
    assert truth.truth_of({"id": "0"}) == "first" and truth.truth_of({"id": "120"}) == "second"
    truth.check_truths([0, 120])
    with pytest.raises(SystemExit, match="Q7"):
        truth.check_truths([0, 7])


def test_a_truth_that_stands_twice_ends_the_run(tmp_path, monkeypatch):
    file = tmp_path / "vef.jsonl"
    file.write_text('{"id": 1, "body": "a"}\n{"id": "Q1", "body": "b"}\n')
    monkeypatch.setenv("MMDR_VEF_GT", str(file))
    with pytest.raises(SystemExit, match="stands twice"):
        truth.check_truths([1])


TWO = [{"id": "0"}, {"id": "120"}]


def test_markdown_reports_are_named_by_id(tmp_path):
    (tmp_path / "Q120.md").write_text("# Second")
    (tmp_path / "q0_report.md").write_text("# First")
    assert read_reports(tmp_path, TWO) == {0: ["# First"], 1: ["# Second"]}
    assert read_reports(tmp_path / "Q120.md", TWO) == {1: ["# Second"]}


def test_json_lines_with_official_ids_are_reports_and_all_other_forms_are_left_alone(tmp_path):
    file = tmp_path / "reports.jsonl"
    file.write_text('{"id": "Q120", "prediction": "# Second"}\n')
    assert read_reports(file, TWO) == {1: ["# Second"]}
    file.write_text('{"id": 120, "prediction": "# Second"}\n')
    assert read_reports(file, TWO) is None
    (tmp_path / "logs").mkdir()
    assert read_reports(tmp_path / "logs", TWO) is None


def test_a_folder_without_reports_and_logs_is_told_from_one_with_a_sample_log(tmp_path):
    with pytest.raises(SystemExit, match=r"neither Markdown reports named by the task's id .* nor a sample log of t:"):
        check_folder(tmp_path, "t")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "20261201_samples_t.jsonl").write_text("")
    check_folder(tmp_path, "t")


def test_a_table_given_as_reports_is_told_about_its_option(tmp_path):
    (tmp_path / "scores.csv").write_text("Task ID,FLAE\nQ0,1\n")
    with pytest.raises(SystemExit, match=r"scores.csv is no report: .* --table"):
        read_reports(tmp_path / "scores.csv", TWO)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le"])
def test_a_report_in_another_encoding_is_named(tmp_path, encoding):
    (tmp_path / "Q0.md").write_bytes("# Größe\n".encode(encoding) if encoding != "utf-16-le" else b"#\0 \0A\0")
    with pytest.raises(SystemExit, match=r"Q0.md .*UTF-8"):
        read_reports(tmp_path, TWO)


def test_a_report_that_is_a_folder_or_a_link_to_nothing_is_named(tmp_path):
    (tmp_path / "Q120.md").symlink_to(tmp_path / "gone.md")
    with pytest.raises(SystemExit, match=r"Q120.md cannot be read"):
        read_reports(tmp_path, TWO)
    (tmp_path / "Q0.md").mkdir()
    with pytest.raises(SystemExit, match=r"Q0.md cannot be read"):
        read_reports(tmp_path, TWO)


def test_a_truth_that_is_not_utf8_is_named(tmp_path, monkeypatch):
    file = tmp_path / "vef.jsonl"
    file.write_bytes('{"id": 1, "body": "Größe"}\n'.encode("latin-1"))
    monkeypatch.setenv("MMDR_VEF_GT", str(file))
    with pytest.raises(SystemExit, match=r"vef.jsonl is not UTF-8"):
        truth.check_truths([1])


@pytest.mark.parametrize("name, words", [("Q7.md", "Q7"), ("notes.md", "no id")])
def test_a_report_of_no_task_is_refused(tmp_path, name, words):
    (tmp_path / name).write_text("# Report")
    with pytest.raises(SystemExit, match=words):
        read_reports(tmp_path, TWO)
