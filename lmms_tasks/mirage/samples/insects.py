"""Insects: single animals on square tiles (head up) and scenes with several of them on a leaf."""

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
from lmms_tasks.mirage.samples.leaves import leaf, points_inside

BLACK = (30, 26, 24, 255)


def host_leaf(canvas: Canvas, colour: Colour, shape: str = "ovate") -> Image.Image:
    """A leaf that fills most of the picture, as the ground on which insects sit."""
    layer, draw = canvas.layer()
    angle = canvas.rng.uniform(-0.5, 0.5)
    base = polar((canvas.w / 2, canvas.h / 2), angle + math.pi, canvas.w * 0.66)
    leaf(draw, base, angle, canvas.w * 1.34, shape, colour, toothed=False)
    layer = uneven(canvas.rng, layer, 0.1, canvas.u * 0.15)
    canvas.put(layer)
    return layer.getchannel("A")


def gloss(tile: Image.Image, x: float, y: float, rx: float, ry: float, strength: int = 120) -> None:
    """A soft light spot on the tile."""
    n = tile.width
    light = Image.new("RGBA", tile.size, (255, 255, 255, 0))
    disc(ImageDraw.Draw(light), (x * n, y * n), rx * n, ry * n, fill=(255, 255, 255, strength))
    tile.alpha_composite(clipped(light.filter(ImageFilter.GaussianBlur(n * 0.025)), tile.getchannel("A")))


def legs(
    draw: ImageDraw.ImageDraw, n: float, rows: tuple[float, ...], reach: float, colour: tuple, width: float
) -> None:
    """Pairs of bent legs at the heights `rows`."""
    for index, y in enumerate(rows):
        lean = (index - 1) * 0.1
        for side in (-1, 1):
            knee = ((0.5 + side * reach * 0.72) * n, (y + lean * 0.5 - 0.02) * n)
            foot = ((0.5 + side * reach) * n, (y + lean + 0.06) * n)
            draw.line([(0.5 * n, y * n), knee, foot], fill=colour, width=max(2, round(width * n)), joint="curve")


def beetle_tile(n: int, shell: Colour, pattern: str, mark: Colour, head: Colour, slim: bool) -> Image.Image:
    """A beetle from above; patterns "stripes", "seven", "tufts" and "plain"."""
    tile = Image.new("RGBA", (n, n), (0, 0, 0, 0))
    draw = ImageDraw.Draw(tile)
    rx, ry = (0.14, 0.36) if slim else (0.27, 0.33)
    legs(draw, n, (0.36, 0.5, 0.64), rx + 0.17, BLACK, 0.022)
    for side in (-1, 1):
        points = [(0.5 * n, 0.2 * n), ((0.5 + side * 0.1) * n, 0.1 * n), ((0.5 + side * 0.2) * n, 0.09 * n)]
        draw.line(points, fill=BLACK, width=max(2, round(0.014 * n)))
    disc(draw, (0.5 * n, 0.19 * n), rx * 0.5 * n, 0.07 * n, fill=(*shade(head, 0.75), 255))
    disc(draw, (0.5 * n, 0.28 * n), rx * 0.82 * n, 0.1 * n, fill=(*head, 255))
    body = Image.new("L", (n, n), 0)
    ImageDraw.Draw(body).ellipse(((0.5 - rx) * n, (0.58 - ry) * n, (0.5 + rx) * n, (0.58 + ry) * n), fill=255)
    wings = Image.new("RGBA", (n, n), (*shell, 255))
    pencil = ImageDraw.Draw(wings)
    if pattern == "stripes":
        for step in range(-5, 6):
            x = 0.5 + step * 0.052
            points = curve((x * n, 0.2 * n), ((x + step * 0.012) * n, 0.58 * n), ((0.5 + step * 0.026) * n, 0.95 * n))
            if step:
                taper(pencil, points, 0.026 * n, 0.02 * n, (*mark, 255))
    elif pattern == "seven":
        disc(pencil, (0.5 * n, 0.36 * n), 0.055 * n, fill=(*mark, 255))
        for side in (-1, 1):
            for x, y, size in ((0.14, 0.45, 0.045), (0.1, 0.62, 0.055), (0.15, 0.77, 0.04)):
                disc(pencil, ((0.5 + side * x) * n, y * n), size * n, fill=(*mark, 255))
    pencil.line(
        [(0.5 * n, 0.25 * n), (0.5 * n, 0.95 * n)], fill=(*shade(shell, 0.55), 255), width=max(2, round(0.012 * n))
    )
    rim = body.filter(ImageFilter.GaussianBlur(0.05 * n)).point(lambda value: max(0, 255 - value) // 2)
    edge = Image.new("RGBA", (n, n), (*shade(shell, 0.35), 255))
    edge.putalpha(rim)
    wings.alpha_composite(edge)
    tile.alpha_composite(clipped(wings, body))
    if pattern == "tufts":
        for side in (-1, 1):
            for step in range(5):
                y = 0.47 + step * 0.085
                x = rx * math.sqrt(max(0.0, 1 - ((y - 0.58) / ry) ** 2))
                disc(draw, ((0.5 + side * (x + 0.012)) * n, y * n), 0.022 * n, fill=(*mark, 255))
            disc(draw, ((0.5 + side * 0.07) * n, 0.91 * n), 0.022 * n, fill=(*mark, 255))
    if pattern == "seven":
        for side in (-1, 1):
            disc(draw, ((0.5 + side * 0.15) * n, 0.25 * n), 0.035 * n, 0.03 * n, fill=(244, 240, 226, 255))
    if pattern == "stripes":
        for x, y in ((0.43, 0.27), (0.57, 0.27), (0.5, 0.3), (0.38, 0.3), (0.62, 0.3), (0.5, 0.24)):
            disc(draw, (x * n, y * n), 0.014 * n, fill=(*mark, 255))
    gloss(tile, 0.42, 0.46, rx * 0.34, 0.1)
    gloss(tile, 0.46, 0.27, rx * 0.2, 0.03, 90)
    return tile


def beetle(
    canvas: Canvas, shell: Colour, pattern: str, mark: Colour, head: Colour, slim: bool = False, number: int = 1
) -> None:
    """One beetle, or several, on a leaf."""
    rng = canvas.rng
    host_leaf(canvas, vary(rng, (92, 142, 68), 14))
    size = canvas.u * (0.82 if number == 1 else 0.46)
    spots = [(0.5, 0.5)] if number == 1 else [(0.27, 0.36), (0.68, 0.3), (0.52, 0.74)]
    for x, y in spots[:number]:
        tile = beetle_tile(round(size), shell, pattern, mark, head, slim)
        canvas.place(tile, canvas.at(x, y), rng.uniform(-70, 70))


def grubs(canvas: Canvas, body: Colour, dots: Colour, leaf: Colour) -> None:
    """Plump larvae with two rows of dots on each side, on a leaf that they have gnawed."""
    rng = canvas.rng
    host_leaf(canvas, leaf)
    n = round(canvas.u * 0.46)
    for x, y in ((0.28, 0.32), (0.68, 0.36), (0.42, 0.72)):
        tile = Image.new("RGBA", (n, n), (0, 0, 0, 0))
        draw = ImageDraw.Draw(tile)
        legs(draw, n, (0.26, 0.34, 0.42), 0.3, (*dots, 255), 0.03)
        disc(draw, (0.5 * n, 0.17 * n), 0.1 * n, fill=(*dots, 255))
        for step in range(8):
            width = 0.13 + 0.13 * math.sin(math.pi * (step + 1.5) / 10)
            tone = vary(rng, body, 5) if step % 2 else shade(body, 1.12)
            disc(draw, (0.5 * n, (0.26 + step * 0.085) * n), width * n, 0.075 * n, fill=(*tone, 255))
        for step in range(1, 8):
            width = 0.13 + 0.13 * math.sin(math.pi * (step + 1.5) / 10)
            for side in (-1, 1):
                for part in (0.86, 0.6):
                    disc(
                        draw, ((0.5 + side * width * part) * n, (0.26 + step * 0.085) * n), 0.022 * n, fill=(*dots, 255)
                    )
        gloss(tile, 0.46, 0.52, 0.05, 0.2, 80)
        canvas.place(tile, canvas.at(x, y), rng.uniform(-120, 120))


def eggs(canvas: Canvas, egg: Colour, leaf: Colour) -> None:
    """A patch of upright eggs on the underside of a leaf."""
    rng = canvas.rng
    host_leaf(canvas, leaf)
    layer, draw = canvas.layer()
    radius = canvas.u * 0.034
    for row in range(5):
        for column in range(7 - abs(row - 2)):
            x = canvas.w * 0.5 + (column - (6 - abs(row - 2)) / 2) * radius * 2.0 + rng.uniform(-5, 5)
            y = canvas.h * 0.5 + (row - 2) * radius * 2.5 + rng.uniform(-5, 5)
            disc(draw, (x, y), radius, radius * 1.6, fill=(*shade(egg, 0.78), 255))
            disc(draw, (x - 2, y - 3), radius * 0.84, radius * 1.4, fill=(*vary(rng, egg, 8), 255))
            disc(draw, (x - radius * 0.3, y - radius * 0.7), radius * 0.24, radius * 0.4, fill=(255, 240, 200, 220))
    canvas.put(layer)


def caterpillar(
    canvas: Canvas,
    body: Colour,
    slashes: Colour | None = None,
    horn: Colour | None = None,
    stripe: Colour | None = None,
    head: Colour | None = None,
    bare: bool = False,
) -> None:
    """A caterpillar from the side; `bare` is a legless-looking borer on cut stem tissue."""
    rng = canvas.rng
    radius = canvas.u * (0.125 if not stripe else 0.095)
    path = curve(canvas.at(0.14, 0.6), canvas.at(0.45, 0.42 if not bare else 0.5), canvas.at(0.84, 0.56), 11)
    layer, draw = canvas.layer()
    if bare:
        draw.rectangle((0, canvas.h * 0.2, canvas.w, canvas.h * 0.84), fill=(142, 172, 96, 255))
        draw.rectangle((0, canvas.h * 0.3, canvas.w, canvas.h * 0.74), fill=(222, 218, 160, 255))
    else:
        low = radius * 1.55
        stem = [
            (-canvas.w * 0.05, path[0][1] + low),
            *((x, y + low) for x, y in path),
            (canvas.w * 1.05, path[-1][1] + low),
        ]
        for x in (0.12, 0.5, 0.88):
            turn = rng.uniform(-2.2, -0.9) if x != 0.5 else rng.uniform(1.0, 2.0)
            leaf(
                draw, (canvas.w * x, path[0][1] + low), turn, canvas.u * 0.5, "ovate", vary(rng, (78, 126, 60), 8), True
            )
        taper(draw, stem, canvas.u * 0.09, canvas.u * 0.06, (116, 146, 80, 255))
    canvas.put(uneven(rng, layer, 0.12, canvas.u * 0.08))
    layer, draw = canvas.layer()
    if horn:
        tail = (path[0][0], path[0][1] - radius * 0.6)
        taper(draw, [tail, (tail[0] - radius * 0.9, tail[1] - radius * 1.1)], radius * 0.4, radius * 0.08, (*horn, 255))
    for index, (x, y) in enumerate(path):
        if not bare:
            disc(draw, (x, y + radius * 0.95), radius * 0.26, radius * 0.36, fill=(*shade(body, 0.7), 255))
        size = radius * (0.84 if index in (0, 11) else 1.0)
        disc(draw, (x, y), size * 0.94, size * 1.04, fill=(*shade(body, 0.8), 255))
        disc(draw, (x - 2, y - size * 0.1), size * 0.84, size * 0.9, fill=(*vary(rng, body, 4), 255))
        disc(draw, (x - 3, y - size * 0.45), size * 0.55, size * 0.3, fill=(*mix(body, (255, 255, 255), 0.28), 255))
    for index, (x, y) in enumerate(path[1:-2]):
        if slashes and index < 7:
            ends = [(x - radius * 0.55, y - radius * 0.5), (x + radius * 0.5, y + radius * 0.55)]
            draw.line([(a, b + radius * 0.12) for a, b in ends], fill=(34, 44, 26, 255), width=round(radius * 0.14))
            draw.line(ends, fill=(*slashes, 255), width=round(radius * 0.15))
        if slashes:
            disc(draw, (x, y + radius * 0.66), radius * 0.1, radius * 0.13, fill=(60, 40, 30, 255))
    if stripe:
        draw.line(
            [(x, y - radius * 0.05) for x, y in path], fill=(*stripe, 255), width=round(radius * 0.16), joint="curve"
        )
    x, y = path[-1]
    front = (x + radius * 0.7, y + radius * 0.1)
    disc(draw, front, radius * 0.6, radius * 0.68, fill=(*(head or shade(body, 0.86)), 255))
    disc(draw, (front[0] + radius * 0.2, front[1] + radius * 0.1), radius * 0.1, fill=BLACK)
    canvas.put(layer)


def shield_bug(canvas: Canvas, shell: Colour, band: Colour) -> None:
    """A stink bug from above with banded antennae and a checkered abdomen edge."""
    n = round(canvas.u * 0.92)
    tile = Image.new("RGBA", (n, n), (0, 0, 0, 0))
    draw = ImageDraw.Draw(tile)
    legs(draw, n, (0.38, 0.5, 0.62), 0.42, (*shade(shell, 0.6), 255), 0.022)
    for side in (-1, 1):
        points = curve((0.5 * n, 0.18 * n), ((0.5 + side * 0.12) * n, 0.02 * n), ((0.5 + side * 0.3) * n, 0.08 * n))
        for index in range(len(points) - 1):
            tone = band if index % 8 < 3 else (46, 38, 32)
            draw.line(points[index : index + 2], fill=(*tone, 255), width=max(3, round(0.016 * n)))
    right = curve((0.5, 0.14), (0.6, 0.14), (0.62, 0.23), 8) + curve((0.62, 0.23), (0.77, 0.29), (0.765, 0.39), 8)
    right += curve((0.765, 0.39), (0.72, 0.5), (0.74, 0.58), 8) + curve((0.74, 0.58), (0.73, 0.8), (0.5, 0.9), 14)
    rim = [(x * n, y * n) for x, y in right] + [((1 - x) * n, y * n) for x, y in reversed(right)]
    draw.polygon(rim, fill=(*shell, 255))
    edge = [point for point in right if 0.48 < point[1] < 0.86]
    for index in range(len(edge) - 1):
        tone = band if index % 4 < 2 else (52, 42, 36)
        for flip in (False, True):
            ends = [((1 - x if flip else x) * n, y * n) for x, y in edge[index : index + 2]]
            taper(draw, ends, 0.05 * n, 0.05 * n, (*tone, 255))
    wings = [(0.5, 0.4), (0.72, 0.42), (0.69, 0.62), (0.6, 0.84), (0.5, 0.9)]
    outline = [(x * n, y * n) for x, y in wings] + [((1 - x) * n, y * n) for x, y in reversed(wings)]
    draw.polygon(outline, fill=(*shade(shell, 0.9), 255))
    tile = uneven(canvas.rng, tile, 0.28, n * 0.018)
    draw = ImageDraw.Draw(tile)
    draw.polygon([(0.36 * n, 0.41 * n), (0.64 * n, 0.41 * n), (0.5 * n, 0.68 * n)], fill=(*shade(shell, 1.14), 255))
    draw.line([(0.26 * n, 0.4 * n), (0.74 * n, 0.4 * n)], fill=(*shade(shell, 0.6), 255), width=4)
    draw.polygon(
        [(0.5 * n, 0.68 * n), (0.36 * n, 0.82 * n), (0.5 * n, 0.89 * n), (0.64 * n, 0.82 * n)],
        fill=(*shade(shell, 0.66), 255),
    )
    for side in (-1, 1):
        disc(draw, ((0.5 + side * 0.065) * n, 0.19 * n), 0.018 * n, fill=BLACK)
    gloss(tile, 0.44, 0.33, 0.08, 0.04, 70)
    canvas.place(tile, canvas.at(0.5, 0.52), canvas.rng.uniform(-40, 40), 0.03)


def aphid_tile(n: int, body: Colour, limbs: Colour) -> Image.Image:
    """A wingless aphid from above, with its two tail tubes."""
    tile = Image.new("RGBA", (n, n), (0, 0, 0, 0))
    draw = ImageDraw.Draw(tile)
    legs(draw, n, (0.32, 0.42, 0.54), 0.4, (*limbs, 255), 0.035)
    for side in (-1, 1):
        draw.line(
            [(0.5 * n, 0.2 * n), ((0.5 + side * 0.22) * n, 0.03 * n)], fill=(*limbs, 255), width=max(2, round(0.03 * n))
        )
        tube = [((0.5 + side * 0.14) * n, 0.74 * n), ((0.5 + side * 0.2) * n, 0.94 * n)]
        draw.line(tube, fill=(*limbs, 255), width=max(2, round(0.05 * n)))
    disc(draw, (0.5 * n, 0.58 * n), 0.23 * n, 0.28 * n, fill=(*shade(body, 0.84), 255))
    disc(draw, (0.49 * n, 0.57 * n), 0.2 * n, 0.25 * n, fill=(*body, 255))
    disc(draw, (0.5 * n, 0.27 * n), 0.13 * n, 0.12 * n, fill=(*shade(body, 0.96), 255))
    for side in (-1, 1):
        disc(draw, ((0.5 + side * 0.1) * n, 0.23 * n), 0.028 * n, fill=BLACK)
    gloss(tile, 0.43, 0.48, 0.07, 0.1, 130)
    return tile


def aphids(canvas: Canvas, body: Colour, legs: Colour, on: str, count: int) -> None:
    """A colony on a stem or on a leaf."""
    rng = canvas.rng
    if on == "stem":
        layer, draw = canvas.layer()
        bow = curve(canvas.at(0.42, 1.05), canvas.at(0.6, 0.5), canvas.at(0.5, -0.05))
        for side, y in ((-1, 0.3), (1, 0.18), (1, 0.66)):
            turn = (math.pi if side < 0 else 0) - side * 0.45
            leaf(draw, canvas.at(0.52, y), turn, canvas.u * 0.62, "lanceolate", vary(rng, (96, 146, 78), 8))
        taper(draw, bow, canvas.u * 0.2, canvas.u * 0.15, (116, 152, 88, 255))
        canvas.put(uneven(rng, layer, 0.1, canvas.u * 0.1))
        stem = Image.new("L", canvas.size, 0)
        taper(ImageDraw.Draw(stem), bow, canvas.u * 0.24, canvas.u * 0.19, 255)  # type: ignore[arg-type]
        centres = points_inside(rng, stem, count, canvas.u * 0.075)
    else:
        mask = host_leaf(canvas, vary(rng, (98, 146, 76), 8))
        cluster = Image.new("L", canvas.size, 0)
        disc(ImageDraw.Draw(cluster), canvas.at(0.5, 0.5), canvas.w * 0.36, canvas.h * 0.36, fill=255)  # type: ignore[arg-type]
        cluster.paste(0, mask=mask.point(lambda value: 255 - value))
        centres = points_inside(rng, cluster, count, canvas.u * 0.115)
    for centre in sorted(centres, key=lambda point: point[1]):
        size = canvas.u * rng.uniform(0.11, 0.19)
        canvas.place(aphid_tile(round(size), vary(rng, body, 8), legs), centre, rng.uniform(0, 360), 0.008)


def butterfly(canvas: Canvas, wing: Colour, tip: Colour) -> None:
    """A pale butterfly with dark wing tips on a leaf."""
    host_leaf(canvas, (90, 134, 92), "round")
    n = round(canvas.u * 0.9)
    tile = Image.new("RGBA", (n, n), (0, 0, 0, 0))
    draw = ImageDraw.Draw(tile)
    for side in (-1, 1):
        fore = [
            (0.5, 0.4),
            (0.5 + side * 0.2, 0.2),
            (0.5 + side * 0.44, 0.12),
            (0.5 + side * 0.43, 0.3),
            (0.5 + side * 0.3, 0.5),
            (0.5, 0.52),
        ]
        hind = [
            (0.5, 0.5),
            (0.5 + side * 0.3, 0.48),
            (0.5 + side * 0.36, 0.66),
            (0.5 + side * 0.24, 0.8),
            (0.5 + side * 0.1, 0.76),
        ]
        draw.polygon([(x * n, y * n) for x, y in hind], fill=(*shade(wing, 0.93), 255))
        draw.polygon([(x * n, y * n) for x, y in fore], fill=(*wing, 255))
        corner = [(0.5 + side * 0.32, 0.155), (0.5 + side * 0.44, 0.12), (0.5 + side * 0.435, 0.24)]
        draw.polygon([(x * n, y * n) for x, y in corner], fill=(*tip, 255))
        for x, y in ((0.26, 0.32), (0.24, 0.43)):
            disc(draw, ((0.5 + side * x) * n, y * n), 0.024 * n, fill=(*tip, 255))
        for end in ((0.34, 0.22), (0.36, 0.32), (0.28, 0.46)):
            draw.line(
                [(0.5 * n, 0.45 * n), ((0.5 + side * end[0]) * n, end[1] * n)], fill=(206, 202, 184, 255), width=3
            )
        draw.line([(0.5 * n, 0.36 * n), ((0.5 + side * 0.09) * n, 0.2 * n)], fill=BLACK, width=4)
    disc(draw, (0.5 * n, 0.54 * n), 0.032 * n, 0.18 * n, fill=(78, 74, 70, 255))
    disc(draw, (0.5 * n, 0.36 * n), 0.034 * n, fill=(62, 58, 54, 255))
    canvas.place(tile, canvas.at(0.5, 0.5), canvas.rng.uniform(-35, 35), 0.03)
