"""The slices of a row: shipped with it, or files that `lmms-tasks prepare sgmri_vqa` wrote."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks.sgmri_vqa.key import OFFICIAL_SIZES
from lmms_tasks.utils.images import image_column_values, open_image

if TYPE_CHECKING:
    from PIL import Image

VARIABLE = "SGMRI_VQA_IMAGE_DIR"
ACCESS = "https://fastmri.med.nyu.edu"
_SLICE_FILE = re.compile(r"^(?P<volume>.+)_slice_(?P<number>\d+)\.png$", re.IGNORECASE)


def open_slices(row: Mapping[str, Any]) -> list[Image.Image]:
    """The row's slice, or all slices of its volume in order, as RGB; SystemExit where one is missing."""
    if values := image_column_values(row):
        return [open_image(value) for value in values]
    files = slice_files(row)
    return [open_image(str(files[number])) for number in _numbers(row, files)]


def slice_files(row: Mapping[str, Any]) -> dict[int, Path]:
    """The files of a row's volume by 1-based slice number; SystemExit where the row's slices are not all there."""
    root = image_folder()
    if root is None:
        raise SystemExit(
            f"SGMRI-VQA shows slices of fastMRI, which cannot be distributed: apply for access at {ACCESS}, make the "
            f"images with `lmms-tasks prepare sgmri_vqa`, and set {VARIABLE} to their folder."
        )
    files = index_slices(root).get(row["volume_id"], {})
    if 0 in files:
        raise SystemExit(
            f"{files[0]} is a slice 0, but slices are counted from 1: every frame of this volume would be shifted. Make "
            "its images with `lmms-tasks prepare sgmri_vqa`."
        )
    if absent := _absent(row, files):
        raise SystemExit(
            f"{root} ({VARIABLE}) has no file {row['volume_id']}_slice_{absent:03d}.png: make the images of this volume "
            f"with `lmms-tasks prepare sgmri_vqa`, from fastMRI's files ({ACCESS})."
        )
    return files


def check_slices(rows: Iterable[Mapping[str, Any]]) -> None:
    """End the run with one sentence if the slices of one of the rows are not all there; opens no file."""
    # The user may have added or moved files since another run of this process looked.
    index_slices.cache_clear()
    for row in rows:
        slice_files(row)


def image_size(row: Mapping[str, Any]) -> tuple[int, int, str]:
    """Width and height of the row's slices, and where they come from: "row", "image" (its header) or "assumed".

    Assumed sizes are those of the released code, 256 × 256 for brains and 320 × 320 for knees.
    """
    if row.get("width") and row.get("height"):
        return row["width"], row["height"], "row"
    root = image_folder()
    files = index_slices(root).get(row["volume_id"], {}) if root is not None and root.is_dir() else {}
    number = row["slice_num"] if row["level"] == "image" else min(files, default=None)
    if number in files:
        return *_size_in_header(files[number]), "image"
    return *OFFICIAL_SIZES[row["organ"]], "assumed"


def count_slices(row: Mapping[str, Any]) -> int | None:
    """How many slices of the row's volume are shown: as files lie there, else as its record says; None if neither tells."""
    root = image_folder()
    shown = len(index_slices(root).get(row["volume_id"], ())) if root is not None and root.is_dir() else 0
    return shown or row.get("num_slices") or None


def image_folder() -> Path | None:
    """The folder that `SGMRI_VQA_IMAGE_DIR` names, None if it is unset."""
    given = os.environ.get(VARIABLE, "").strip()
    return Path(given).expanduser() if given else None


@lru_cache(maxsize=4)
def index_slices(root: Path) -> dict[str, dict[int, Path]]:
    """The files `VOLUME_slice_NNN.png` below `root`, by volume and number, whatever the folders between.

    Of two files for one slice the first by path is taken, with a warning.
    """
    if not root.is_dir():
        raise SystemExit(f"{VARIABLE} names {root}, which is no folder: correct it, or get access at {ACCESS}.")
    index: dict[str, dict[int, Path]] = {}
    twins: list[tuple[Path, Path]] = []
    for folder, below, names in os.walk(root):
        below.sort()
        for name in sorted(names):
            if found := _SLICE_FILE.match(name):
                path = Path(folder) / name
                first = index.setdefault(found["volume"], {}).setdefault(int(found["number"]), path)
                if first != path:
                    twins.append((first, path))
    if twins:
        first, second = twins[0]
        logger.warning(
            f"SGMRI-VQA: {len(twins)} slices lie twice in {root}, such as {first} and {second}: the first of each is shown."
        )
    return index


@lru_cache(maxsize=4096)
def _size_in_header(path: Path) -> tuple[int, int]:
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.size
    except OSError as error:
        raise SystemExit(f"The image {path} cannot be opened: {error}.") from None


def _numbers(row: Mapping[str, Any], files: Mapping[int, Path]) -> list[int]:
    return [row["slice_num"]] if row["level"] == "image" else sorted(files)


def _absent(row: Mapping[str, Any], files: Mapping[int, Path]) -> int | None:
    """The first slice number that the row needs and that is not there."""
    if row["level"] == "image":
        return None if row["slice_num"] in files else row["slice_num"]
    # Frame n must be the n-th image: a gap would shift every frame behind it.
    last = row.get("num_slices") or max(files, default=1)
    return next((number for number in range(1, last + 1) if number not in files), None)
