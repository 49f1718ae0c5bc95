"""Open flowers."""

from __future__ import annotations

import math

from PIL import ImageDraw

from lmms_tasks.mirage.samples.canvas import Canvas, Colour, Point, curve, disc, polar, shade, taper, uneven, vary
from lmms_tasks.mirage.samples.leaves import frame
from lmms_tasks.mirage.samples.leaves import leaf as draw_leaf


def blossom(
    draw: ImageDraw.ImageDraw, centre: Point, radius: float, petals: int, petal: Colour, middle: Colour, turn: float
) -> None:
    """An open flower seen from above."""
    for step in range(petals):
        angle = turn + 2 * math.pi * step / petals
        to = frame(centre, angle, radius)
        width = 1.5 / petals
        rim = [
            (0.05, 0.0),
            (0.45, width * 0.75),
            (0.8, width),
            (1.0, width * 0.45),
            (0.96, 0),
            (1.0, -width * 0.45),
            (0.8, -width),
            (0.45, -width * 0.75),
        ]
        draw.polygon([to(x, y) for x, y in rim], fill=(*shade(petal, 0.94 if step % 2 else 1.0), 255))
        for side in (-0.12, 0, 0.12):
            draw.line([to(0.2, 0), to(0.8, side)], fill=(*shade(petal, 0.85), 255), width=max(1, round(radius * 0.015)))
    disc(draw, centre, radius * 0.2, fill=(*middle, 255))
    for step in range(9):
        disc(
            draw,
            polar(centre, step * 0.7 + turn, radius * 0.25),
            max(2.0, radius * 0.045),
            fill=(*shade(middle, 1.25), 255),
        )


def flower(canvas: Canvas, petals: int, petal: Colour, centre: Colour) -> None:
    """One flower that fills the picture, with a leaf and a bud behind it."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    taper(
        draw,
        curve(canvas.at(0.3, 1.05), canvas.at(0.42, 0.8), canvas.at(0.5, 0.5)),
        canvas.u * 0.04,
        canvas.u * 0.03,
        (108, 138, 74, 255),
    )
    for angle in (0.5, 2.5):
        draw_leaf(draw, canvas.at(0.45, 0.72), angle, canvas.u * 0.5, "ovate", vary(rng, (84, 136, 66), 8))
    disc(draw, canvas.at(0.84, 0.2), canvas.u * 0.06, canvas.u * 0.075, fill=(*shade(petal, 0.88), 255))
    canvas.put(uneven(rng, layer, 0.1, canvas.u * 0.1))
    layer, draw = canvas.layer()
    blossom(draw, canvas.at(0.5, 0.46), canvas.u * 0.4, petals, petal, centre, rng.uniform(0, 1.2))
    canvas.put(uneven(rng, layer, 0.06, canvas.u * 0.1), 0.03)
