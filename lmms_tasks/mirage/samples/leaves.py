"""Leaves: outlines, veins and the marks that diseases and insects leave on them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from lmms_tasks.mirage.samples.canvas import Canvas, Colour, Point, clipped, disc, mix, shade, taper, uneven, vary

COMPOUND = {"compound": 3, "pinnate": 2}


def outline(shape: str, toothed: bool) -> list[Point]:
    """The rim of a leaf of length 1: x runs from the stalk (0) to the tip (1), y across."""
    if shape == "heart":
        rim = []
        for step in range(90):
            t = 2 * math.pi * step / 90
            y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
            rim.append(((5 - y) / 22, 16 * math.sin(t) ** 3 / 29))
    elif shape == "arrow":
        half = [(0.0, 0.02), (-0.12, 0.2), (-0.02, 0.2), (0.12, 0.13), (0.4, 0.15), (0.75, 0.09), (1.0, 0.0)]
        rim = half + [(x, -y) for x, y in reversed(half)]
    elif shape in ("palmate", "round"):
        depth = 0.085 if shape == "palmate" else 0.02
        rim = []
        for step in range(120):
            t = 2 * math.pi * step / 120
            ripple = 0.012 * math.sin(23 * t) if shape == "round" else 0
            lobes = depth * (2 * abs(math.cos(2.5 * t)) ** 0.6 - 1) if shape == "palmate" else depth * math.cos(5 * t)
            if shape == "palmate":
                lobes += 0.06 * max(0.0, math.cos(5 * t)) ** 8 + 0.008 * math.sin(40 * t)
            radius = 0.41 + lobes + ripple - 0.1 * max(0.0, -math.cos(t)) ** 12
            rim.append((0.48 + radius * math.cos(t), radius * math.sin(t)))
    elif shape == "fan":
        rim = [(0.0, 0.012)]
        for step in range(81):
            t = 1.08 - 2.16 * step / 80
            slit = 0.27 * math.exp(-((t / 0.045) ** 2))
            rim.append(((0.92 + 0.03 * math.sin(17 * t) - slit) * math.cos(t), 0.92 * math.sin(t) * (1 - slit * 0.4)))
        rim.append((0.0, -0.012))
    else:
        width, skew = {"ovate": (0.29, 0.8), "lanceolate": (0.12, 0.85), "paddle": (0.25, 1.7)}[shape]
        half = []
        for step in range(61):
            t = step / 60
            half.append((t, width * math.sin(math.pi * t**skew) ** (0.7 if shape == "paddle" else 1.0)))
        rim = half + [(x, -y) for x, y in reversed(half)]
    if toothed:
        rim = [
            (0.5 + (x - 0.5) * (0.955 if index % 4 < 2 else 1.03), y * (0.93 if index % 4 < 2 else 1.05))
            for index, (x, y) in enumerate(rim)
        ]
    return rim


def frame(base: Point, angle: float, length: float) -> Callable[[float, float], Point]:
    """A map from the leaf's own coordinates to the picture; `angle` in radians."""
    cos, sin = math.cos(angle) * length, math.sin(angle) * length
    return lambda x, y: (base[0] + x * cos - y * sin, base[1] + x * sin + y * cos)


def leaf(
    draw: ImageDraw.ImageDraw,
    base: Point,
    angle: float,
    length: float,
    shape: str,
    colour: Colour,
    toothed: bool = False,
    vein: Colour | None = None,
) -> Callable[[float, float], Point]:
    """Draw a simple leaf with a lighter half and veins; returns the map of its coordinates."""
    to = frame(base, angle, length)
    rim = outline(shape, toothed)
    draw.polygon([to(x, y) for x, y in rim], fill=(*shade(colour, 0.93), 255))
    draw.polygon([to(x, max(0.0, y)) for x, y in rim], fill=(*shade(colour, 1.07), 255))
    line = vein or mix(colour, (226, 232, 176), 0.38)
    width = max(2, round(length * 0.012))
    if shape == "fan":
        for step in range(-12, 13):
            reach = 0.55 if step == 0 else 0.88
            t = step * 0.085
            draw.line(
                [to(0.02, 0), to(reach * math.cos(t), reach * math.sin(t))], fill=(*line, 255), width=max(1, width // 2)
            )
        return to
    if shape in ("palmate", "round"):
        for step in range(-2, 3):
            t = step * 2 * math.pi / 5
            reach = 0.44 if abs(step) < 2 else 0.33
            tip = (0.48 + reach * math.cos(t), reach * math.sin(t))
            taper(draw, [to(0.1, 0), to(*tip)], width * 1.4, width * 0.4, (*line, 255))
            for part in (0.45, 0.7):
                x, y = 0.1 + (tip[0] - 0.1) * part, tip[1] * part
                for side in (-0.5, 0.5):
                    draw.line(
                        [to(x, y), to(x + 0.11 * math.cos(t + side), y + 0.11 * math.sin(t + side))], fill=(*line, 255)
                    )
        return to
    taper(draw, [to(0.0, 0), to(0.96, 0)], width * 1.5, width * 0.5, (*line, 255))
    if shape == "paddle":
        return to
    halves = [(x, y) for x, y in outline(shape, False) if y > 0]
    for step in range(1, 8):
        x = step / 8.5
        for part in (0.85, 0.7, 0.55, 0.4):
            # The longest vein that ends inside the outline: the rim's half width where the vein would end.
            y = part * max(b for _, b in halves)
            if y < 0.86 * min(halves, key=lambda point: abs(point[0] - x - y * 0.75))[1]:
                break
        else:
            continue
        for side in (-1, 1):
            draw.line([to(x, 0), to(x + y * 0.75, side * y)], fill=(*line, 255), width=max(1, width // 2))
    return to


def compound_leaf(
    draw: ImageDraw.ImageDraw,
    rng: random.Random,
    base: Point,
    angle: float,
    length: float,
    shape: str,
    colour: Colour,
) -> None:
    """A leaf of several leaflets: "compound" as in tomato, "pinnate" as in rose."""
    to = frame(base, angle, length)
    taper(draw, [to(0, 0), to(0.7, 0)], length * 0.028, length * 0.014, (*mix(colour, (160, 170, 100), 0.4), 255))
    size = 0.36 if shape == "compound" else 0.33
    for pair in range(COMPOUND[shape]):
        x = 0.2 + pair * (0.46 / COMPOUND[shape])
        for side in (-1, 1):
            turn = angle + side * rng.uniform(0.95, 1.2)
            part = length * size * rng.uniform(0.9, 1.1)
            leaf(draw, to(x, side * 0.02), turn, part, "ovate", vary(rng, colour, 6), toothed=True)
    leaf(draw, to(0.62, 0), angle, length * 0.4, "ovate", colour, toothed=True)


def any_leaf(
    draw: ImageDraw.ImageDraw, rng: random.Random, base: Point, angle: float, length: float, shape: str, colour: Colour
) -> None:
    """A simple or a compound leaf by the name of its shape."""
    if shape in COMPOUND:
        compound_leaf(draw, rng, base, angle, length, shape, colour)
    else:
        leaf(draw, base, angle, length, shape, colour)


def points_inside(rng: random.Random, mask: Image.Image, count: int, apart: float) -> list[Point]:
    """Up to `count` random points on the mask, at least `apart` pixels from one another."""
    box = mask.getbbox() or (0, 0, *mask.size)
    found: list[Point] = []
    for _ in range(count * 60):
        x, y = rng.uniform(box[0], box[2] - 1), rng.uniform(box[1], box[3] - 1)
        if mask.getpixel((int(x), int(y))) > 200 and all(math.hypot(x - a, y - b) >= apart for a, b in found):
            found.append((x, y))
            if len(found) == count:
                break
    return found


def blob(rng: random.Random, centre: Point, radius: float, rough: float) -> list[Point]:
    """An irregular closed shape round `centre`."""
    phases = [rng.uniform(0, 2 * math.pi) for _ in range(3)]
    points = []
    for step in range(28):
        t = 2 * math.pi * step / 28
        wave = sum(math.sin((k + 2) * t + phase) / (k + 2) for k, phase in enumerate(phases))
        points.append(
            (
                centre[0] + radius * (1 + rough * wave) * math.cos(t),
                centre[1] + radius * (1 + rough * wave) * math.sin(t),
            )
        )
    return points


def mark_leaf(
    canvas: Canvas,
    layer: Image.Image,
    mark: str,
    spot: Colour,
    count: int = 8,
    size: float = 0.05,
    halo: Colour | None = None,
    rings: int = 3,
    to: Callable[[float, float], Point] | None = None,
) -> Image.Image:
    """The leaf layer with marks inside its outline; `size` in parts of the shorter side."""
    rng, mask = canvas.rng, layer.getchannel("A")
    if mark == "holes":
        cut = Image.new("L", canvas.size, 255)
        pencil = ImageDraw.Draw(cut)
        for centre in points_inside(rng, mask, count, canvas.u * size * 1.6):
            pencil.polygon(blob(rng, centre, canvas.u * size * rng.uniform(0.6, 1.3), 0.5), fill=0)
        return clipped(layer, cut)
    # Clear, but in the colour of the marks: blurring would mix black into their edges otherwise.
    overlay = Image.new("RGBA", canvas.size, (*spot, 0))
    draw = ImageDraw.Draw(overlay)
    inner = mask.filter(ImageFilter.MinFilter(9)) if mark != "mildew" else mask
    for centre in points_inside(rng, inner, count, canvas.u * size * 1.25):
        radius = canvas.u * size * rng.uniform(0.65, 1.3)
        if mark == "mildew":
            draw.polygon(
                blob(rng, centre, canvas.u * rng.uniform(0.03, 0.085), 0.5), fill=(*spot, rng.randint(150, 225))
            )
        elif mark in ("rings", "tubes"):
            if halo:
                draw.polygon(blob(rng, centre, radius * 1.45, 0.25), fill=(*halo, 205))
            draw.polygon(blob(rng, centre, radius, 0.18), fill=(*vary(rng, spot, 8), 255))
            for ring in range(rings):
                part = radius * (0.82 - 0.26 * ring)
                tone = shade(spot, 0.6 if mark == "rings" and rings > 1 else 0.8)
                draw.ellipse(
                    (centre[0] - part, centre[1] - part, centre[0] + part, centre[1] + part),
                    outline=(*tone, 255),
                    width=3,
                )
            if rings == 1:
                for _ in range(7):
                    disc(draw, polar_jitter(rng, centre, radius * 0.4), canvas.u * 0.005, fill=(70, 36, 20, 255))
            if mark == "tubes":
                for _ in range(9):
                    foot = polar_jitter(rng, centre, radius * 0.8)
                    tip = (foot[0] + rng.uniform(-6, 6), foot[1] - canvas.u * rng.uniform(0.035, 0.06))
                    draw.line([foot, tip], fill=(*mix(spot, (250, 240, 220), 0.5), 255), width=8)
                    disc(draw, tip, 5, fill=(*shade(spot, 0.7), 255))
        elif mark == "fringed":
            if halo:
                draw.polygon(blob(rng, centre, radius * 1.9, 0.4), fill=(*halo, 190))
            draw.polygon(blob(rng, centre, radius, 0.3), fill=(*spot, 255))
            for _ in range(22):
                tip = polar_jitter(rng, centre, radius * 1.45)
                draw.line([centre, tip], fill=(*spot, 255), width=3)
        elif mark == "fuzzy":
            draw.polygon(blob(rng, centre, radius * 1.25, 0.4), fill=(236, 238, 230, 190))
            draw.polygon(blob(rng, centre, radius, 0.4), fill=(*spot, 245))
            for _ in range(70):
                tip = polar_jitter(rng, centre, radius * 1.4)
                disc(draw, tip, canvas.u * 0.007, fill=(242, 244, 238, 200))
        elif mark == "curl":
            draw.polygon(blob(rng, centre, radius, 0.45), fill=(*vary(rng, spot, 16), 235))
            disc(draw, (centre[0] - radius * 0.25, centre[1] - radius * 0.25), radius * 0.45, fill=(244, 168, 150, 150))
        else:
            draw.polygon(blob(rng, centre, radius * 1.18, 0.5), fill=(*mix(spot, (196, 186, 96), 0.6), 150))
            draw.polygon(blob(rng, centre, radius, 0.5), fill=(*vary(rng, spot, 8), 240))
    if mark == "mildew":
        overlay = uneven(rng, overlay.filter(ImageFilter.GaussianBlur(canvas.u * 0.012)), 0.08, canvas.u * 0.02)
    elif mark in ("blotch", "curl"):
        overlay = overlay.filter(ImageFilter.GaussianBlur(canvas.u * 0.006))
    elif mark == "chevron" and to:
        overlay = Image.new("RGBA", canvas.size, (*spot, 0))
        draw = ImageDraw.Draw(overlay)
        draw.line([to(0.3, 0.2), to(0.62, 0), to(0.3, -0.2)], fill=(*spot, 190), width=round(canvas.u * 0.035))
        overlay = overlay.filter(ImageFilter.GaussianBlur(canvas.u * 0.012))
    elif mark == "chlorosis" and to:
        overlay = Image.new("RGBA", canvas.size, (*spot, 0))
        draw = ImageDraw.Draw(overlay)
        taper(draw, [to(0, 0), to(0.97, 0)], canvas.u * 0.03, canvas.u * 0.01, (*spot, 235))
        for step in range(1, 8):
            x = step / 8.5
            reach = 0.3 * math.sin(math.pi * min(1, x + 0.08))
            for side in (-1, 1):
                ends = [to(x, 0), to(x + reach * 0.55, side * reach * 0.85)]
                taper(draw, ends, canvas.u * 0.02, canvas.u * 0.008, (*spot, 230))
        overlay = overlay.filter(ImageFilter.GaussianBlur(canvas.u * 0.006))
    allowed = (
        mask if mark not in ("tubes", "fuzzy") else ImageChops.lighter(mask, mask.filter(ImageFilter.MaxFilter(15)))
    )
    result = layer.copy()
    result.alpha_composite(clipped(overlay, allowed))
    return result


def polar_jitter(rng: random.Random, centre: Point, radius: float) -> Point:
    """A random point within `radius` of the centre."""
    angle, distance = rng.uniform(0, 2 * math.pi), radius * math.sqrt(rng.random())
    return centre[0] + math.cos(angle) * distance, centre[1] + math.sin(angle) * distance


def scorched(canvas: Canvas, layer: Image.Image, colour: Colour, width: float = 0.04) -> Image.Image:
    """The leaf layer with a dead rim of about `width` of the shorter side."""
    mask = layer.getchannel("A")
    core = mask.filter(ImageFilter.GaussianBlur(canvas.u * width)).point(
        lambda value: max(0, min(255, (value - 150) * 4))
    )
    rim = Image.new("RGBA", canvas.size, (*colour, 255))
    rim.putalpha(ImageChops.subtract(mask, core))
    result = layer.copy()
    result.alpha_composite(uneven(canvas.rng, rim, 0.2, canvas.u * 0.05))
    return result
