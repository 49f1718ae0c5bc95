"""The scenes by name; each draws on a canvas whose random numbers come from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from PIL import Image

from lmms_tasks.mirage.samples import flowers, foliage, ground, insects, plants, produce
from lmms_tasks.mirage.samples.canvas import Canvas

# Each scene with the ground on which it lies if its row names none.
SCENES: Mapping[str, tuple[Callable[..., None], str]] = {
    "aphids": (insects.aphids, "foliage"),
    "bare_tree": (plants.bare_tree, "sky"),
    "beetle": (insects.beetle, "foliage"),
    "blade": (foliage.blade, "foliage"),
    "bulbs": (produce.bulbs, "wood"),
    "butterfly": (insects.butterfly, "foliage"),
    "canes": (plants.canes, "foliage"),
    "caterpillar": (insects.caterpillar, "foliage"),
    "eggs": (insects.eggs, "foliage"),
    "flower": (flowers.flower, "foliage"),
    "fruit": (produce.fruit, "foliage"),
    "gall": (produce.gall, "foliage"),
    "grass": (ground.grass, "lawn"),
    "grubs": (insects.grubs, "soil"),
    "hooded_flower": (plants.hooded_flower, "soil"),
    "lawn": (ground.lawn, "lawn"),
    "leaf": (foliage.leaf_close_up, "foliage"),
    "maize_ear": (produce.maize_ear, "table"),
    "mat": (plants.mat, "soil"),
    "pods": (produce.pods, "foliage"),
    "potted": (plants.potted, "table"),
    "shield_bug": (insects.shield_bug, "wood"),
    "spike_plant": (plants.spike_plant, "sky"),
    "sprig": (plants.sprig, "foliage"),
    "stem_hole": (ground.stem_hole, "soil"),
    "trefoil": (foliage.trefoil, "soil"),
    "trunk": (ground.trunk, "foliage"),
    "tubers": (ground.tubers, "soil"),
    "vine": (plants.vine, "foliage"),
}


def draw(scene: str, seed: str, options: Mapping[str, Any]) -> Image.Image:
    """The picture, RGB. The same scene, seed and options give the same pixels.

    `back` among the options names the ground: foliage, soil, table, sky, concrete, wood or lawn.
    """
    paint, back = SCENES[scene]
    rest = dict(options)
    canvas = Canvas(random.Random(seed), rest.pop("back", back))
    paint(canvas, **rest)
    return canvas.finished()
