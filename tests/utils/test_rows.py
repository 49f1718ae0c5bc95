import json

import datasets
import pytest
from PIL import Image

from lmms_tasks.utils.rows import Schema, find_files, fingerprint, missing_images, parquet_files, read_json_rows

SCHEMA = Schema(word="standard", required=("question", "answer"), optional=("names",))


def row(number: int, **more) -> dict:
    return {
        "question": f"What is {number}?",
        "answer": f"It is {number}.",
        "images": [f"../pictures/{number}.jpg"],
        **more,
    }


def write(path, rows, lines=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows)
    path.write_text(text, encoding="utf-8")
    return path


def picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 3), "green").save(path)
    return path


def sentence(call, *arguments) -> str:
    with pytest.raises(SystemExit) as ended:
        call(*arguments)
    assert isinstance(ended.value.code, str), "a sentence, which also makes the exit code 1"
    return ended.value.code


def test_array_and_lines_read_alike(tmp_path):
    rows = [row(1), row(2)]
    assert read_json_rows(write(tmp_path / "a.json", rows)) == rows
    assert read_json_rows(write(tmp_path / "b.jsonl", rows, lines=True)) == rows


def test_broken_line_is_named(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"question": 1}\n{"question": \n', encoding="utf-8")
    assert "line 2" in sentence(read_json_rows, path)


def test_a_missing_source_says_what_to_do(tmp_path):
    assert "leave it out to use the hub's rows" in sentence(find_files, tmp_path / "none", SCHEMA, "test")


def test_a_folder_gives_the_file_that_bears_the_word(tmp_path):
    write(tmp_path / "my_contextual.json", [row(1)])
    wanted = write(tmp_path / "my_standard.json", [row(2)])
    assert find_files(tmp_path, SCHEMA, "test") == [wanted]


def test_a_word_that_merely_begins_like_the_configurations_is_another_word(tmp_path):
    write(tmp_path / "standardised" / "rows.json", [row(1)])
    wanted = write(tmp_path / "MMST_Standard-2" / "rows.json", [row(2)])
    assert find_files(tmp_path, SCHEMA, "test") == [wanted]


def test_recorded_answers_beside_the_rows_are_never_rows(tmp_path):
    wanted = write(tmp_path / "standard.json", [row(1)])
    write(tmp_path / "standard_some-model.json", [row(1, **{"some-model": "An answer."})])
    write(tmp_path / "2026_samples_standard.jsonl", [{"doc_id": 0, "filtered_resps": "An answer."}], lines=True)
    write(tmp_path / "standard_predictions.jsonl", [{"id": 1, "prediction": "An answer."}], lines=True)
    assert find_files(tmp_path, SCHEMA, "test") == [wanted]


def test_two_candidates_are_named(tmp_path):
    first, second = write(tmp_path / "standard_a.json", [row(1)]), write(tmp_path / "standard_b.json", [row(1)])
    told = sentence(find_files, tmp_path, SCHEMA, "test")
    assert str(first) in told and str(second) in told


def test_a_snapshot_gives_all_shards_of_the_split(tmp_path):
    for split, count in (("test", 2), ("train", 1)):
        for shard in range(count):
            path = tmp_path / "MMST_Standard" / f"{split}-0000{shard}-of-0000{count}.parquet"
            path.parent.mkdir(exist_ok=True)
            datasets.Dataset.from_list([row(shard)]).to_parquet(path)
    names = [path.name for path in find_files(tmp_path, SCHEMA, "test")]
    assert names == ["test-00000-of-00002.parquet", "test-00001-of-00002.parquet"]
    # The folder of the configuration itself is as good as the one above it.
    assert len(find_files(tmp_path / "MMST_Standard", SCHEMA, "test")) == 2


def test_a_folder_without_the_word_lists_what_it_holds(tmp_path):
    write(tmp_path / "contextual.json", [row(1)])
    told = sentence(find_files, tmp_path, SCHEMA, "test")
    assert "'standard'" in told and "contextual.json" in told


def test_json_rows_become_parquet_with_encoded_images_found_by_base_name(tmp_path):
    found = picture(tmp_path / "images" / "1.jpg")
    source = write(tmp_path / "standard.json", [row(1, names=["a", "b"]), row(2, names="c")])
    (file,) = parquet_files([source], SCHEMA)
    loaded = datasets.load_dataset("parquet", data_files=str(file), split="train")
    assert loaded.features["image_1"] == datasets.Image(decode=False)
    assert loaded["names"] == ['["a", "b"]', "c"]
    assert [image["path"] for image in loaded["image_1"]] == [str(found), "../pictures/2.jpg"]
    # The same rows are the same file, so ranks and runs share it.
    assert parquet_files([source], SCHEMA) == [file]


def test_a_row_without_a_required_column_is_named(tmp_path):
    broken = row(2)
    del broken["answer"]
    told = sentence(parquet_files, [write(tmp_path / "standard.json", [row(1), broken])], SCHEMA)
    assert "row 1 lacks the column answer" in told


def test_a_renamed_column_is_named_with_what_was_found(tmp_path):
    renamed = {("reply" if key == "answer" else key): value for key, value in row(1).items()}
    told = sentence(parquet_files, [write(tmp_path / "standard.json", [renamed])], SCHEMA)
    assert "column answer is missing" in told and "reply" in told


def test_a_missing_image_is_named_and_a_present_one_is_not(tmp_path):
    picture(tmp_path / "sample_images" / "1.jpg")
    source = write(tmp_path / "standard.json", [row(1), row(2)])
    told = missing_images([source], SCHEMA)
    assert "row 1" in told and "../pictures/2.jpg" in told
    picture(tmp_path / "sample_images" / "2.jpg")
    assert missing_images([source], SCHEMA) is None


def test_fingerprint_follows_text_and_order_and_ignores_images():
    first, second = row(1), row(2)
    assert fingerprint([first, second]) == fingerprint([{**first, "images": []}, second])
    assert fingerprint([first, second]) != fingerprint([second, first])
    assert fingerprint([first]) != fingerprint([{**first, "answer": "Another."}])


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_a_line_separator_within_a_text_parts_no_line_of_json(tmp_path, separator):
    """lmms-eval writes logs with such letters as they are."""
    records = [{"doc_id": 0, "prediction": f"one{separator}two"}, {"doc_id": 1, "prediction": "three"}]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    assert read_json_rows(path) == records
