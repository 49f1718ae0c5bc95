"""A row's key boxes on empty frames: what a page may show of fastMRI, whose pixels may not be passed on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmms_tasks.sgmri_vqa.key import boxes_of
from lmms_tasks.sgmri_vqa.slices import image_size

# A volume has up to 46 slices; a reader looks at the first few that hold a box.
MOST = 8


def frames(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One frame a slice that holds a key box, at most `MOST`; one without boxes for a row that has none.

    Each is `size` (width and height of the slice in pixels), `boxes` (left, top, right, bottom) and `label`.
    """
    width, height, source = image_size(row)
    assumed = ", size assumed" if source == "assumed" else ""
    by_slice: dict[int | None, list[list[float]]] = {}
    for box in boxes_of(row):
        by_slice.setdefault(box.frame, []).append([box.x, box.y, box.x + box.width, box.y + box.height])
    if not by_slice:
        by_slice[None] = []
    told = []
    for number, boxes in sorted(by_slice.items(), key=lambda entry: entry[0] or 0)[:MOST]:
        shown = number or row["slice_num"]
        where = f"slice {shown}" if shown else "a volume"
        counted = f"{len(boxes)} key box{'' if len(boxes) == 1 else 'es'}"
        label = f"{where} of {row['volume_id']}, {width} × {height}{assumed}, {counted}"
        told.append({"size": [width, height], "boxes": boxes, "label": label})
    return told
