"""Turf, roots, stems near the ground and bark."""

from __future__ import annotations

import math

from lmms_tasks.mirage.samples.canvas import Canvas, Colour, curve, disc, mix, polar, shade, taper, uneven, vary
from lmms_tasks.mirage.samples.leaves import blob, polar_jitter
from lmms_tasks.mirage.samples.leaves import leaf as draw_leaf


def grass(canvas: Canvas, blade: Colour, head: str, spread: float) -> None:
    """A clump of grass or sedge with its flower heads."""
    rng = canvas.rng
    u, base = canvas.u, canvas.at(0.5, 0.94)
    layer, draw = canvas.layer()
    for _ in range(38):
        angle = -math.pi / 2 + rng.uniform(-1.25, 1.25) * spread
        length = u * rng.uniform(0.4, 0.75)
        start = (base[0] + rng.uniform(-0.06, 0.06) * u, base[1])
        bend = polar(start, angle * 0.7 - math.pi / 2 * 0.3, length * 0.6)
        end = polar(start, angle + (0.3 if angle > -math.pi / 2 else -0.3), length)
        taper(
            draw,
            curve(start, bend, end, 14),
            u * 0.032,
            u * 0.006,
            (*shade(vary(rng, blade, 8), rng.uniform(0.75, 1.12)), 255),
        )
    canvas.put(layer, 0.012)
    layer, draw = canvas.layer()
    for lean in (-0.5, 0.05, 0.6):
        top = (base[0] + lean * u * 0.5, base[1] - u * rng.uniform(0.66, 0.76))
        taper(
            draw,
            curve(base, (base[0] + lean * u * 0.1, base[1] - u * 0.4), top),
            u * 0.022,
            u * 0.014,
            (*shade(blade, 0.9), 255),
        )
        if head == "fingers":
            for step in range(5):
                tip = polar(top, -math.pi / 2 + lean * 0.3 + (step - 2) * 0.42, u * 0.22)
                taper(
                    draw, curve(top, polar(top, -math.pi / 2, u * 0.1), tip), u * 0.016, u * 0.012, (154, 132, 120, 255)
                )
        else:
            for step in range(3):
                tip = polar(top, -math.pi / 2 + (step - 1) * 1.35, u * 0.3)
                bend = polar(top, -math.pi / 2 + (step - 1) * 0.8, u * 0.2)
                taper(draw, curve(top, bend, tip), u * 0.03, u * 0.006, (*shade(blade, 0.95), 255))
            for step in range(9):
                stalk = polar(top, -math.pi / 2 + (step - 4) * 0.3, u * rng.uniform(0.08, 0.15))
                draw.line([top, stalk], fill=(150, 150, 70, 255), width=4)
                for _ in range(7):
                    tip = polar(stalk, rng.uniform(0, 6.3), u * 0.035)
                    draw.line([stalk, tip], fill=(*vary(rng, (206, 170, 74), 14), 255), width=6)
    canvas.put(layer, 0.01)


def lawn(canvas: Canvas, blade: Colour, patch: Colour) -> None:
    """Turf from above with a patch of another colour."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    centre = canvas.at(rng.uniform(0.38, 0.62), rng.uniform(0.45, 0.6))
    rim = canvas.u * rng.uniform(0.28, 0.36)
    for step in range(1500):
        x, y = rng.random() * canvas.w, canvas.h * 1.1 * step / 1500
        near = math.hypot(x - centre[0], (y - centre[1]) * 1.35) < rim * rng.uniform(0.75, 1.2)
        tone = shade(vary(rng, patch if near else blade, 10), rng.uniform(0.72, 1.2))
        tip = (x + rng.uniform(-0.05, 0.05) * canvas.u, y - rng.uniform(0.05, 0.11) * canvas.u * (1.3 if near else 1))
        draw.line([(x, y), tip], fill=(*tone, 255), width=round(canvas.u * (0.015 if near else 0.01)))
    canvas.put(layer, 0)


def tubers(canvas: Canvas, root: Colour, tuber: Colour, blade: Colour) -> None:
    """A dug-up plant: shoots above, roots with small nuts below."""
    rng = canvas.rng
    u, neck = canvas.u, canvas.at(0.5, 0.4)
    layer, draw = canvas.layer()
    for step in range(9):
        tip = polar(neck, -math.pi / 2 + (step - 4) * 0.2, u * rng.uniform(0.34, 0.5))
        taper(
            draw,
            curve(neck, polar(neck, -math.pi / 2, u * 0.2), tip),
            u * 0.045,
            u * 0.008,
            (*vary(rng, blade, 12), 255),
        )
    nuts = []
    for step in range(15):
        angle = math.pi / 2 + (step - 7) * 0.17
        tip = polar(neck, angle, u * rng.uniform(0.3, 0.56))
        path = curve(neck, polar(neck, angle + rng.uniform(-0.5, 0.5), u * 0.25), tip)
        taper(draw, path, u * 0.014, u * 0.006, (*vary(rng, root, 10), 255))
        if step % 2 == 0:
            nuts.append(tip)
    disc(draw, neck, u * 0.05, u * 0.06, fill=(*mix(root, tuber, 0.5), 255))
    for tip in nuts:
        draw.polygon(blob(rng, tip, u * rng.uniform(0.035, 0.05), 0.15), fill=(*vary(rng, tuber, 8), 255))
        disc(draw, (tip[0] - u * 0.012, tip[1] - u * 0.012), u * 0.014, fill=(*shade(tuber, 1.4), 255))
    canvas.put(layer)


def stem_hole(canvas: Canvas, stem: Colour, frass: Colour) -> None:
    """A thick vine near the ground with a hole from which frass spills."""
    rng = canvas.rng
    u, layer_draw = canvas.u, canvas.layer()
    layer, draw = layer_draw
    path = curve(canvas.at(0.18, 1.05), canvas.at(0.34, 0.5), canvas.at(0.92, -0.05))
    taper(draw, path, u * 0.3, u * 0.2, (*stem, 255))
    for step in (-0.09, -0.05, 0, 0.05, 0.09):
        draw.line(
            [(x + step * u, y + step * u * 0.4) for x, y in path],
            fill=(*shade(stem, 1.13 if step < 0 else 0.87), 255),
            width=8,
        )
    draw_leaf(draw, canvas.at(0.62, 0.3), 0.5, u * 0.5, "palmate", (92, 136, 68))
    canvas.put(uneven(rng, layer, 0.1, u * 0.1), 0.04)
    layer, draw = canvas.layer()
    hole = canvas.at(0.37, 0.58)
    draw.polygon(blob(rng, hole, u * 0.07, 0.3), fill=(60, 44, 26, 255))
    for _ in range(150):
        x, y = polar_jitter(rng, (hole[0] + u * 0.06, hole[1] + u * 0.18), u * 0.15)
        disc(draw, (x, y), u * rng.uniform(0.01, 0.02), fill=(*vary(rng, frass, 22), 255))
    canvas.put(layer, 0.01)


def trunk(canvas: Canvas, bark: Colour, mark: str) -> None:
    """Bark from near by, with D-shaped exit holes or grey egg masses."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    draw.rectangle((canvas.w * 0.06, 0, canvas.w * 0.94, canvas.h), fill=(*bark, 255))
    for _ in range(120):
        x, y = canvas.w * rng.uniform(0.06, 0.92), canvas.h * rng.uniform(-0.1, 1)
        end = (x + rng.uniform(-0.06, 0.06) * canvas.u, y + rng.uniform(0.12, 0.3) * canvas.u)
        tone = shade(bark, rng.choice((0.55, 0.68, 0.82, 1.14)))
        taper(
            draw,
            curve((x, y), (x + rng.uniform(-20, 20), (y + end[1]) / 2), end, 8),
            canvas.u * 0.022,
            canvas.u * 0.006,
            (*tone, 255),
        )
    canvas.put(uneven(rng, layer, 0.2, canvas.u * 0.04), 0.05)
    layer, draw = canvas.layer()
    u = canvas.u
    if mark == "d_holes":
        for x, y in ((0.3, 0.24), (0.62, 0.38), (0.42, 0.6), (0.7, 0.78)):
            (cx, cy), size, turn = canvas.at(x, y), u * 0.05, rng.uniform(0, 6.3)
            half = [polar((cx, cy), turn + step * math.pi / 16, size) for step in range(17)]
            rim = [polar((cx, cy), turn + step * math.pi / 16 - 0.06, size * 1.25) for step in range(18)]
            draw.polygon(rim, fill=(*shade(bark, 1.3), 255))
            draw.polygon(half, fill=(28, 22, 18, 255))
    else:
        for x, y, size in ((0.36, 0.32, 0.15), (0.64, 0.64, 0.17)):
            centre = canvas.at(x, y)
            points = [(centre[0] + (a - centre[0]) * 0.62, b) for a, b in blob(rng, centre, u * size, 0.2)]
            draw.polygon(points, fill=(176, 170, 164, 255))
            for column in range(-2, 3):
                for row in range(7):
                    spot = (centre[0] + column * u * 0.032, centre[1] + (row - 3) * u * 0.034)
                    if row > 2:
                        disc(draw, spot, u * 0.013, u * 0.016, fill=(134, 118, 104, 255))
        layer = uneven(rng, layer, 0.12, u * 0.04)
    canvas.put(layer, 0.01)
