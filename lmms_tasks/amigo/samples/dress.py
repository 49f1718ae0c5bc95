"""Drawing one dress from its attribute table: flat shapes, so that each attribute can be seen at a glance."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw

SIZE = (160, 224)  # pixels of the finished image
SCALE = 4  # drawn so many times larger, then reduced: smooth edges

# In units of a canvas of 200 by 280: where things are on every dress.
MIDDLE, TOP, SHOULDER, WAIST = 100, 44, 34, 122
HEMS = {"mini": 178, "knee": 206, "midi": 236, "maxi": 268}
# (half width at the waist, half width at the hem)
WIDTHS = {"a_line": (23, 62), "fitted": (23, 29), "loose": (36, 42), "mermaid": (23, 56)}

Point = tuple[float, float]
Colour = tuple[int, int, int]


class Dress:
    """One drawing; `png()` has it as bytes.

    Args:
        table: the attribute table; `sleeve_length` is `short` or `long`.
        colour, background: RGB, 0 to 255.
    """

    def __init__(self, table: Mapping[str, str], colour: Colour, background: Colour):
        self.table = table
        self.colour = colour
        self.dark = _shaded(colour, 0.55)
        self.light = _shaded(colour, 1.5)
        self.background = background
        self.unit = SIZE[0] * SCALE / 200
        self.image = Image.new("RGB", (SIZE[0] * SCALE, SIZE[1] * SCALE), background)
        self.draw = ImageDraw.Draw(self.image)
        self.hem = HEMS[table["hem_length"]]
        self.waist, self.end = WIDTHS[table["silhouette"]]

    def png(self) -> bytes:
        """The drawing as PNG, with a palette of 48 colours."""
        self._sleeves()
        self._body()
        self._print()
        self._skirt_details()
        self._neckline()
        self._front_details()
        small = self.image.resize(SIZE, Image.Resampling.LANCZOS).quantize(48)
        target = io.BytesIO()
        small.save(target, "PNG", optimize=True)
        return target.getvalue()

    def _half_width(self, y: float) -> float:
        """Half the skirt's width at a height."""
        share = max(0.0, (y - WAIST) / (self.hem - WAIST))
        if self.table["silhouette"] == "mermaid":
            share = 0.1 * share if share < 0.6 else 0.06 + (share - 0.6) * 2.35
        return self.waist + (self.end - self.waist) * share

    def _outline(self) -> list[Point]:
        heights = [WAIST + (self.hem - WAIST) * step / 12 for step in range(13)]
        right = [(MIDDLE + self._half_width(y), y) for y in heights]
        bodice = [(MIDDLE + SHOULDER, TOP), (MIDDLE + SHOULDER - 3, 78)]
        half = [*bodice, *right]
        return [*half, *((2 * MIDDLE - x, y) for x, y in reversed(half))]

    def _body(self) -> None:
        self._polygon(self._outline(), self.colour, self.dark)

    def _sleeves(self) -> None:
        length = 46 if self.table["sleeve_length"] == "short" else 104
        shape = self.table["sleeve_shape"]
        end_width = {"straight": 9, "puff": 8, "bell": 21}[shape]
        for side in (-1, 1):
            top = (MIDDLE + side * (SHOULDER - 4), TOP)
            end = (top[0] + side * length * 0.42, TOP + length)
            arm = [
                top,
                (top[0] + side * 10, TOP + 6),
                (end[0] + side * end_width, end[1]),
                (end[0] - side * end_width, end[1]),
                (top[0] - side * 4, TOP + 32),
            ]
            self._polygon(arm, self.colour, self.dark)
            if shape == "puff":
                self._ellipse((top[0] + side * 13, TOP + 17), 21, 20, self.colour, self.dark)

    def _print(self) -> None:
        kind = self.table["print"]
        if kind == "plain":
            return
        layer = self.image.copy()
        draw = ImageDraw.Draw(layer)
        step = 13
        for row in range(TOP, 280, step):
            if kind in ("striped", "checked"):
                self._line(draw, [(0, row), (200, row)], self.light, 3.2)
            for column in range(step // 2, 200, step):
                x = column + (step / 2 if (row - TOP) // step % 2 else 0)
                if kind == "dotted":
                    self._disc(draw, (x, row), 2.6, self.light)
                if kind == "floral":
                    for petal in range(5):
                        angle = 2 * math.pi * petal / 5
                        self._disc(draw, (x + 3.1 * math.cos(angle), row + 3.1 * math.sin(angle)), 2.1, self.light)
                    self._disc(draw, (x, row), 1.6, self.dark)
        if kind == "checked":
            for column in range(step // 2, 200, step):
                self._line(draw, [(column, 0), (column, 280)], self.light, 3.2)
        mask = Image.new("L", self.image.size, 0)
        ImageDraw.Draw(mask).polygon(self._scaled(self._outline()), fill=255)
        self.image.paste(layer, (0, 0), mask)
        self.draw = ImageDraw.Draw(self.image)

    def _skirt_details(self) -> None:
        if self.table["pleats"] == "yes":
            for share in (-0.75, -0.45, -0.15, 0.15, 0.45, 0.75):
                points = [(MIDDLE + share * self._half_width(y), y) for y in range(WAIST + 4, self.hem, 4)]
                self._line(self.draw, points, self.dark, 1.6)
        if self.table["tiers"] == "yes":
            for share in (0.34, 0.67):
                y = WAIST + share * (self.hem - WAIST)
                half = self._half_width(y)
                self._polygon(
                    [(MIDDLE - half, y), (MIDDLE + half, y), (MIDDLE + half + 6, y + 6), (MIDDLE - half - 6, y + 6)],
                    self.colour,
                    self.dark,
                )
        if self.table["ruffles"] == "yes":
            half = self.end + 5
            count = max(4, round(half / 5))
            for number in range(count):
                x = MIDDLE - half + (2 * number + 1) * half / count
                self._ellipse((x, self.hem), half / count + 1.5, 8, self.light, self.dark)
        if self.table["slit"] == "yes":
            x = MIDDLE + self.end * 0.5
            height = min(52, (self.hem - WAIST) * 0.75)
            self._polygon(
                [(x, self.hem - height), (x + 7, self.hem + 1), (x - 7, self.hem + 1)], self.background, self.dark
            )
        if self.table["pockets"] == "yes":
            for side in (-1, 1):
                x = MIDDLE + side * 13
                self._polygon([(x - 8, 138), (x + 8, 138), (x + 8, 152), (x, 157), (x - 8, 152)], self.light, self.dark)

    def _neckline(self) -> None:
        kind = self.table["neckline"]
        bare = self.background
        if kind == "round":
            self._ellipse((MIDDLE, TOP), 18, 17, bare, self.dark)
        elif kind == "v":
            self._polygon([(MIDDLE - 19, TOP), (MIDDLE + 19, TOP), (MIDDLE, TOP + 38)], bare, self.dark)
        elif kind == "square":
            self._polygon(
                [(MIDDLE - 18, TOP), (MIDDLE + 18, TOP), (MIDDLE + 18, TOP + 20), (MIDDLE - 18, TOP + 20)],
                bare,
                self.dark,
            )
        elif kind == "boat":
            self._ellipse((MIDDLE, TOP), 29, 6, bare, self.dark)
        elif kind == "high":
            self._polygon(
                [(MIDDLE - 13, TOP + 3), (MIDDLE + 13, TOP + 3), (MIDDLE + 12, TOP - 17), (MIDDLE - 12, TOP - 17)],
                self.colour,
                self.dark,
            )
        elif kind == "collar":
            self._polygon([(MIDDLE - 12, TOP), (MIDDLE + 12, TOP), (MIDDLE, TOP + 15)], bare, self.dark)
            for side in (-1, 1):
                self._polygon(
                    [
                        (MIDDLE + side * 12, TOP - 3),
                        (MIDDLE + side * 25, TOP + 8),
                        (MIDDLE + side * 13, TOP + 22),
                        (MIDDLE, TOP + 15),
                    ],
                    self.light,
                    self.dark,
                )
        # The cut must not leave a line above the shoulders.
        if kind not in ("high", "collar"):
            box = [(0, TOP - 30), (200, TOP - 30), (200, TOP - 1), (0, TOP - 1)]
            self.draw.polygon(self._scaled(box), fill=bare)

    def _front_details(self) -> None:
        if self.table["closure"] == "buttons":
            for y in range(86, self.hem - 8, 14):
                self._ellipse((MIDDLE, y), 3.1, 3.1, (250, 250, 250), self.dark)
        if self.table["closure"] == "zipper":
            self._line(self.draw, [(MIDDLE, 86), (MIDDLE, WAIST + 40)], (90, 90, 90), 3.4)
            for y in range(88, WAIST + 40, 4):
                self._line(self.draw, [(MIDDLE - 3, y), (MIDDLE + 3, y)], (225, 225, 225), 1.2)
        if self.table["belt"] == "yes":
            half = self.waist + 2
            self._polygon(
                [
                    (MIDDLE - half, WAIST - 5),
                    (MIDDLE + half, WAIST - 5),
                    (MIDDLE + half, WAIST + 5),
                    (MIDDLE - half, WAIST + 5),
                ],
                self.dark,
                self.dark,
            )
        if self.table["bow"] == "yes":
            x, y = MIDDLE - 17, 98
            for side in (-1, 1):
                self._polygon([(x, y), (x + side * 13, y - 9), (x + side * 13, y + 9)], self.light, self.dark)
            self._ellipse((x, y), 4, 4, self.dark, self.dark)

    def _scaled(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self.unit, y * self.unit) for x, y in points]

    def _polygon(self, points: Sequence[Point], fill: Colour, line: Colour) -> None:
        self.draw.polygon(self._scaled(points), fill=fill, outline=line, width=round(1.4 * self.unit))

    def _ellipse(self, centre: Point, across: float, down: float, fill: Colour, line: Colour) -> None:
        box = self._scaled([(centre[0] - across, centre[1] - down), (centre[0] + across, centre[1] + down)])
        self.draw.ellipse([*box[0], *box[1]], fill=fill, outline=line, width=round(1.4 * self.unit))

    def _disc(self, draw: ImageDraw.ImageDraw, centre: Point, radius: float, fill: Colour) -> None:
        box = self._scaled([(centre[0] - radius, centre[1] - radius), (centre[0] + radius, centre[1] + radius)])
        draw.ellipse([*box[0], *box[1]], fill=fill)

    def _line(self, draw: ImageDraw.ImageDraw, points: Sequence[Point], fill: Colour, width: float) -> None:
        draw.line(self._scaled(points), fill=fill, width=round(width * self.unit))


def _shaded(colour: Colour, factor: float) -> Colour:
    if factor <= 1:
        return tuple(round(part * factor) for part in colour)
    return tuple(round(255 - (255 - part) / (2 * factor)) for part in colour)
