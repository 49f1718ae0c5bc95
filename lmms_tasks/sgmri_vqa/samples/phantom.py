"""Phantoms: drawn volumes with lesions whose boxes are known exactly."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from PIL import Image, ImageDraw

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Lesion:
    """A bright or dark ellipse on the slices `first` to `last` (1-based, both included).

    `box` is x, y, width, height of its bounding box on slice `first`, in pixels; on each further slice the box moves by
    `drift` pixels to the right.
    """

    label: str
    first: int
    last: int
    box: Box
    grey: int = 235
    drift: int = 0

    def box_on(self, number: int) -> Box | None:
        """Its box on a slice, None where it is not."""
        if not self.first <= number <= self.last:
            return None
        x, y, width, height = self.box
        return x + self.drift * (number - self.first), y, width, height


@dataclass(frozen=True)
class Phantom:
    """A drawn volume of `slices` slices, each of `size` (width, height) pixels."""

    volume_id: str
    organ: str
    modality: str
    slices: int
    size: tuple[int, int]
    lesions: tuple[Lesion, ...] = ()

    def boxes(self, label: str | None = None) -> Iterator[tuple[int, Lesion, Box]]:
        """Slice number, lesion and box of each lesion (of `label`), slice by slice."""
        for number in range(1, self.slices + 1):
            for lesion in self.lesions:
                if (box := lesion.box_on(number)) and label in (None, lesion.label):
                    yield number, lesion, box

    def draw(self, number: int) -> Image.Image:
        """Slice `number` (1-based) in grey."""
        image = Image.new("L", self.size, 6)
        pen = ImageDraw.Draw(image)
        # 1 in the middle of the volume, smaller towards its ends, as a head or a knee is.
        extent = 1 - 0.45 * abs(2 * (number - 0.5) / self.slices - 1)
        (_brain if self.organ == "brain" else _knee)(pen, self.size, extent)
        for lesion in self.lesions:
            if box := lesion.box_on(number):
                x, y, width, height = box
                pen.ellipse((x, y, x + width - 1, y + height - 1), fill=lesion.grey)
        return image

    def png(self, number: int) -> bytes:
        """Slice `number` as a PNG file."""
        buffer = io.BytesIO()
        self.draw(number).save(buffer, "PNG", optimize=True)
        return buffer.getvalue()


def _ellipse(
    pen: ImageDraw.ImageDraw, size: tuple[int, int], centre: tuple[float, float], half: tuple[float, float], grey: int
) -> None:
    """A filled ellipse; centre and half axes as shares of the image's size."""
    (width, height), (x, y), (a, b) = size, centre, half
    pen.ellipse(((x - a) * width, (y - b) * height, (x + a) * width, (y + b) * height), fill=grey)


def _brain(pen: ImageDraw.ImageDraw, size: tuple[int, int], extent: float) -> None:
    for half, grey in ((0.46, 150), (0.43, 20), (0.40, 105), (0.33, 135)):
        _ellipse(pen, size, (0.5, 0.5), (half * extent, half * extent * 1.02), grey)
    for side in (-1, 1):
        _ellipse(pen, size, (0.5 + 0.07 * side * extent, 0.48), (0.035 * extent, 0.12 * extent), 25)


def _knee(pen: ImageDraw.ImageDraw, size: tuple[int, int], extent: float) -> None:
    _ellipse(pen, size, (0.5, 0.5), (0.44 * extent, 0.49), 60)
    for y, grey in ((0.24, 165), (0.78, 160)):
        _ellipse(pen, size, (0.5, y), (0.33 * extent, 0.22), grey)
    _ellipse(pen, size, (0.5, 0.5), (0.30 * extent, 0.035), 215)
