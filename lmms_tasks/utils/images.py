"""Images of a row: where its columns are, which files they mean, and opening them once a model or a judge needs them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datasets
    from PIL import Image

# `images` (a list), or `image`, `image_0`, `image_1`, …: the layouts that the benchmarks' sources use.
IMAGE_COLUMN = re.compile(r"^images$|^image(_\d+)?$")


def image_columns(names: Iterable[str]) -> list[str]:
    """The image columns among `names`: `images` alone where it exists, else the numbered ones by number."""
    names = list(names)
    if "images" in names:
        return ["images"]
    return sorted((name for name in names if IMAGE_COLUMN.match(name)), key=_number)


def image_column_values(row: Mapping[str, Any]) -> list[Any]:
    """The images of a row in order, unopened: paths, `{"bytes", "path"}` or PIL images; empty places are left out."""
    values: list[Any] = []
    for column in image_columns(row):
        value = row[column]
        values.extend(value if isinstance(value, list | tuple) else [value])
    return [value for value in values if not _is_empty(value)]


def resolve_image(path: str, folder: Path) -> Path | None:
    """The file that `path` means: as it stands, below `folder`, or by base name in images/ or sample_images/ there."""
    name = Path(path).name
    for candidate in (
        Path(path),
        folder / path,
        *(base / room / name for base in (folder, folder.parent) for room in ("images", "sample_images")),
    ):
        if candidate.is_file():
            return candidate.resolve()
    return None


def open_image(value: Any) -> Image.Image:
    """Open one image as RGB.

    Raises:
        SystemExit: the file is missing or is no image; the sentence names it.
    """
    from PIL import Image, UnidentifiedImageError

    if isinstance(value, Image.Image):
        return value.convert("RGB")
    path = value if isinstance(value, str) else value.get("path")
    data = None if isinstance(value, str) else value.get("bytes")
    try:
        with Image.open(io.BytesIO(data) if data else path) as image:
            return image.convert("RGB")
    except (FileNotFoundError, UnidentifiedImageError, OSError) as error:
        raise SystemExit(f"The image {path or '(bytes without a name)'} cannot be opened: {error}.") from None


def leave_images_encoded(dataset: datasets.Dataset) -> datasets.Dataset:
    """Switch decoding off for every image column.

    lmms-eval looks rows up many times, and each look-up would decode every image column of the row.
    """
    import datasets

    for column in image_columns(dataset.column_names):
        feature = dataset.features[column]
        if isinstance(feature, datasets.Image) and feature.decode:
            dataset = dataset.cast_column(column, datasets.Image(decode=False))
        inner = getattr(feature, "feature", None)
        if isinstance(inner, datasets.Image) and inner.decode:
            dataset = dataset.cast_column(column, datasets.List(datasets.Image(decode=False)))
    return dataset


def count_images(dataset: datasets.Dataset) -> list[int]:
    """The number of images of each row, from the columns' null masks: no image is read."""
    import pyarrow.compute as compute

    totals = [0] * dataset.data.num_rows
    for column in image_columns(dataset.column_names):
        values = dataset.data.column(column)
        if column == "images":
            counts = compute.fill_null(compute.list_value_length(values), 0).to_pylist()
        else:
            counts = [int(valid) for valid in compute.is_valid(values).to_pylist()]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
    # A dataset that was filtered before keeps the whole table and an index into it.
    positions = dataset._indices.column(0).to_pylist() if dataset._indices is not None else range(len(totals))
    return [totals[position] for position in positions]


def _number(column: str) -> int:
    return int(column.rpartition("_")[2]) if "_" in column else -1


def _is_empty(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not value.get("bytes") and not value.get("path")
    return value is None or value == ""
