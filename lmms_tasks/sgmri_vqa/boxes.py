"""Boxes in a model's answer: the eight forms in which models write them, read as the released code reads them.

Source: `src/sgmriqa/metrics/utils.py` of lamawmouk/SGMRI-VQA at a37aa3dd, lines 27-223. The first form that yields a
box wins and the others are not tried. Where the released code raises (null or nested coordinates, a frame that is no
number, NaN), only that box is dropped, so that one answer cannot end an evaluation.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lmms_tasks.sgmri_vqa.coordinates import OFFICIAL, Scale

# Optional cue directly before a box: "Frame 7:", "frame 7 -", "Frame 7"; "Frame7" is none.
_CUE = r"(?:[Ff]rame\s+(\d+)\s*(?:[:\-,]\s*)?)?"
# Whole numbers, with a blank after the first of them at most: "(1.5, 2)" and "( 1, 2)" are no points.
_PAIR = r"\((\d+)\s*,\s*(\d+)\)"
_NUMBER = r"\s*(\d+)\s*"
_OPENING = re.compile(rf"{_CUE}<bb[ox]+>\s*\[")
_CLOSING = re.compile(r"\]\s*<[/\\]bb[ox]+>")
_BOX_TOKENS = re.compile(rf"{_CUE}<\|box_start\|>\s*{_PAIR}\s*,\s*{_PAIR}\s*<\|box_end\|>")
_BBOX_CALL = re.compile(rf"{_CUE}bbox\({','.join([_NUMBER] * 4)}\)", re.IGNORECASE)
_POINTS = re.compile(rf"{_CUE}{_PAIR}\s*(?:,\s*)?{_PAIR}")
_OBJECT = re.compile(rf"{_CUE}(\{{[^{{}}]*\}})")
_BARE = re.compile(rf"{_CUE}\[(\d[\d.,\s]*)\]")
_BARE_LIMIT = 10000
_CORNERS = ("min_x", "min_y", "max_x", "max_y")


@dataclass(frozen=True)
class Box:
    """A box in pixels from the image's top left corner; `frame` is the 1-based slice, None where none was said."""

    x: float
    y: float
    width: float
    height: float
    frame: int | None = None


def parse_boxes(text: str, width: int | None = None, height: int | None = None, scale: Scale = OFFICIAL) -> list[Box]:
    """The boxes in `text`, in order; [] where no form matches. Never raises.

    Args:
        width, height: size of the image in pixels; without both, nothing is rescaled.
        scale: what the coordinates of this model mean; the official rule differs from form to form.
    """
    size = (width, height) if width and height else None
    for form in (
        _normalised_objects,
        _tagged,
        _box_tokens,
        _bbox_calls,
        _point_pairs,
        _bbox_2d_objects,
        _size_objects,
        _bare_lists,
    ):
        if found := [box for box in form(text, size, scale) if _is_finite(box)]:
            return found
    return []


def assign_default_frame(boxes: Iterable[Box], frame: int = 1) -> list[Box]:
    """The boxes with `frame` where none was said (or 0), as the released pipeline does before it scores."""
    return [replace(box, frame=box.frame or frame) for box in boxes]


def key_boxes(records: Sequence[Any]) -> list[Box]:
    """A row's structured key boxes: mappings of x, y, width, height, or of `bbox` with these four in a list.

    The frame is `frame`, or `slice_num` where that is missing or 0. As in the released code a malformed record is
    skipped for its coordinates but not for its frame, so that later frames move up by one.
    """
    coordinates = [found for found in map(_key_coordinates, records) if found is not None]
    frames = [_key_frame(record) for record in records]
    return [Box(*four, frame=frame) for four, frame in zip(coordinates, frames, strict=False)]


def _normalised_objects(text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    """Form 0: the whole text is `{"bboxes": [{"min_x", "min_y", "max_x", "max_y", "frame"}]}`; shares of the image if
    all four are at most 1. An entry that lacks one of the four is passed over; the list ends at the first that is unusable
    otherwise."""
    content = _json(text)
    entries = content.get("bboxes") if isinstance(content, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping) or not all(key in entry for key in _CORNERS):
            continue
        corners = _floats(entry[key] for key in _CORNERS)
        if corners is None:
            return
        if size and max(corners) <= 1:
            corners = [value * size[axis % 2] for axis, value in enumerate(corners)]
        elif not scale.official:
            corners = scale.to_pixels(corners, size)
        if box := _from_corners(corners, None):
            frame, valid = _own_frame(entry)
            if not valid:
                return
            yield replace(box, frame=frame)


def _tagged(text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    """Form 1: `<bbx>[x, y, w, h]</bbx>` in pixels, whatever sign or size."""
    frame, place, end = None, 0, 0
    # By hand, since a pattern for the whole would search up to the next bracket again for every tag that none closes.
    while opening := _OPENING.search(text, place):
        place = opening.end()
        end = end if end >= place else text.find("]", place)
        if end < 0:
            return
        closing = _CLOSING.match(text, end)
        if closing is None or end == place:
            continue
        if opening.group(1):
            frame = _integer(opening.group(1))
        four = _floats(text[place:end].split(","))
        if four is not None:
            yield Box(*scale.to_pixels(four, size), frame=frame)
        place = closing.end()


def _box_tokens(text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    """Form 2: `<|box_start|>(x1,y1),(x2,y2)<|box_end|>`, per mille of the image."""
    for frame, match in _with_frames(_BOX_TOKENS.finditer(text)):
        corners = _floats(match.groups()[1:])
        if corners and (box := _from_corners(scale.to_pixels(corners, size, per_mille=True), frame)):
            yield box


def _bbox_calls(text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    """Form 3: `bbox(x1, y1, x2, y2)` in pixels."""
    return _corner_matches(_BBOX_CALL, text, size, scale)


def _point_pairs(text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    """Form 4: `(x1, y1), (x2, y2)` in pixels."""
    return _corner_matches(_POINTS, text, size, scale)


def _bbox_2d_objects(text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    """Form 5: flat JSON objects with `bbox_2d` corners; per mille where one is larger than the image. Their own `frame`
    is not read."""
    boxed = (match for match in _OBJECT.finditer(text) if '"bbox_2d"' in match.group(2))
    for frame, match in _with_frames(boxed):
        content = _json(match.group(2))
        corners = content.get("bbox_2d") if isinstance(content, dict) else None
        corners = _floats(corners) if isinstance(corners, list) else None
        if corners is not None:
            large = size is not None and max(corners) > max(size)
            if box := _from_corners(scale.to_pixels(corners, size, per_mille=large), frame):
                yield box


def _size_objects(text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    """Form 6: flat JSON objects with x, y, width, height in pixels and a `frame` of their own; no cue is read."""
    for match in _OBJECT.finditer(text):
        content = _json(match.group(2))
        four = _floats(content.get(key) for key in ("x", "y", "width", "height")) if isinstance(content, dict) else None
        if four is not None:
            frame, valid = _own_frame(content)
            if valid and four[2] > 0 and four[3] > 0:
                yield Box(*scale.to_pixels(four, size), frame=frame)


def _bare_lists(text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    """Form 7: `[a, b, c, d]`; corners if c > a and d > b, else x, y, width, height; per mille where one of the four is
    larger than the image."""
    for frame, match in _with_frames(_BARE.finditer(text)):
        four = _floats(match.group(2).split(","))
        if four is None or min(four) < 0 or max(four) > _BARE_LIMIT or four[2] <= 0 or four[3] <= 0:
            continue
        a, b, c, d = four
        if c > a and d > b:
            four = [a, b, c - a, d - b]
        large = size is not None and max(four) > max(size)
        yield Box(*scale.to_pixels(four, size, per_mille=large), frame=frame)


def _corner_matches(pattern: re.Pattern[str], text: str, size: tuple[int, int] | None, scale: Scale) -> Iterator[Box]:
    for frame, match in _with_frames(pattern.finditer(text)):
        corners = _floats(match.groups()[1:])
        if corners and (box := _from_corners(scale.to_pixels(corners, size), frame)):
            yield box


def _with_frames(matches: Iterable[re.Match[str]]) -> Iterator[tuple[int | None, re.Match[str]]]:
    """Matches with the frame of their cue; one without a cue inherits the last, None before any."""
    frame = None
    for match in matches:
        if match.group(1):
            frame = _integer(match.group(1))
        yield frame, match


def _from_corners(corners: Sequence[float], frame: int | None) -> Box | None:
    x1, y1, x2, y2 = corners
    return Box(x1, y1, x2 - x1, y2 - y1, frame) if x2 > x1 and y2 > y1 else None


def _key_coordinates(record: Any) -> list[float] | None:
    if not isinstance(record, Mapping):
        return None
    if all(record.get(key) is not None for key in ("x", "y", "width", "height")):
        four = _floats(record[key] for key in ("x", "y", "width", "height"))
    else:
        four = _floats(record["bbox"]) if isinstance(record.get("bbox"), list | tuple) else None
    return four if four is not None and all(map(math.isfinite, four)) else None


def _key_frame(record: Any) -> int | None:
    if not isinstance(record, Mapping):
        return None
    return _integer(record.get("frame")) or _integer(record.get("slice_num")) or None


def _own_frame(entry: Mapping[str, Any]) -> tuple[int | None, bool]:
    """The entry's frame and whether it is usable: missing is, null or a word is not."""
    if "frame" not in entry:
        return None, True
    frame = _integer(entry["frame"])
    return frame, frame is not None


def _floats(values: Iterable[Any]) -> list[float] | None:
    """Four numbers, or None if there are not four or one is no number."""
    try:
        found = [float(value) for value in values]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if len(found) == 4 else None


def _integer(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _is_finite(box: Box) -> bool:
    return all(map(math.isfinite, (box.x, box.y, box.width, box.height)))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
