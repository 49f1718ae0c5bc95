"""What the numbers of a model's boxes mean: pixels, thousandths of the image, or pixels of an image resized for it.

The released parser decides from form to form. A user who knows the convention of a model can say it
(`lmms_eval_specific_kwargs`, or `SGMRI_VQA_COORDINATES` where answers are scored later).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Convention = Literal["official", "pixel", "per_mille", "resized"]
CONVENTIONS: tuple[str, ...] = ("official", "pixel", "per_mille", "resized")
# lmms-eval's adapter of Qwen2.5-VL: patches of 14 pixels merged by two, and its limits on the number of pixels.
_FACTOR, _MIN_PIXELS, _MAX_PIXELS = 28, 256 * 28 * 28, 1605632


@dataclass(frozen=True)
class Scale:
    """A coordinate convention; the last three attributes describe how a `resized` image was made.

    Attributes:
        factor: both sides of the resized image are multiples of it.
        min_pixels, max_pixels: limits on its number of pixels.
    """

    convention: Convention = "official"
    factor: int = _FACTOR
    min_pixels: int = _MIN_PIXELS
    max_pixels: int = _MAX_PIXELS

    @property
    def official(self) -> bool:
        return self.convention == "official"

    def to_pixels(self, values: Sequence[float], size: tuple[int, int] | None, per_mille: bool = False) -> list[float]:
        """Four coordinates (corners, or x, y, width, height) in pixels of an image of `size` (width, height).

        Args:
            per_mille: whether the official rule takes these for thousandths; asked under that convention only.
        """
        if size is None or self.convention == "pixel" or (self.official and not per_mille):
            return list(values)
        whole = resized_size(*size, self.factor, self.min_pixels, self.max_pixels)
        if self.convention != "resized":
            whole = (1000, 1000)
        return [value * size[axis % 2] / whole[axis % 2] for axis, value in enumerate(values)]

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Scale:
        """From the keys `coordinates`, `resize_factor`, `min_pixels`, `max_pixels`; SystemExit for an unknown value."""
        convention = settings.get("coordinates") or "official"
        if convention not in CONVENTIONS:
            raise SystemExit(f"SGMRI-VQA knows no coordinates {convention!r}: give one of {', '.join(CONVENTIONS)}.")
        numbers = {
            "factor": settings.get("resize_factor", _FACTOR),
            "min_pixels": settings.get("min_pixels", _MIN_PIXELS),
            "max_pixels": settings.get("max_pixels", _MAX_PIXELS),
        }
        if not all(isinstance(number, int) and number > 0 for number in numbers.values()):
            raise SystemExit("SGMRI-VQA: resize_factor, min_pixels and max_pixels must be whole numbers above 0.")
        return cls(convention, **numbers)


OFFICIAL = Scale()


def resized_size(width: int, height: int, factor: int, min_pixels: int, max_pixels: int) -> tuple[int, int]:
    """The size that Qwen2.5-VL's image processor gives an image (width, height).

    Each side is rounded to a multiple of `factor`; if the area leaves its limits, both sides are first scaled alike, and
    then rounded away from the limit that was broken.
    """
    rounded = [max(factor, round(side / factor) * factor) for side in (width, height)]
    area = rounded[0] * rounded[1]
    if area > max_pixels:
        shrink = math.sqrt(width * height / max_pixels)
        rounded = [max(factor, math.floor(side / shrink / factor) * factor) for side in (width, height)]
    elif area < min_pixels:
        grow = math.sqrt(min_pixels / (width * height))
        rounded = [math.ceil(side * grow / factor) * factor for side in (width, height)]
    return rounded[0], rounded[1]


def recall_scale(level: str) -> Scale:
    """The convention that the running evaluation of `level` was given."""
    return _given.get(level, OFFICIAL)


def remember_scale(level: str, scale: Scale) -> None:
    """Keep the convention that lmms-eval hands to the hooks that build requests, for those that score."""
    _given[level] = scale


_given: dict[str, Scale] = {}
