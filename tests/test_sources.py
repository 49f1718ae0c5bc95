import json
import shutil

import pytest
from PIL import Image

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.sources import check_rows, describe, load_rows, local_dataset

TASKS = read_catalogue().tasks


def mmst_row(number: int, category: str = "Plant Disease Management", **more) -> dict:
    return {
        "id": f"#{number}",
        "question": f"My plant {number} is ill. What now?",
        "answer": "Cut it back.",
        "images": [f"../sample_images/{number}.jpg"],
        "category": category,
        "entity_type": "plant",
        "entity_name": "rose",
        "entity_scientific_name": "",
        "entity_common_names": [],
    } | more


@pytest.fixture
def local(tmp_path, monkeypatch):
    """Write rows where MIRAGE_DATA finds them, with an image for each."""

    def write(rows):
        (tmp_path / "sample_images").mkdir(exist_ok=True)
        for row in rows:
            Image.new("RGB", (4, 3), "green").save(tmp_path / "sample_images" / f"{row['id'][1:]}.jpg")
        path = tmp_path / "standard.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        monkeypatch.setenv("MIRAGE_DATA", str(path))
        return path

    return write


def test_categories_divide_the_rows_between_the_tasks_and_others_belong_to_none(local):
    local(
        [
            mmst_row(0, "Plant Identification"),
            mmst_row(1),
            mmst_row(2, "Others"),
            mmst_row(3, "weeds/invasive  plants management"),
        ]
    )
    assert load_rows(TASKS["mirage_mmst_id"])["id"] == ["#0"]
    assert load_rows(TASKS["mirage_mmst_mg"])["id"] == ["#1", "#3"]


def test_an_unknown_category_is_named_and_never_dropped(local):
    local([mmst_row(0), mmst_row(1, "Plant Diseases")])
    with pytest.raises(SystemExit, match="row 1 has the unknown category 'plant diseases'"):
        load_rows(TASKS["mirage_mmst_mg"])


def test_a_source_without_rows_of_the_subject_says_so(local):
    local([mmst_row(0)])
    with pytest.raises(SystemExit, match="none of the 1 rows has one of the categories Plant Identification"):
        load_rows(TASKS["mirage_mmst_id"])


def test_a_standard_file_does_not_serve_the_contextual_task(local):
    local([mmst_row(0)])
    with pytest.raises(SystemExit, match="column location_related, time_related is missing"):
        load_rows(TASKS["mirage_mmst_contextual_mg"])


def test_preflight_names_a_missing_image_and_scoring_does_without(local, tmp_path):
    local([mmst_row(0), mmst_row(1)])
    check_rows(TASKS["mirage_mmst_mg"], need_images=True)
    shutil.rmtree(tmp_path / "sample_images")
    check_rows(TASKS["mirage_mmst_mg"], need_images=False)
    with pytest.raises(SystemExit, match=r"row 0 names the image \.\./sample_images/0\.jpg"):
        check_rows(TASKS["mirage_mmst_mg"], need_images=True)


def test_the_shipped_samples_stay_what_they_are_whatever_the_variable_says(local):
    local([mmst_row(0)])
    assert local_dataset(TASKS["mirage_mmst_mg_sample"]) == {}
    assert len(load_rows(TASKS["mirage_mmst_mg_sample"])) >= 12


def test_a_hub_that_cannot_be_reached_is_one_sentence_with_the_variable():
    with pytest.raises(
        SystemExit, match=r"MIRAGE-Benchmark/MIRAGE cannot be reached .* set MIRAGE_DATA to a local copy"
    ):
        check_rows(TASKS["mirage_mmst_id"], need_images=True)


def test_the_real_folder_gives_8_rows_to_each_configuration(shared_data, monkeypatch):
    # 3 identification and 5 management rows, 8 contextual ones; six other JSON files lie in the same folder.
    monkeypatch.setenv("MIRAGE_DATA", str(shared_data / "mirage" / "samples"))
    found = {name: len(load_rows(TASKS[f"mirage_mmst_{name}"])) for name in ("id", "mg", "contextual_mg")}
    assert found == {"id": 3, "mg": 5, "contextual_mg": 8}
    counts = [load_rows(TASKS[f"mirage_mmst_{name}"])["n_images"] for name in ("id", "mg", "contextual_mg")]
    assert sum(sum(count) for count in counts) == 40


def test_the_lite_tasks_take_400_rows_together_in_proportion_to_the_categories(local):
    categories = ["Plant Identification"] * 600 + ["Plant Disease Management"] * 300 + ["Others"] * 50
    local([mmst_row(number, category, images=[]) for number, category in enumerate(categories)])
    chosen = {name: load_rows(TASKS[f"mirage_mmst_{name}_lite"]) for name in ("id", "mg")}
    # 400 · 600 / 900 = 266.7 and 133.3.
    assert {name: len(rows) for name, rows in chosen.items()} == {"id": 267, "mg": 133}
    for name, rows in chosen.items():
        whole = load_rows(TASKS[f"mirage_mmst_{name}"])
        assert set(rows["id"]) <= set(whole["id"])
        assert [f"#{position}" for position in rows["position"]] == rows["id"]
        assert describe(TASKS[f"mirage_mmst_{name}_lite"], rows)["positions"] == list(rows["position"])
        assert "positions" not in describe(TASKS[f"mirage_mmst_{name}"], whole)
