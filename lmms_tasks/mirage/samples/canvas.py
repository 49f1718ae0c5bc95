"""A seeded canvas with backgrounds, soft shadows and uneven colour, from which the sample pictures are composed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

Colour = tuple[int, int, int]
Point = tuple[float, float]

# Shapes are drawn three times as large and reduced at the end, since Pillow draws edges without smoothing.
SCALE = 3
SIZES = ((240, 180), (180, 240), (210, 210), (224, 168), (200, 250), (260, 195))


def shade(colour: Colour, factor: float) -> Colour:
    """Darker (factor < 1) or lighter (factor > 1)."""
    red, green, blue = (min(255, max(0, round(value * factor))) for value in colour)
    return red, green, blue


def mix(one: Colour, other: Colour, part: float) -> Colour:
    """`one` at part 0, `other` at part 1."""
    red, green, blue = (round(a + (b - a) * part) for a, b in zip(one, other, strict=True))
    return red, green, blue


def vary(rng: random.Random, colour: Colour, amount: int = 10) -> Colour:
    """The colour with a random offset in each channel."""
    red, green, blue = (min(255, max(0, value + rng.randint(-amount, amount))) for value in colour)
    return red, green, blue


def curve(start: Point, control: Point, end: Point, steps: int = 24) -> list[Point]:
    """Points of a quadratic Bezier curve."""
    points = []
    for step in range(steps + 1):
        t = step / steps
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
        points.append((a * start[0] + b * control[0] + c * end[0], a * start[1] + b * control[1] + c * end[1]))
    return points


def polar(centre: Point, angle: float, distance: float) -> Point:
    """The point at `angle` (radians, clockwise from the right, since y runs down)."""
    return centre[0] + math.cos(angle) * distance, centre[1] + math.sin(angle) * distance


def disc(
    draw: ImageDraw.ImageDraw, centre: Point, rx: float, ry: float | None = None, fill: tuple | None = None
) -> None:
    """A filled ellipse by its centre and half axes."""
    ry = rx if ry is None else ry
    draw.ellipse((centre[0] - rx, centre[1] - ry, centre[0] + rx, centre[1] + ry), fill=fill)


def taper(draw: ImageDraw.ImageDraw, points: Sequence[Point], start: float, end: float, fill: tuple) -> None:
    """A line of round dabs whose width runs from `start` to `end` pixels."""
    last = max(1, len(points) - 1)
    for index in range(last):
        (x0, y0), (x1, y1) = points[index], points[index + 1]
        steps = max(1, int(math.hypot(x1 - x0, y1 - y0) / 2))
        for step in range(steps):
            t = step / steps
            radius = (start + (end - start) * (index + t) / last) / 2
            disc(draw, (x0 + (x1 - x0) * t, y0 + (y1 - y0) * t), max(0.6, radius), fill=fill)


def noise(rng: random.Random, size: tuple[int, int], cell: float) -> np.ndarray:
    """Smooth values in about [-1, 1], shape (height, width), that change over `cell` pixels."""
    width, height = size
    grid = np.random.default_rng(rng.getrandbits(32)).random((int(height / cell) + 3, int(width / cell) + 3))
    small = Image.fromarray((grid * 255).astype(np.uint8))
    return np.asarray(small.resize(size, Image.Resampling.BICUBIC), dtype=np.float32) / 127.5 - 1


def uneven(rng: random.Random, layer: Image.Image, amount: float, cell: float) -> Image.Image:
    """The layer (RGBA) with brightness that wanders by up to `amount`."""
    pixels = np.asarray(layer, dtype=np.float32).copy()
    pixels[..., :3] *= (1 + amount * noise(rng, layer.size, cell))[..., None]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8), "RGBA")


def clipped(overlay: Image.Image, mask: Image.Image) -> Image.Image:
    """The overlay (RGBA) where the mask (L) lets it through."""
    result = overlay.copy()
    result.putalpha(ImageChops.multiply(overlay.getchannel("A"), mask))
    return result


GROUND: dict[str, Colour] = {
    "foliage": (72, 98, 56),
    "soil": (112, 86, 64),
    "table": (214, 200, 178),
    "sky": (172, 204, 228),
    "concrete": (182, 180, 174),
    "wood": (186, 152, 112),
    "lawn": (96, 128, 70),
}


class Canvas:
    """One picture in the making. `u` is the shorter side in pixels; `at` turns fractions into pixels."""

    def __init__(self, rng: random.Random, back: str) -> None:
        self.rng = rng
        width, height = rng.choice(SIZES)
        self.size = (width * SCALE, height * SCALE)
        self.w, self.h = self.size
        self.u = min(self.size)
        self.image = self._background(back)

    def at(self, x: float, y: float) -> Point:
        return x * self.w, y * self.h

    def layer(self) -> tuple[Image.Image, ImageDraw.ImageDraw]:
        """A clear layer and a pencil for it."""
        layer = Image.new("RGBA", self.size, (0, 0, 0, 0))
        return layer, ImageDraw.Draw(layer)

    def put(self, layer: Image.Image, shadow: float = 0.02) -> None:
        """Lay the layer on the picture, with a soft shadow at `shadow` of the shorter side."""
        if shadow:
            offset = round(self.u * shadow)
            alpha = layer.getchannel("A").filter(ImageFilter.BoxBlur(offset * 0.7)).point(lambda value: value * 0.42)
            dark = Image.new("RGBA", self.size, (18, 20, 14, 0))
            moved = Image.new("L", self.size, 0)
            moved.paste(alpha, (offset, offset))
            dark.putalpha(moved)
            self.image.alpha_composite(dark)
        self.image.alpha_composite(layer)

    def place(self, tile: Image.Image, centre: Point, angle: float, shadow: float = 0.018) -> None:
        """Lay a square tile on the picture, turned by `angle` degrees."""
        turned = tile.rotate(angle, Image.Resampling.BICUBIC, expand=True)
        layer = Image.new("RGBA", self.size, (0, 0, 0, 0))
        layer.paste(turned, (round(centre[0] - turned.width / 2), round(centre[1] - turned.height / 2)))
        self.put(layer, shadow)

    def finished(self) -> Image.Image:
        """The reduced picture, RGB, with slight unevenness of light."""
        lit = uneven(self.rng, self.image, 0.07, self.u * 0.7)
        return lit.convert("RGB").resize((self.w // SCALE, self.h // SCALE), Image.Resampling.LANCZOS)

    def _background(self, back: str) -> Image.Image:
        rng, size = self.rng, self.size
        colour = vary(rng, GROUND[back], 8)
        image = Image.new("RGBA", size, (*colour, 255))
        draw = ImageDraw.Draw(image)
        if back == "foliage":
            for _ in range(46):
                tone = mix(colour, (148, 172, 96), rng.random() * 0.5) if rng.random() < 0.6 else shade(colour, 0.6)
                radius = self.u * rng.uniform(0.05, 0.2)
                disc(draw, (rng.random() * self.w, rng.random() * self.h), radius, radius * 0.7, fill=(*tone, 255))
            image = image.filter(ImageFilter.GaussianBlur(self.u * 0.035))
        elif back == "soil":
            image = uneven(rng, uneven(rng, image, 0.3, self.u * 0.05), 0.12, self.u * 0.3)
            draw = ImageDraw.Draw(image)
            for _ in range(90):
                tone = shade(colour, rng.uniform(0.55, 1.3))
                radius = self.u * rng.uniform(0.005, 0.02)
                disc(draw, (rng.random() * self.w, rng.random() * self.h), radius, radius * 0.75, fill=(*tone, 255))
        elif back == "lawn":
            for _ in range(700):
                x, y = rng.random() * self.w, rng.random() * self.h * 1.1
                tone = shade(vary(rng, colour, 8), rng.uniform(0.7, 1.25))
                tip = (x + rng.uniform(-0.05, 0.05) * self.u, y - rng.uniform(0.06, 0.14) * self.u)
                draw.line([(x, y), tip], fill=(*tone, 255), width=round(self.u * 0.008))
            image = image.filter(ImageFilter.GaussianBlur(self.u * 0.006))
        elif back == "wood":
            for _ in range(26):
                y = rng.random() * self.h
                tone = shade(colour, rng.uniform(0.86, 1.08))
                bend = y + rng.uniform(-0.06, 0.06) * self.h
                draw.line(
                    curve((0, y), (self.w / 2, bend), (self.w, y)), fill=(*tone, 255), width=round(self.u * 0.014)
                )
            image = image.filter(ImageFilter.GaussianBlur(self.u * 0.005))
        elif back == "sky":
            fall = np.linspace(0.86, 1.1, self.h, dtype=np.float32)[:, None, None]
            pixels = np.asarray(image, dtype=np.float32) * np.concatenate([np.repeat(fall, 3, 2), fall * 0 + 1], 2)
            image = uneven(rng, Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8), "RGBA"), 0.05, self.u * 0.4)
        else:
            image = uneven(rng, image, 0.08, self.u * (0.08 if back == "concrete" else 0.5))
        return image
