"""Whole plants: sprigs, vines, weeds, and what grows in a pot."""

from __future__ import annotations

import math

from lmms_tasks.mirage.samples.canvas import Canvas, Colour, curve, disc, mix, polar, shade, taper, uneven, vary
from lmms_tasks.mirage.samples.flowers import blossom
from lmms_tasks.mirage.samples.leaves import any_leaf, blob, mark_leaf, polar_jitter
from lmms_tasks.mirage.samples.leaves import leaf as draw_leaf


def sprig(
    canvas: Canvas,
    shape: str,
    leaf: Colour,
    stem: Colour,
    flower: Colour | None = None,
    petals: int = 5,
    fruit: Colour | None = None,
    eaten: bool = False,
    spotted: Colour | None = None,
    small: bool = False,
) -> None:
    """A shoot with leaves on both sides, and flowers or fruit."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    bow = curve(
        canvas.at(0.5, 1.08), canvas.at(rng.uniform(0.36, 0.64), 0.5), canvas.at(rng.uniform(0.44, 0.56), 0.1), 40
    )
    taper(draw, bow, canvas.u * 0.045, canvas.u * 0.02, (*stem, 255))
    size = {"compound": 0.62, "lanceolate": 0.5, "heart": 0.27, "paddle": 0.26}.get(shape, 0.42)
    nodes = range(3, 39, 3) if small else range(7, 38, 8 if shape == "compound" else 5)
    for index, node in enumerate(nodes):
        for side in (-1, 1) if small or index % 2 == 0 or shape == "paddle" else (1,):
            side = side if index % 4 < 2 or small else -side
            angle = -math.pi / 2 + side * rng.uniform(0.8, 1.25)
            length = canvas.u * (0.2 if small else size) * (1.05 - 0.3 * node / 40) * rng.uniform(0.9, 1.08)
            start = polar(
                bow[node], angle, canvas.u * (0.09 if shape == "heart" else 0.03 if shape == "compound" else 0.0)
            )
            draw.line([bow[node], start], fill=(*stem, 255), width=round(canvas.u * 0.014))
            any_leaf(draw, rng, start, angle, length, shape, vary(rng, leaf, 9))
    any_leaf(
        draw,
        rng,
        bow[-1],
        -math.pi / 2 + rng.uniform(-0.3, 0.3),
        canvas.u * (0.16 if small else 0.24),
        shape,
        shade(leaf, 1.08),
    )
    layer = uneven(rng, layer, 0.12, canvas.u * 0.12)
    if eaten:
        layer = mark_leaf(canvas, layer, "holes", leaf, count=22, size=0.04)
    if spotted:
        layer = mark_leaf(canvas, layer, "blotch", spotted, count=26, size=0.016)
    canvas.put(layer)
    layer, draw = canvas.layer()
    if fruit:
        radius = canvas.u * (0.085 if shape != "ovate" else 0.055)
        for node in (14, 17, 25, 28):
            side = 1 if node % 2 else -1
            x, y = bow[node][0] + side * radius * 1.5, bow[node][1] + radius * 1.3
            draw.line([bow[node], (x, y)], fill=(*stem, 255), width=round(canvas.u * 0.012))
            disc(draw, (x, y), radius, fill=(*shade(fruit, 0.84), 255))
            disc(draw, (x - radius * 0.1, y - radius * 0.1), radius * 0.86, fill=(*vary(rng, fruit, 10), 255))
            disc(
                draw,
                (x - radius * 0.35, y - radius * 0.4),
                radius * 0.22,
                fill=(*mix(fruit, (255, 255, 255), 0.55), 255),
            )
    if flower:
        centres = [bow[-1], polar(bow[-1], 2.6, canvas.u * 0.13), polar(bow[-1], 0.5, canvas.u * 0.13), bow[26]]
        for centre in centres:
            size = canvas.u * rng.uniform(0.08, 0.105)
            blossom(
                draw, centre, size, petals, vary(rng, flower, 5), mix(flower, (190, 150, 40), 0.6), rng.uniform(0, 1)
            )
    canvas.put(layer, 0.012)


def mat(canvas: Canvas, stem: Colour, leaf: Colour, flower: Colour) -> None:
    """A plant flat on the soil, its stems radiating from one root."""
    rng = canvas.rng
    middle = canvas.at(0.5, 0.5)
    for step in range(11):
        layer, draw = canvas.layer()
        angle = step * 2 * math.pi / 11 + rng.uniform(-0.2, 0.2)
        length = canvas.u * rng.uniform(0.36, 0.52)
        bow = curve(middle, polar(middle, angle + 0.2, length * 0.5), polar(middle, angle, length), 20)
        taper(draw, bow, canvas.u * 0.03, canvas.u * 0.016, (*vary(rng, stem, 10), 255))
        for node in (7, 11, 15, 18, 20):
            for side in (-1, 1):
                any_leaf(
                    draw,
                    rng,
                    bow[node],
                    angle + side * rng.uniform(0.5, 1.2),
                    canvas.u * rng.uniform(0.09, 0.13),
                    "paddle",
                    vary(rng, leaf, 10),
                )
        any_leaf(draw, rng, bow[20], angle, canvas.u * 0.12, "paddle", shade(leaf, 1.1))
        if step % 3 == 0:
            blossom(draw, bow[20], canvas.u * 0.05, 5, flower, shade(flower, 0.8), angle)
        canvas.put(layer, 0.01)


def hooded_flower(canvas: Canvas, hood: Colour, stripe: Colour, leaf: Colour) -> None:
    """A spathe that folds over its spadix, between two leaves of three leaflets."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    for side in (-1, 1):
        top = canvas.at(0.5 + side * 0.25, 0.24)
        taper(
            draw,
            curve(canvas.at(0.5, 1.05), canvas.at(0.5 + side * 0.05, 0.6), top),
            canvas.u * 0.026,
            canvas.u * 0.018,
            (118, 150, 88, 255),
        )
        for turn in (-1.5, 0.0, 1.5):
            angle = (math.pi * 0.88 if side < 0 else 0.12 * math.pi) + turn
            draw_leaf(draw, top, angle, canvas.u * 0.4, "ovate", vary(rng, leaf, 8))
    canvas.put(uneven(rng, layer, 0.1, canvas.u * 0.1))
    layer, draw = canvas.layer()
    u, (x, y) = canvas.u, canvas.at(0.5, 0.66)
    taper(draw, [canvas.at(0.5, 1.05), (x, y + u * 0.16)], u * 0.035, u * 0.05, (122, 152, 90, 255))
    mouth = [(x - u * 0.115, y - u * 0.16), (x + u * 0.115, y - u * 0.16)]
    back = curve(mouth[0], (x - u * 0.15, y - u * 0.46), (x + u * 0.02, y - u * 0.44))
    back += curve((x + u * 0.02, y - u * 0.44), (x + u * 0.16, y - u * 0.4), mouth[1])
    draw.polygon(back, fill=(*shade(stripe, 0.75), 255))
    for step in (-2, -1, 0, 1, 2):
        draw.line(
            [(x + step * u * 0.04, y - u * 0.1), (x + step * u * 0.03, y - u * 0.4)],
            fill=(*shade(hood, 0.8), 255),
            width=5,
        )
    taper(draw, [(x, y), (x, y - u * 0.28)], u * 0.055, u * 0.06, (218, 208, 150, 255))
    tube = curve(mouth[0], (x - u * 0.1, y + u * 0.08), (x, y + u * 0.2))
    tube += curve((x, y + u * 0.2), (x + u * 0.1, y + u * 0.08), mouth[1])
    draw.polygon(tube + curve(mouth[1], (x, y - u * 0.09), mouth[0]), fill=(*hood, 255))
    for step in range(-3, 4):
        top = (x + step * u * 0.032, y - u * (0.15 - 0.03 * math.cos(step * 0.5)))
        taper(
            draw,
            curve(top, (x + step * u * 0.028, y + u * 0.06), (x + step * u * 0.004, y + u * 0.17)),
            7,
            4,
            (*stripe, 255),
        )
    crest, tip = (x - u * 0.135, y - u * 0.3), (x + u * 0.22, y - u * 0.2)
    over = curve(crest, (x - u * 0.02, y - u * 0.56), (x + u * 0.14, y - u * 0.37)) + curve(
        (x + u * 0.14, y - u * 0.37), (x + u * 0.21, y - u * 0.3), tip
    )
    under = curve(tip, (x + u * 0.06, y - u * 0.34), crest)
    draw.polygon(over + under, fill=(*hood, 255))
    for lift in (0.5, 0.46, 0.42):
        draw.line(
            curve((x - u * 0.11, y - u * (lift - 0.18)), (x, y - u * lift), (tip[0] - u * 0.03, tip[1] - u * 0.05)),
            fill=(*stripe, 255),
            width=4,
        )
    canvas.put(layer)


def potted(canvas: Canvas, leaf: Colour, pot: Colour, kind: str, fruit: Colour | None = None) -> None:
    """A plant in a clay pot: a branching succulent or a small shrub."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    u, (x, y) = canvas.u, canvas.at(0.5, 0.72)
    rims = [(x - u * 0.2, y), (x + u * 0.2, y), (x + u * 0.14, y + u * 0.26), (x - u * 0.14, y + u * 0.26)]
    draw.polygon(rims, fill=(*pot, 255))
    draw.polygon([(x, y), rims[1], rims[2], (x + u * 0.02, y + u * 0.26)], fill=(*shade(pot, 0.84), 255))
    draw.rectangle((x - u * 0.22, y - u * 0.05, x + u * 0.22, y + u * 0.02), fill=(*shade(pot, 1.1), 255))
    disc(draw, (x, y - u * 0.05), u * 0.2, u * 0.03, fill=(70, 52, 40, 255))
    canvas.put(layer, 0.03)
    layer, draw = canvas.layer()
    wood = (136, 112, 78) if kind == "succulent" else (108, 84, 60)
    tips = []
    for step in range(5):
        turn = -math.pi / 2 + (step - 2) * 0.42
        start = (x + (step - 2) * u * 0.02, y - u * 0.05)
        tip = polar(start, turn, u * rng.uniform(0.36, 0.46))
        taper(draw, curve(start, polar(start, -math.pi / 2, u * 0.2), tip), u * 0.05, u * 0.03, (*wood, 255))
        tips += [tip, polar(start, turn, u * 0.26)]
    for tip in tips:
        for _ in range(9 if kind == "succulent" else 16):
            shape, size = ("paddle", 0.13) if kind == "succulent" else ("ovate", 0.15)
            start = polar_jitter(rng, tip, u * (0.03 if kind == "succulent" else 0.08))
            any_leaf(
                draw,
                rng,
                start,
                rng.uniform(0, 2 * math.pi),
                u * size * rng.uniform(0.8, 1.15),
                shape,
                vary(rng, leaf, 14),
            )
    canvas.put(uneven(rng, layer, 0.12, u * 0.1), 0.015)
    layer, draw = canvas.layer()
    if fruit:
        for tip in tips[::2]:
            disc(draw, (tip[0], tip[1] + u * 0.05), u * 0.05, u * 0.058, fill=(*fruit, 255))
            disc(draw, (tip[0] - u * 0.016, tip[1] + u * 0.03), u * 0.014, fill=(255, 244, 190, 255))
    else:
        for _ in range(5):
            fallen = (x + rng.choice((-1, 1)) * u * rng.uniform(0.26, 0.42), y + u * rng.uniform(0.18, 0.26))
            any_leaf(draw, rng, fallen, rng.uniform(-0.6, 0.6), u * 0.12, "paddle", (186, 178, 92))
    canvas.put(layer, 0.012)


def vine(canvas: Canvas, shape: str, leaf: Colour, flower: Colour) -> None:
    """A vine that winds round a cane, with funnel flowers."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    taper(draw, [canvas.at(0.5, 1.05), canvas.at(0.5, -0.05)], canvas.u * 0.06, canvas.u * 0.05, (150, 108, 82, 255))
    path = [
        (canvas.w * 0.5 + math.sin(step * 0.34) * canvas.u * 0.1, canvas.h * (1.04 - step / 58)) for step in range(62)
    ]
    taper(draw, path, canvas.u * 0.024, canvas.u * 0.018, (128, 162, 96, 255))
    canvas.put(layer)
    layer, draw = canvas.layer()
    for index, node in enumerate(range(5, 60, 8)):
        side = 1 if index % 2 else -1
        start = polar(path[node], -math.pi / 2 + side * 1.2, canvas.u * 0.08)
        draw.line([path[node], start], fill=(128, 162, 96, 255), width=6)
        draw_leaf(
            draw,
            start,
            (0 if side > 0 else math.pi) + rng.uniform(-0.4, 0.5),
            canvas.u * rng.uniform(0.28, 0.36),
            shape,
            vary(rng, leaf, 10),
        )
    canvas.put(uneven(rng, layer, 0.1, canvas.u * 0.1))
    layer, draw = canvas.layer()
    for x, y in ((0.28, 0.3), (0.72, 0.52), (0.34, 0.74)):
        centre, radius = canvas.at(x, y), canvas.u * 0.11
        draw.polygon(blob(rng, centre, radius, 0.06), fill=(*flower, 255))
        for step in range(5):
            draw.line([centre, polar(centre, step * 1.257, radius * 0.94)], fill=(232, 204, 214, 255), width=9)
        disc(draw, centre, radius * 0.3, fill=(240, 232, 176, 255))
    canvas.put(layer)


def spike_plant(canvas: Canvas, leaf: Colour, stem: Colour, spike: Colour) -> None:
    """A tall weed with a long bristly seed head and long-stalked leaves."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    u = canvas.u
    bow = curve(canvas.at(0.5, 1.06), canvas.at(0.47, 0.7), canvas.at(0.5, 0.46), 30)
    taper(draw, bow, u * 0.05, u * 0.03, (*stem, 255))
    for index, node in enumerate(range(2, 30, 3)):
        side = 1 if index % 2 else -1
        angle = -math.pi / 2 + side * rng.uniform(0.85, 1.3)
        foot = polar(bow[node], angle, u * 0.16)
        taper(draw, [bow[node], foot], u * 0.014, u * 0.012, (*shade(leaf, 1.2), 255))
        draw_leaf(draw, foot, angle + side * 0.2, u * 0.24, "ovate", vary(rng, leaf, 9))
    canvas.put(uneven(rng, layer, 0.1, u * 0.1))
    layer, draw = canvas.layer()
    for lean, length in ((0, 0.46), (-0.6, 0.24), (0.55, 0.26)):
        start = bow[-1]
        tip = polar(start, -math.pi / 2 + lean, canvas.h * length)
        path = curve(start, polar(start, -math.pi / 2 + lean * 0.5, canvas.h * length * 0.5), tip, 40)
        taper(draw, path, u * 0.05, u * 0.03, (*shade(spike, 0.85), 255))
        for point in path:
            for _ in range(9):
                end = polar(point, rng.uniform(0, 6.3), u * rng.uniform(0.02, 0.045))
                draw.line([point, end], fill=(*vary(rng, spike, 20), 255), width=4)
    canvas.put(layer, 0.014)


def canes(canvas: Canvas, cane: Colour, node: Colour, leaf: Colour, plume: Colour) -> None:
    """Jointed canes with broad leaves and creamy flower plumes."""
    rng = canvas.rng
    u = canvas.u
    for index, x in enumerate((0.2, 0.46, 0.74)):
        layer, draw = canvas.layer()
        path = curve(canvas.at(x, 1.05), canvas.at(x + 0.02, 0.5), canvas.at(x + rng.uniform(-0.06, 0.1), -0.02), 40)
        taper(draw, path, u * 0.05, u * 0.03, (*vary(rng, cane, 8), 255))
        for step in range(4, 40, 7):
            disc(draw, path[step], u * 0.032, u * 0.014, fill=(*node, 255))
            side = 1 if (step + index) % 2 else -1
            angle = (0 if side > 0 else math.pi) + rng.uniform(-0.5, 0.4)
            start = polar(path[step], angle, u * 0.05)
            draw.line([path[step], start], fill=(*node, 255), width=6)
            draw_leaf(
                draw, start, angle, u * rng.uniform(0.24, 0.3), "heart" if step % 3 else "ovate", vary(rng, leaf, 10)
            )
            tip = polar(path[step], -math.pi / 2 - side * 0.7, u * 0.2)
            for point in curve(path[step], polar(path[step], -math.pi / 2, u * 0.1), tip, 12)[3:]:
                for _ in range(6):
                    disc(draw, polar_jitter(rng, point, u * 0.024), u * 0.008, fill=(*vary(rng, plume, 10), 255))
        canvas.put(layer, 0.015)


def bare_tree(canvas: Canvas, bark: Colour, buds: Colour) -> None:
    """A young tree without leaves, with buds on its twigs."""
    rng = canvas.rng
    layer, draw = canvas.layer()
    draw.rectangle((0, canvas.h * 0.9, canvas.w, canvas.h), fill=(122, 100, 74, 255))
    trunk = curve(canvas.at(0.5, 0.95), canvas.at(0.47, 0.5), canvas.at(0.52, 0.04), 40)
    taper(draw, trunk, canvas.u * 0.045, canvas.u * 0.016, (*bark, 255))
    twigs = [trunk]
    for index, node in enumerate((14, 18, 22, 26, 30, 34)):
        side = 1 if index % 2 else -1
        tip = polar(trunk[node], -math.pi / 2 + side * rng.uniform(0.5, 0.9), canvas.u * (0.46 - node * 0.008))
        twig = curve(trunk[node], polar(trunk[node], -math.pi / 2 + side * 1.1, canvas.u * 0.14), tip)
        taper(draw, twig, canvas.u * 0.02, canvas.u * 0.009, (*shade(bark, 1.1), 255))
        twigs.append(twig)
    for twig in twigs:
        for point in twig[8::4]:
            disc(
                draw,
                (point[0] + rng.choice((-7, 7)), point[1]),
                canvas.u * 0.013,
                canvas.u * 0.017,
                fill=(*vary(rng, buds, 14), 255),
            )
    canvas.put(layer, 0.008)
