"""Fruit, ears, bulbs and galls."""

from __future__ import annotations

import math

from PIL import Image, ImageDraw, ImageFilter

from lmms_tasks.mirage.samples.canvas import (
    Canvas,
    Colour,
    clipped,
    curve,
    disc,
    mix,
    polar,
    shade,
    taper,
    uneven,
    vary,
)
from lmms_tasks.mirage.samples.leaves import blob, points_inside, polar_jitter
from lmms_tasks.mirage.samples.leaves import leaf as draw_leaf


def fruit(
    canvas: Canvas, skin: Colour, blemish: str, calyx: bool = False, stalk: bool = False, number: int = 1
) -> None:
    """Fruit with end rot (at the tip, turned to the viewer), scab or brown rot."""
    rng = canvas.rng
    spots = [(0.5, 0.52)] if number == 1 else [(0.3, 0.4), (0.67, 0.6)]
    for x, y in spots:
        layer, draw = canvas.layer()
        radius = canvas.u * (0.38 if number == 1 else 0.24)
        cx, cy = canvas.at(x, y)
        if stalk:
            taper(
                draw,
                curve(
                    (cx, cy - radius * 0.8),
                    (cx + radius * 0.1, cy - radius * 1.2),
                    (cx + radius * 0.3, cy - radius * 1.35),
                ),
                radius * 0.1,
                radius * 0.08,
                (104, 76, 52, 255),
            )
            draw_leaf(
                draw,
                (cx + radius * 0.12, cy - radius * 1.05),
                -0.3,
                radius * 0.9,
                "lanceolate" if blemish == "brown_rot" else "ovate",
                (88, 136, 66),
            )
        if calyx:
            for step in range(5):
                draw_leaf(
                    draw,
                    (cx, cy - radius * 0.86),
                    -math.pi / 2 + (step - 2) * 0.72,
                    radius * 0.55,
                    "lanceolate",
                    (84, 134, 62),
                )
        body, pencil = canvas.layer()
        disc(pencil, (cx, cy), radius * 1.04, radius * 0.97, fill=(*shade(skin, 0.7), 255))
        mask = body.getchannel("A")
        glow, light = canvas.layer()
        disc(light, (cx - radius * 0.12, cy - radius * 0.14), radius * 0.84, radius * 0.78, fill=(*skin, 255))
        disc(
            light,
            (cx - radius * 0.34, cy - radius * 0.38),
            radius * 0.26,
            radius * 0.2,
            fill=(*mix(skin, (255, 255, 255), 0.5), 255),
        )
        body.alpha_composite(clipped(glow.filter(ImageFilter.GaussianBlur(radius * 0.14)), mask))
        over, pencil = canvas.layer()
        if blemish == "end_rot":
            middle = (cx + radius * 0.14, cy + radius * 0.3)
            pencil.polygon(blob(rng, middle, radius * 0.56, 0.16), fill=(*mix(skin, (120, 90, 50), 0.7), 255))
            pencil.polygon(blob(rng, middle, radius * 0.49, 0.18), fill=(44, 34, 30, 255))
            pencil.polygon(
                blob(rng, (middle[0] - radius * 0.06, middle[1] - radius * 0.06), radius * 0.3, 0.3),
                fill=(66, 54, 46, 255),
            )
        elif blemish == "scab":
            for centre in points_inside(rng, mask, 11, radius * 0.2):
                size = radius * rng.uniform(0.07, 0.17)
                pencil.polygon(blob(rng, centre, size * 1.25, 0.3), fill=(70, 66, 40, 255))
                pencil.polygon(blob(rng, centre, size, 0.4), fill=(142, 110, 74, 255))
                pencil.line([polar(centre, 0.6, size), polar(centre, 3.6, size)], fill=(74, 54, 38, 255), width=4)
        else:
            middle = (cx + radius * 0.22, cy + radius * 0.1)
            pencil.polygon(blob(rng, middle, radius * 0.74, 0.16), fill=(128, 84, 54, 255))
            for ring in (0.12, 0.28, 0.44, 0.6):
                for step in range(int(8 + ring * 50)):
                    point = polar(
                        middle,
                        step * 2 * math.pi / int(8 + ring * 50) + rng.uniform(-0.08, 0.08),
                        radius * (ring + rng.uniform(-0.04, 0.04)),
                    )
                    disc(pencil, point, radius * rng.uniform(0.022, 0.042), fill=(*vary(rng, (204, 180, 142), 10), 255))
        body.alpha_composite(clipped(uneven(rng, over, 0.1, radius * 0.12), mask))
        layer.alpha_composite(body)
        canvas.put(layer, 0.035)


def maize_ear(canvas: Canvas, kernel: Colour, gall: Colour, husk: Colour) -> None:
    """A peeled ear with rows of kernels, some of them swollen to grey galls."""
    rng = canvas.rng
    n = round(max(canvas.w, canvas.h) * 0.98)
    tile = Image.new("RGBA", (n, n), (0, 0, 0, 0))
    draw = ImageDraw.Draw(tile)
    for side in (-1, 1):
        for spread in (0.3, 0.2):
            rim = curve(
                (0.5 * n, 0.96 * n), ((0.5 + side * spread * 1.7) * n, 0.7 * n), ((0.5 + side * spread) * n, 0.18 * n)
            )
            rim += curve(
                ((0.5 + side * spread) * n, 0.18 * n), ((0.5 + side * spread * 0.6) * n, 0.6 * n), (0.5 * n, 0.9 * n)
            )
            draw.polygon(rim, fill=(*shade(husk, 1.1 if spread < 0.25 else 0.9), 255))
    for row in range(22):
        y = 0.1 + row * 0.036
        width = 0.13 * math.sin(math.pi * min(1.0, 0.12 + row / 24)) ** 0.6 + 0.01
        for column in range(-3, 4):
            x = 0.5 + width * math.sin(column * 0.44)
            size = 0.024 * math.cos(column * 0.36)
            disc(
                draw,
                (x * n, y * n),
                size * n,
                0.02 * n,
                fill=(*shade(vary(rng, kernel, 10), 0.72 + 0.28 * math.cos(column * 0.4)), 255),
            )
            disc(
                draw,
                ((x - 0.006) * n, (y - 0.006) * n),
                size * 0.4 * n,
                0.006 * n,
                fill=(*mix(kernel, (255, 255, 255), 0.45), 255),
            )
    for x, y, size in (
        (0.44, 0.22, 0.07),
        (0.56, 0.28, 0.085),
        (0.47, 0.36, 0.075),
        (0.58, 0.42, 0.06),
        (0.53, 0.17, 0.05),
    ):
        centre = (x * n, y * n)
        draw.polygon(blob(rng, centre, size * n, 0.22), fill=(*shade(gall, 0.8), 255))
        draw.polygon(blob(rng, (centre[0] - 5, centre[1] - 6), size * 0.84 * n, 0.2), fill=(*vary(rng, gall, 8), 255))
        disc(draw, ((x - 0.02) * n, (y - 0.02) * n), size * 0.3 * n, fill=(*mix(gall, (255, 255, 255), 0.6), 255))
        if size > 0.07:
            draw.polygon(blob(rng, ((x + 0.02) * n, (y + 0.02) * n), size * 0.42 * n, 0.6), fill=(34, 30, 30, 255))
    canvas.place(tile, canvas.at(0.5, 0.5), rng.uniform(8, 22) if canvas.h > canvas.w else rng.uniform(50, 66), 0.03)


def bulbs(canvas: Canvas, skin: Colour, streak: Colour, number: int) -> None:
    """Garlic bulbs with papery, streaked skin."""
    rng = canvas.rng
    spots = ((0.34, 0.44, 1.0), (0.68, 0.66, 0.8))
    for x, y, scale in spots[:number]:
        n = round(canvas.u * 0.66 * scale)
        tile = Image.new("RGBA", (n, n), (0, 0, 0, 0))
        draw = ImageDraw.Draw(tile)
        taper(draw, [(0.5 * n, 0.4 * n), (0.52 * n, 0.02 * n)], 0.2 * n, 0.09 * n, (*shade(skin, 0.92), 255))
        for lobe in (-0.22, 0.22, -0.1, 0.1, 0.0):
            tone = shade(skin, 0.86 if abs(lobe) > 0.15 else 0.96)
            disc(draw, ((0.5 + lobe) * n, 0.62 * n), 0.2 * n, 0.28 * n, fill=(*tone, 255))
            for side in (-0.1, -0.04, 0.03, 0.09):
                line = curve(
                    ((0.5 + lobe * 0.3) * n, 0.32 * n),
                    ((0.5 + lobe + side * 1.4) * n, 0.6 * n),
                    ((0.5 + lobe * 0.7) * n, 0.88 * n),
                )
                draw.line(line, fill=(*mix(skin, streak, rng.uniform(0.25, 0.7)), 255), width=max(2, round(0.008 * n)))
        for _ in range(26):
            foot = (0.5 * n + rng.uniform(-0.1, 0.1) * n, 0.89 * n)
            draw.line([foot, (foot[0] + rng.uniform(-0.05, 0.05) * n, 0.97 * n)], fill=(196, 172, 132, 255), width=3)
        canvas.place(tile, canvas.at(x, y), rng.uniform(-35, 35), 0.03)


def gall(canvas: Canvas, horn: Colour, gall: Colour) -> None:
    """A brown gall with jelly horns on a juniper twig."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    for _ in range(150):
        start = canvas.at(rng.random(), rng.uniform(0.0, 1.0))
        end = polar(start, rng.uniform(-2.4, -0.7), canvas.u * rng.uniform(0.08, 0.16))
        draw.line([start, end], fill=(*shade((74, 108, 82), rng.uniform(0.7, 1.3)), 255), width=6)
    taper(
        draw,
        curve(canvas.at(-0.05, 0.3), canvas.at(0.5, 0.42), canvas.at(1.05, 0.26)),
        canvas.u * 0.05,
        canvas.u * 0.04,
        (120, 88, 64, 255),
    )
    canvas.put(layer)
    layer, draw = canvas.layer()
    centre = canvas.at(0.5, 0.52)
    for step in range(22):
        angle = step * 2 * math.pi / 22 + rng.uniform(-0.12, 0.12)
        start = polar(centre, angle, canvas.u * 0.12)
        tip = polar(centre, angle + rng.uniform(-0.25, 0.25), canvas.u * rng.uniform(0.3, 0.42))
        taper(
            draw,
            curve(start, polar(centre, angle, canvas.u * 0.28), tip),
            canvas.u * 0.055,
            canvas.u * 0.018,
            (*vary(rng, horn, 14), 255),
        )
    draw.polygon(blob(rng, centre, canvas.u * 0.2, 0.2), fill=(*gall, 255))
    for point in [polar_jitter(rng, centre, canvas.u * 0.16) for _ in range(18)]:
        disc(draw, point, canvas.u * 0.02, fill=(*shade(gall, rng.choice((0.7, 1.3))), 255))
    for _ in range(7):
        start = polar_jitter(rng, centre, canvas.u * 0.1)
        taper(
            draw,
            [start, (start[0] + rng.uniform(-20, 20), start[1] + canvas.u * 0.12)],
            canvas.u * 0.05,
            canvas.u * 0.02,
            (*vary(rng, horn, 14), 255),
        )
    canvas.put(layer)


def pods(canvas: Canvas, pod: Colour) -> None:
    """Narrow capsules that stand upright on bent stalks."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    foot = canvas.at(0.5, 1.05)
    node = canvas.at(0.5, 0.72)
    taper(draw, [foot, node], canvas.u * 0.035, canvas.u * 0.028, (130, 150, 88, 255))
    for step in range(5):
        x = 0.16 + step * 0.17
        low = canvas.at(x, 0.56 + rng.uniform(-0.05, 0.05))
        taper(draw, curve(node, canvas.at(x, 0.72), low), canvas.u * 0.016, canvas.u * 0.014, (140, 156, 96, 255))
        top = (low[0] + rng.uniform(-12, 12), low[1] - canvas.u * rng.uniform(0.32, 0.42))
        draw_leaf(
            draw,
            low,
            math.atan2(top[1] - low[1], top[0] - low[0]),
            canvas.u * 0.4,
            "lanceolate",
            vary(rng, pod, 10),
            vein=shade(pod, 0.7),
        )
        for side in (-1, 1):
            draw.line(
                [low, (low[0] + side * canvas.u * 0.03, low[1] - canvas.u * 0.07)], fill=(150, 120, 84, 255), width=6
            )
    canvas.put(layer)
