import io

import datasets
import pytest
from PIL import Image

from lmms_tasks.utils.images import (
    count_images,
    image_column_values,
    image_columns,
    leave_images_encoded,
    open_image,
)


def encoded(color: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGBA", (4, 3), color).save(buffer, "PNG")
    return buffer.getvalue()


def test_numbered_columns_come_in_the_order_of_their_numbers():
    assert image_columns(["image_10", "image", "id", "image_2", "n_images"]) == ["image", "image_2", "image_10"]


def test_a_list_column_stands_alone():
    assert image_columns(["image_1", "images"]) == ["images"]


def test_empty_places_are_left_out():
    assert image_column_values({"image_1": "a", "image_2": None, "image_3": {"bytes": None, "path": None}}) == ["a"]
    assert image_column_values({"images": ["a", None, "b"]}) == ["a", "b"]


@pytest.mark.parametrize("make", [lambda data, path: {"bytes": data, "path": None}, lambda data, path: str(path)])
def test_an_image_opens_as_rgb_from_bytes_and_from_a_file(tmp_path, make):
    path = tmp_path / "a.png"
    path.write_bytes(encoded("red"))
    image = open_image(make(encoded("red"), path))
    assert image.mode == "RGB" and image.getpixel((0, 0)) == (255, 0, 0)


def test_a_missing_file_is_named():
    with pytest.raises(SystemExit, match=r"nowhere\.jpg"):
        open_image("nowhere.jpg")


def both_layouts() -> list[datasets.Dataset]:
    red = {"bytes": encoded("red"), "path": None}
    numbered = datasets.Features(
        {"id": datasets.Value("int64"), "image_1": datasets.Image(), "image_2": datasets.Image()}
    )
    listed = datasets.Features({"id": datasets.Value("int64"), "images": datasets.List(datasets.Image())})
    return [
        datasets.Dataset.from_list(
            [{"id": 0, "image_1": red, "image_2": None}, {"id": 1, "image_1": red, "image_2": red}], features=numbered
        ),
        datasets.Dataset.from_list([{"id": 0, "images": [red]}, {"id": 1, "images": [red, red]}], features=listed),
    ]


@pytest.mark.parametrize("dataset", both_layouts(), ids=["numbered", "listed"])
def test_images_stay_encoded_and_are_counted_after_a_filter_too(dataset):
    left = leave_images_encoded(dataset)
    assert all(isinstance(value["bytes"], bytes) for row in left for value in image_column_values(row))
    assert count_images(left) == [1, 2]
    assert count_images(left.select([1])) == [2]
