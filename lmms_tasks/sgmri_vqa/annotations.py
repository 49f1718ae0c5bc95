"""The annotation tables of fastMRI+ (microsoft/fastmri-plus, `Annotations/{brain,knee}.csv`), boxes and all."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from loguru import logger

from lmms_tasks.sgmri_vqa.boxes import Box

COLUMNS = ("file", "slice", "study_level", "x", "y", "width", "height", "label")


@dataclass(frozen=True)
class Annotation:
    """One line of a table: a box with its label on a slice, or a label for the whole study.

    Attributes:
        slice: index of the slice as the table has it, counted from 0; None where the line gives none.
        box: x, y, width, height in pixels after the up-down flip of `prepare`; None for a label of the study.
    """

    volume_id: str
    slice: int | None
    study_level: bool
    box: tuple[float, float, float, float] | None
    label: str

    @property
    def degenerate(self) -> bool:
        """A box without width or height."""
        return self.box is not None and (self.box[2] <= 0 or self.box[3] <= 0)


def read_table(path: Path) -> list[Annotation]:
    """All lines of one table in order; SystemExit where it is none, or a line cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
            if missing:
                raise SystemExit(f"{path} is no table of fastMRI+: its column {missing[0]} is missing.")
            return [_annotation(line, path, number) for number, line in enumerate(reader, start=2)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SystemExit(f"The table {path} cannot be read ({error}).") from None


def read_tables(path: Path) -> dict[str, list[Annotation]]:
    """The annotations of each volume, from a table or from every table in a folder; tells how many are degenerate."""
    files = [path] if path.is_file() else sorted(path.rglob("*.csv")) if path.is_dir() else []
    if not files:
        raise SystemExit(f"{path} holds no table of fastMRI+: give brain.csv or knee.csv, or the folder of both.")
    volumes: dict[str, list[Annotation]] = {}
    for file in files:
        found = read_table(file)
        degenerate = sum(annotation.degenerate for annotation in found)
        logger.info(f"SGMRI-VQA: {len(found):,} annotations in {file}, {degenerate} boxes without width or height.")
        for annotation in found:
            volumes.setdefault(annotation.volume_id, []).append(annotation)
    return volumes


def volume_boxes(annotations: Sequence[Annotation], organ: str, question: str, answer: str) -> list[Box]:
    """The boxes that a localization question about a volume asks for, with 1-based frames.

    Where question or answer name labels of the volume, the boxes of these; else all. The frame is the slice's index
    plus one for brains and the index as it is for knees: that is how the questions count (`preprocessing/` of the
    official repository).
    """
    boxed = [annotation for annotation in annotations if annotation.box is not None and annotation.slice is not None]
    told = f"{question}\n{answer}".lower()
    named = [annotation for annotation in boxed if annotation.label.strip().lower() in told]
    shift = 1 if organ == "brain" else 0
    return [Box(*annotation.box, frame=annotation.slice + shift) for annotation in named or boxed]


def labelled_volumes(annotations: Iterable[Annotation]) -> set[str]:
    """The volumes with at least one label: the ones of which the benchmark is made."""
    return {annotation.volume_id for annotation in annotations if annotation.label.strip()}


def _annotation(line: dict[str, str], path: Path, number: int) -> Annotation:
    try:
        absent = [column for column in COLUMNS if line[column] is None]
        if absent:
            raise ValueError(f"it has no {absent[0]}")
        four = [line[column].strip() for column in ("x", "y", "width", "height")]
        # Part of a box is an error like a word in it: no box may be lost without a sentence.
        box = tuple(map(float, four)) if any(four) else None
        if box and not all(map(math.isfinite, box)):
            raise ValueError(f"a box of {', '.join(four)}")
        slice_text = line["slice"].strip()
        slice_index = int(slice_number := float(slice_text)) if slice_text else None
        if slice_index is not None and (slice_index != slice_number or slice_index < 0):
            raise ValueError(f"slice {slice_text}")
    except (ValueError, OverflowError) as error:
        raise SystemExit(f"{path}, line {number} cannot be read ({error}).") from None
    study_level = line["study_level"].strip().lower() == "yes"
    return Annotation(line["file"].strip(), slice_index, study_level, box, line["label"])
