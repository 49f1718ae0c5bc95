"""Drawings of the sample tasks, and the images of the pages that their reports cite. No randomness, no fonts of a system."""

from __future__ import annotations

import io
from collections.abc import Callable

from PIL import Image, ImageDraw

SIZE = (480, 320)
_SKY, _SEA, _INK = (224, 236, 244), (96, 140, 170), (40, 44, 52)
OUTPUT = {2019: 40, 2020: 44, 2021: 52, 2022: 60, 2023: 66, 2024: 74}


def draw(name: str) -> bytes:
    """The PNG of a drawing, the same bytes each time for one version of Pillow."""
    image = Image.new("RGB", SIZE, "white")
    _DRAWINGS[name](ImageDraw.Draw(image))
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _output(pen: ImageDraw.ImageDraw) -> None:
    pen.text((20, 10), "Tidal barrage, output in GWh", fill=_INK)
    pen.line((40, 280, 460, 280), fill=_INK, width=2)
    for position, (year, value) in enumerate(OUTPUT.items()):
        left = 60 + position * 66
        top = 280 - value * 3
        pen.rectangle((left, top, left + 40, 280), fill=(70, 120, 160))
        pen.text((left + 10, top - 14), str(value), fill=_INK)
        pen.text((left + 6, 286), str(year), fill=_INK)


def _lighthouse(pen: ImageDraw.ImageDraw) -> None:
    pen.rectangle((0, 0, 480, 230), fill=_SKY)
    pen.rectangle((0, 230, 480, 320), fill=_SEA)
    pen.polygon(((120, 230), (360, 230), (400, 320), (80, 320)), fill=(120, 116, 110))
    pen.polygon(((215, 80), (265, 80), (285, 230), (195, 230)), fill="white", outline=_INK)
    pen.polygon(((209, 120), (271, 120), (275, 150), (205, 150)), fill=(190, 30, 40))
    pen.polygon(((201, 180), (279, 180), (283, 210), (197, 210)), fill=(190, 30, 40))
    pen.rectangle((220, 50, 260, 80), fill=(20, 20, 20))


def _ferries(pen: ImageDraw.ImageDraw) -> None:
    for top, left, right, colour, funnel in (
        (40, 60, 420, (130, 134, 140), 20),
        (140, 120, 380, (50, 90, 170), 24),
        (240, 160, 340, (190, 40, 40), 46),
    ):
        pen.polygon(((left, top + 30), (right, top + 30), (right - 24, top + 60), (left + 24, top + 60)), fill=colour)
        pen.rectangle((left + 40, top + 8, right - 40, top + 30), fill=(236, 236, 230), outline=_INK)
        pen.rectangle((right - 80, top + 8 - funnel, right - 66, top + 8), fill=_INK)


def _plan(pen: ImageDraw.ImageDraw) -> None:
    pen.rectangle((60, 30, 420, 290), outline=_INK, width=5)
    for position in range(6):
        pen.rectangle((80, 45 + position * 38, 112, 77 + position * 38), outline=_INK, width=2)
    pen.rectangle((340, 60, 372, 250), outline=_INK, width=2)
    for left in (180, 270):
        pen.line((left, 290, left + 40, 290), fill="white", width=7)


def _bird(pen: ImageDraw.ImageDraw) -> None:
    pen.rectangle((0, 0, 480, 240), fill=_SKY)
    pen.rectangle((0, 240, 480, 320), fill=(170, 160, 130))
    pen.ellipse((170, 120, 320, 200), fill="white", outline=_INK)
    pen.chord((200, 130, 320, 190), 10, 170, fill=(20, 20, 20))
    pen.ellipse((150, 80, 195, 120), fill="white", outline=_INK)
    pen.chord((150, 78, 195, 118), 190, 350, fill=(20, 20, 20))
    pen.line((180, 115, 200, 140), fill="white", width=20)
    pen.arc((50, 30, 160, 110), 30, 110, fill=(20, 20, 20), width=4)
    for left in (230, 262):
        pen.line((left, 198, left - 4, 270), fill=(120, 140, 170), width=4)


_DRAWINGS: dict[str, Callable[[ImageDraw.ImageDraw], None]] = {
    "output": _output,
    "lighthouse": _lighthouse,
    "ferries": _ferries,
    "plan": _plan,
    "bird": _bird,
}
