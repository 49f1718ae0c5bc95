"""Leaves seen from near by: whole blades, leaflets in threes, a cereal leaf with rust."""

from __future__ import annotations

import math

from lmms_tasks.mirage.samples.canvas import Canvas, Colour, curve, disc, mix, polar, taper, uneven, vary
from lmms_tasks.mirage.samples.leaves import any_leaf, frame, mark_leaf, scorched
from lmms_tasks.mirage.samples.leaves import leaf as draw_leaf


def leaf_close_up(
    canvas: Canvas,
    shape: str,
    leaf: Colour,
    toothed: bool = False,
    mark: str | None = None,
    spot: Colour = (90, 60, 40),
    stalk: float = 0.16,
    **marks: object,
) -> None:
    """One leaf that fills the picture, with or without marks; `stalk` in lengths of the blade."""
    rng = canvas.rng
    tall = canvas.h > canvas.w
    angle = rng.uniform(-0.45, -0.15) + (-math.pi / 2 + 0.3 if tall else 0)
    length = max(canvas.w, canvas.h) * {"palmate": 0.84, "round": 0.86, "heart": 0.62, "fan": 0.72, "arrow": 0.8}.get(
        shape, 0.82
    )
    length *= 1 - 0.55 * max(0.0, stalk - 0.16)
    length = min(length, canvas.u * {"palmate": 0.98, "round": 0.98, "heart": 0.78, "fan": 0.62}.get(shape, 1.25))
    base = polar(canvas.at(0.5, 0.5), angle + math.pi, length * (0.5 - (0.0 if stalk <= 0.16 else 0.24)))
    stem, draw = canvas.layer()
    foot = polar(base, angle + math.pi + rng.uniform(-0.2, 0.2), length * (stalk + (0.25 if shape == "fan" else 0.0)))
    # The blade of lobed leaves begins a little before their base.
    end = polar(base, angle, length * 0.14) if shape in ("palmate", "round") else base
    taper(draw, [foot, end], length * 0.03, length * 0.024, (*mix(leaf, (170, 150, 100), 0.35), 255))
    canvas.put(stem)
    layer, draw = canvas.layer()
    to = frame(base, angle, length)
    if shape in ("compound", "pinnate"):
        any_leaf(draw, rng, base, angle, length, shape, leaf)
    else:
        draw_leaf(draw, base, angle, length, shape, leaf, toothed)
    layer = uneven(rng, layer, 0.12, canvas.u * 0.12)
    if mark:
        layer = mark_leaf(canvas, layer, mark, spot, to=to, **marks)  # type: ignore[arg-type]
    canvas.put(layer, 0.025)


def trefoil(
    canvas: Canvas, leaf: Colour, notch: bool = False, toothed: bool = False, scorch: Colour | None = None
) -> None:
    """A leaf of three leaflets; notched ones are hearts joined at their points."""
    rng = canvas.rng
    middle = canvas.at(0.5, 0.54)
    stalk, draw = canvas.layer()
    taper(
        draw,
        curve(canvas.at(0.4, 1.08), canvas.at(0.52, 0.8), middle),
        canvas.u * 0.03,
        canvas.u * 0.024,
        (*mix(leaf, (170, 120, 90), 0.4), 255),
    )
    canvas.put(stalk)
    layer, draw = canvas.layer()
    turn = rng.uniform(-0.2, 0.2) - math.pi / 2
    for step in range(3):
        angle = turn + step * 2 * math.pi / 3
        tone = vary(rng, leaf, 8)
        if notch:
            tip = polar(middle, angle, canvas.u * 0.36)
            draw_leaf(draw, tip, angle + math.pi, canvas.u * 0.36, "heart", tone)
        else:
            draw_leaf(draw, middle, angle, canvas.u * 0.46, "ovate", tone, toothed)
    layer = uneven(rng, layer, 0.1, canvas.u * 0.12)
    canvas.put(scorched(canvas, layer, scorch) if scorch else layer)


def blade(canvas: Canvas, blade: Colour, mark: str, spot: Colour) -> None:
    """A cereal leaf across the picture, with pustules in lines between its veins."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    path = curve(canvas.at(-0.05, 0.78), canvas.at(0.5, 0.5), canvas.at(1.05, 0.16), 60)
    half = canvas.u * 0.17
    upper = [(x - half * 0.34, y - half) for x, y in path]
    lower = [(x + half * 0.34, y + half) for x, y in reversed(path)]
    draw.polygon(upper + lower, fill=(*blade, 255))
    for step in range(-9, 10):
        part = step / 10
        line = [(x + half * 0.34 * part, y + half * part) for x, y in path]
        draw.line(
            line, fill=(*mix(blade, (214, 222, 150), 0.6 if step == 0 else 0.25), 255), width=7 if step == 0 else 3
        )
        if mark == "stripe_rust" and step in (-7, -4, -3, 3, 5, 8):
            start = rng.randint(3, 24)
            for index in range(start, start + rng.randint(16, 32)):
                x, y = line[index % 60]
                for _ in range(3):
                    centre = (x + rng.uniform(-8, 8), y + rng.uniform(-5, 5))
                    disc(draw, centre, canvas.u * 0.009, canvas.u * 0.007, fill=(*vary(rng, spot, 22), 255))
    canvas.put(uneven(rng, layer, 0.08, canvas.u * 0.2), 0.035)
