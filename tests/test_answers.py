import json

import pytest

from lmms_tasks.answers import read_answers
from lmms_tasks.benchmarks import read_catalogue

TASK = read_catalogue().tasks["mirage_mmst_mg"]
ROWS = [
    {"id": "#1", "question": "When do I prune?", "answer": "In March."},
    {"id": "#2", "question": "How deep do I plant?", "answer": "Two inches."},
    {"id": "#3", "question": "What do I spray?", "answer": "Nothing."},
    {"id": "#3", "question": "What do I spray now?", "answer": "Soap."},
]


def file(tmp_path, records, name="answers.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def log_record(position: int, answer="An answer.", **changes) -> dict:
    row = ROWS[position]
    return {
        "doc_id": position,
        "target": row["answer"],
        "input": row["question"],
        "filtered_resps": answer,
    } | changes


def refusal(*arguments, **options) -> str:
    with pytest.raises(SystemExit) as ended:
        read_answers(TASK, *arguments, **options)
    return ended.value.code


def test_a_sample_log_is_read_by_position_in_any_order(tmp_path):
    path = file(tmp_path, [log_record(2, "c"), log_record(0, "a")])
    assert read_answers(TASK, [path], ROWS) == {0: ["a"], 2: ["c"]}


def test_several_answers_to_a_row_are_all_kept(tmp_path):
    path = file(tmp_path, [log_record(0, ["a", "b"]), log_record(1, [["c", "d"]])])
    assert read_answers(TASK, [path], ROWS) == {0: ["a", "b"], 1: ["c", "d"]}


def test_predictions_are_read_by_position_or_unique_id_and_null_is_an_empty_answer(tmp_path):
    path = file(tmp_path, [{"doc_id": 3, "prediction": " d "}, {"id": "#2", "prediction": None}])
    assert read_answers(TASK, [path], ROWS) == {1: [""], 3: ["d"]}


def test_an_official_inference_file_is_read_by_the_named_column(tmp_path):
    path = file(tmp_path, [{**ROWS[0], "some-model": "a", "history": []}])
    assert read_answers(TASK, [path], ROWS, answer_key="some-model") == {0: ["a"]}


def test_an_id_that_two_rows_share_is_refused(tmp_path):
    told = refusal([file(tmp_path, [{"id": "#3", "prediction": "a"}])], ROWS)
    assert "'#3'" in told and "doc_id" in told


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"id": "#9", "prediction": "a"}, "no row has the id '#9'"),
        ({"doc_id": 0, "id": "#2", "prediction": "a"}, "its id is '#2', and row 0 (doc_id) has the id '#1'"),
        ({"doc_id": 4, "prediction": "a"}, "no position among the 4 rows"),
        ({"doc_id": -1, "prediction": "a"}, "no position among the 4 rows"),
        ({"doc_id": True, "prediction": "a"}, "no position among the 4 rows"),
        ({"prediction": "a"}, "neither doc_id nor id"),
        ({"doc_id": 0, "reply": "a"}, "name the column with --answer-key"),
        ({"doc_id": 0, "prediction": {"text": "a"}}, "prediction is no text"),
        (log_record(0, target="In May."), "its target is not that of row 0"),
        (log_record(0, input="When do I mow?"), "its input is not that of row 0"),
        ({"id": "#1", "question": "When do I mow?", "prediction": "a"}, "its question is not that of row 0"),
    ],
)
def test_a_record_that_cannot_be_trusted_is_refused_with_its_place(tmp_path, record, words):
    told = refusal([file(tmp_path, [log_record(1), record])], ROWS)
    assert words in told and "record 1" in told


def test_two_answers_to_one_row_are_refused(tmp_path):
    files = [file(tmp_path, [log_record(0)], name) for name in ("a.jsonl", "b.jsonl")]
    assert "row 0 has an answer already" in refusal(files, ROWS)


def test_a_folder_gives_its_one_sample_log_of_the_task(tmp_path):
    file(tmp_path, [log_record(0, "a")], "2026_samples_mirage_mmst_mg.jsonl")
    file(tmp_path, [log_record(0, "b")], "2026_samples_mirage_mmst_id.jsonl")
    assert read_answers(TASK, [tmp_path], ROWS) == {0: ["a"]}
    file(tmp_path, [log_record(0, "c")], "2027_samples_mirage_mmst_mg.jsonl")
    assert "must hold one sample log of mirage_mmst_mg" in refusal([tmp_path], ROWS)


def test_an_empty_or_missing_file_is_refused(tmp_path):
    assert "no answers" in refusal([file(tmp_path, [])], ROWS)
    assert "There is no file" in refusal([tmp_path / "none.jsonl"], ROWS)
