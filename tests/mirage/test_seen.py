import json

import datasets
import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.mirage.seen import entity_keys, train_entities

TASKS = read_catalogue().tasks


def test_an_entity_is_known_by_its_normalised_name_and_its_binomial():
    row = {"entity_name": "Canada Golden-rod", "entity_scientific_name": "Solidago canadensis L., 1753"}
    assert entity_keys(row) == ["canada golden rod", "solidago canadensis"]
    assert entity_keys({"entity_name": "rose", "entity_scientific_name": ""}) == ["rose"]
    assert entity_keys({"entity_name": None, "entity_scientific_name": None}) == []


def test_the_samples_have_a_list_of_their_own():
    known = train_entities(TASKS["mirage_mmst_id_sample"])
    assert len(known) == 18 and all(name == name.casefold() for name in known)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("names.txt", "Canada Goldenrod\n\nrose\n"),
        (
            "rows.json",
            json.dumps(
                [
                    {"entity_name": "canada goldenrod", "entity_scientific_name": ""},
                    {"entity_name": "Rose", "entity_scientific_name": ""},
                ]
            ),
        ),
    ],
)
def test_the_users_file_holds_names_or_rows(tmp_path, monkeypatch, name, text):
    path = tmp_path / name
    path.write_text(text)
    monkeypatch.setenv("MIRAGE_TRAIN_ENTITIES", str(path))
    assert train_entities(TASKS["mirage_mmst_id"]) == {"canada goldenrod", "rose"}


def test_a_users_file_that_is_missing_ends_the_run(monkeypatch):
    monkeypatch.setenv("MIRAGE_TRAIN_ENTITIES", "/nowhere/names.txt")
    with pytest.raises(SystemExit, match=r"/nowhere/names\.txt"):
        train_entities(TASKS["mirage_mmst_id"])


def test_a_local_snapshot_gives_its_train_split(tmp_path, monkeypatch):
    folder = tmp_path / "MMST_Standard"
    folder.mkdir()
    row = {"entity_name": "Rose", "entity_scientific_name": "Rosa canina L."}
    datasets.Dataset.from_list([row]).to_parquet(folder / "train-00000-of-00001.parquet")
    datasets.Dataset.from_list([{**row, "entity_name": "Lily"}]).to_parquet(folder / "test-00000-of-00001.parquet")
    monkeypatch.setenv("MIRAGE_DATA", str(tmp_path))
    assert train_entities(TASKS["mirage_mmst_id"]) == {"rose", "rosa canina"}


def test_without_hub_and_file_there_is_no_list():
    assert train_entities(TASKS["mirage_mmst_id"]) is None
