"""Writes the sample data of MIRAGE MMST: the texts of the three text modules with pictures drawn from a seed.

    python -m lmms_tasks.mirage.samples.draw [FOLDER]

Every picture depends on its row's id, its position and its options only, so that a second run writes the same files.
"""

from __future__ import annotations

import io
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

from PIL import Image

from lmms_tasks.mirage.samples import scenes, texts_contextual, texts_id, texts_mg
from lmms_tasks.mirage.samples.row import Row

FOLDER = Path(__file__).parent
STANDARD = "mmst_standard.parquet"
CONTEXTUAL = "mmst_contextual.parquet"
TRAIN_ENTITIES = "train_entities.txt"
IMAGE_COLUMNS = ("image_1", "image_2", "image_3")
JPEG_QUALITY = 84
# One picture in nine is a PNG, since a loader must cope with both; most photographs are JPEG.
PNG_EVERY = 9

# Entities of an imagined training split. Half of the identification rows are among them, so that seen and unseen
# entities both occur; the others stand for what a training split holds beside.
SEEN = (
    "common purslane",
    "yellow woodsorrel",
    "ginkgo",
    "colorado potato beetle",
    "brown marmorated stink bug",
    "early blight",
    "cedar-apple rust",
    "tomato",
    "powdery mildew",
    "apple scab",
    "japanese beetle",
    "field bindweed",
    "white clover",
    "squash bug",
    "fire blight",
    "canada thistle",
    "pokeweed",
    "fall webworm",
)


def normalised(name: str) -> str:
    """NFKC, casefolded, with every run of punctuation, hyphens and blanks as one blank."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", " ", folded).strip()


def pictures(row: Row) -> list[Image.Image]:
    """The row's pictures, RGB, 160 to 280 pixels on the longest side."""
    return [
        scenes.draw(picture.scene, f"{row.id}/{position}", picture.options)
        for position, picture in enumerate(row.pictures)
    ]


def encoded(image: Image.Image, as_png: bool) -> bytes:
    """PNG with a palette of 96 colours, or JPEG."""
    buffer = io.BytesIO()
    if as_png:
        image.quantize(96).save(buffer, "PNG", optimize=True)
    else:
        image.save(buffer, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return buffer.getvalue()


def record(row: Row, contextual: bool) -> dict[str, Any]:
    """The row in the columns of the benchmark."""
    question = row.question
    if row.instruction:
        question = f"{row.instruction} \nUser: {question}"
    if contextual:
        question = f"{question} (asked at {row.asked_at}, {row.county}, {row.state})"
    columns: dict[str, Any] = {
        "id": row.id,
        "question": question,
        "answer": row.answer,
        "category": row.category,
        "entity_type": row.entity_type,
        "entity_name": row.entity_name,
        "entity_scientific_name": row.scientific_name,
        "entity_common_names": row.common_names,
        "meta_data_state": row.state,
        "meta_data_county": row.county,
        "meta_data_asked_time": row.asked_time,
    }
    if contextual:
        columns |= {
            "location_related": row.location_related,
            "time_related": row.time_related,
            "location_related_analysis": row.location_analysis,
            "time_related_analysis": row.time_analysis,
        }
    number = int(row.id.lstrip("#s"))
    images = pictures(row)
    for position, column in enumerate(IMAGE_COLUMNS):
        columns[column] = None
        if position < len(images):
            data = encoded(images[position], as_png=(number + position) % PNG_EVERY == 0)
            columns[column] = {"bytes": data, "path": None}
    return columns


def write(rows: list[Row], path: Path, contextual: bool) -> None:
    """One parquet file whose images are stored as bytes and not decoded when it is loaded.

    The images stand in three columns of their own, not in a list: lmms-eval drops columns of the type `Image` before
    it iterates over rows, in every version of `datasets`, and recognises lists of images in some of them only.
    """
    from datasets import Dataset, Features, Sequence, Value
    from datasets import Image as ImageFeature

    columns: dict[str, Any] = {
        "id": Value("string"),
        "question": Value("string"),
        "answer": Value("string"),
        "category": Value("string"),
        "entity_type": Value("string"),
        "entity_name": Value("string"),
        "entity_scientific_name": Value("string"),
        "entity_common_names": Sequence(Value("string")),
        "meta_data_state": Value("string"),
        "meta_data_county": Value("string"),
        "meta_data_asked_time": Value("string"),
    }
    if contextual:
        columns |= {
            "location_related": Value("bool"),
            "time_related": Value("bool"),
            "location_related_analysis": Value("string"),
            "time_related_analysis": Value("string"),
        }
    columns |= {column: ImageFeature(decode=False) for column in IMAGE_COLUMNS}
    dataset = Dataset.from_list([record(row, contextual) for row in rows], features=Features(columns))
    dataset.to_parquet(str(path))


def main(folder: Path = FOLDER) -> None:
    """Write both parquet files and the list of training entities into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    write(texts_id.ROWS + texts_mg.ROWS, folder / STANDARD, contextual=False)
    write(texts_contextual.ROWS, folder / CONTEXTUAL, contextual=True)
    names = sorted(normalised(name) for name in SEEN)
    (folder / TRAIN_ENTITIES).write_text("\n".join(names) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
