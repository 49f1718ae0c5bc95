"""Draws the shipped episodes: `python -m lmms_tasks.amigo.samples.draw` writes `episodes.parquet` anew, byte for byte.

The members of a gallery share colour, background and sleeve length, and differ in attributes that may be asked for.
These are no data of AMIGO's: scores on them say that a run works, and compare with nothing.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.amigo.agents import greedy
from lmms_tasks.amigo.episode import Episode, Protocol, new_transcript, play, prompt
from lmms_tasks.amigo.gallery import same_looking
from lmms_tasks.amigo.oracle import AttributeOracle

FILE = Path(__file__).parent / "episodes.parquet"
SEED = 20260401
# (images in a gallery, galleries, slots that differ): every position is the target's equally often in each tier.
TIERS = ((5, 3, 4), (10, 2, 6), (20, 2, 8), (30, 3, 10))
VALUES: Mapping[str, tuple[str, ...]] = {
    "neckline": ("round", "v", "square", "boat", "high", "collar"),
    "silhouette": ("a_line", "fitted", "loose", "mermaid"),
    "hem_length": ("mini", "knee", "midi", "maxi"),
    "sleeve_shape": ("straight", "puff", "bell"),
    "print": ("plain", "floral", "striped", "dotted", "checked"),
    "closure": ("none", "buttons", "zipper"),
    **dict.fromkeys(("belt", "slit", "pockets", "ruffles", "bow", "pleats", "tiers"), ("no", "yes")),
}
COLOURS = {"blue": (86, 122, 190), "green": (92, 158, 112), "red": (196, 92, 92), "violet": (144, 104, 176)}
BACKGROUNDS = {"cream": (246, 241, 230), "grey": (226, 229, 233), "sky": (222, 236, 245)}


def gallery(size: int, differing: int, draw: random.Random) -> list[dict[str, str]]:
    """Attribute tables of `size` dresses that differ in `differing` slots, all of them distinct by allowed questions."""
    shared = {
        "color": draw.choice(sorted(COLOURS)),
        "background": draw.choice(sorted(BACKGROUNDS)),
        "sleeve_length": draw.choice(("short", "long")),
    }
    base = {slot: draw.choice(values) for slot, values in VALUES.items()}
    slots = draw.sample(sorted(VALUES), differing)
    tables: list[dict[str, str]] = []
    while len(tables) < size:
        table = {**shared, **base, **{slot: draw.choice(VALUES[slot]) for slot in slots}}
        if table not in tables:
            tables.append(table)
    return tables


def turns_needed(tables: Sequence[Mapping[str, Any]], gold: int) -> int | None:
    """How many turns greedy needs for a target, None where it fails or is Skipped."""
    row = {"n_images": len(tables), "attributes": json.dumps(tables)}
    episode, protocol = Episode("trial", len(tables), gold, tables), Protocol()
    transcript, oracle = new_transcript(), AttributeOracle(episode)
    while transcript["end"] is None:
        reply = greedy(row, prompt(transcript, episode, protocol))
        transcript = play(transcript, reply, episode, protocol, oracle)
    turns = transcript["turns"]
    solved = transcript["end"] == "guess" and turns[-1]["guess"] == gold and not turns[-1]["premature"]
    return len(turns) if solved and all(turn["oracle_shown"] != "Skip" for turn in turns) else None


def solvable_gallery(size: int, differing: int, draw: random.Random) -> list[dict[str, str]]:
    """A gallery whose every member greedy finds under the rules, in log2(size) + 2 turns on average."""
    while True:
        tables = gallery(size, differing, draw)
        turns = [turns_needed(tables, gold) for gold in range(1, size + 1)]
        if (
            None not in turns
            and sum(turns) / size <= math.log2(size) + 1.9
            and same_looking(tables, Protocol().prohibited) is None
        ):
            return tables


def rows() -> Iterator[dict[str, Any]]:
    """The episodes: in each tier every gallery gets its share of the positions, so that each occurs equally often."""
    from lmms_tasks.amigo.samples.dress import Dress

    draw = random.Random(SEED)
    for size, galleries, differing in TIERS:
        rounds = 1 if size > 10 else galleries  # a small tier plays every position of every gallery
        for number in range(galleries):
            tables = solvable_gallery(size, differing, draw)
            name = f"drawn-{size:02d}-{number + 1}"
            images = [Dress(table, COLOURS[table["color"]], BACKGROUNDS[table["background"]]).png() for table in tables]
            own = range(1, size + 1) if rounds > 1 else range(number + 1, size + 1, galleries)
            for gold in own:
                yield {
                    "episode_id": f"{name}-{gold:02d}",
                    "gallery_id": name,
                    "images": [{"bytes": data, "path": None} for data in images],
                    "gold_idx": gold,
                    "n_images": size,
                    "attributes": json.dumps(tables),
                    "source": "drawn for lmms-tasks",
                    "license": "MIT",
                    "tier": str(size),
                }


def write(path: Path = FILE) -> None:
    """Write the episodes; equal images are stored once."""
    import datasets
    import pyarrow.parquet

    text, number = datasets.Value("string"), datasets.Value("int64")
    features = datasets.Features(
        {
            "episode_id": text,
            "gallery_id": text,
            "images": datasets.List(datasets.Image()),
            "gold_idx": number,
            "n_images": number,
            "attributes": text,
            "source": text,
            "license": text,
            "tier": text,
        }
    )
    table = datasets.Dataset.from_list(list(rows()), features=features).data.table
    pyarrow.parquet.write_table(table, path, compression="zstd", dictionary_pagesize_limit=2**26, row_group_size=10**6)


if __name__ == "__main__":
    write()
