import datasets
import pytest

from lmms_tasks.mirage.hooks import mmst_id_metadata_rows, mmst_id_rows, yes_or_no
from lmms_tasks.mirage.rows import with_metadata

ROW = {
    "id": "#1",
    "question": "What is this?",
    "answer": "A rose.",
    "category": "Plant Identification",
    "entity_name": "rose",
    "meta_data_asked_time": "2024-05-12 22:30:00",
    "meta_data_county": "Lenawee County",
    "meta_data_state": "Michigan",
}


def test_metadata_is_appended_in_the_format_of_the_contextual_questions():
    assert with_metadata(ROW) == "What is this? (asked at 2024-05-12 22:30:00, Lenawee County, Michigan)"


def test_what_a_row_lacks_of_it_is_left_out():
    assert with_metadata({**ROW, "meta_data_county": ""}) == "What is this? (asked at 2024-05-12 22:30:00, Michigan)"
    bare = ROW | dict.fromkeys(("meta_data_asked_time", "meta_data_county", "meta_data_state"))
    assert with_metadata(bare) == "What is this?"


def test_only_the_metadata_tasks_change_the_question():
    dataset = datasets.Dataset.from_list([ROW])
    assert mmst_id_rows(dataset)["question"] == ["What is this?"]
    assert mmst_id_metadata_rows(dataset)["question"] == [with_metadata(ROW)]


def test_metadata_columns_are_required_where_they_are_used():
    dataset = datasets.Dataset.from_list([ROW]).remove_columns("meta_data_county")
    with pytest.raises(SystemExit, match="column meta_data_county is missing"):
        mmst_id_metadata_rows(dataset)


def test_a_row_without_an_answer_is_named():
    dataset = datasets.Dataset.from_list([ROW, {**ROW, "answer": None}])
    with pytest.raises(SystemExit, match="column answer of row 1 holds no text"):
        mmst_id_rows(dataset)


@pytest.mark.parametrize(
    ("value", "label"), [(True, "yes"), ("true", "yes"), (1, "yes"), (False, "no"), ("False", "no")]
)
def test_truth_values_of_any_source_are_one_label(value, label):
    assert yes_or_no(value) == label
