"""`lmms-tasks prepare amigo`: episodes from a folder of images and a table of their attributes."""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.amigo.episode import Protocol
from lmms_tasks.amigo.rows import same_looking

Tables = dict[str, dict[str, Any]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--images", required=True, type=Path, metavar="DIR", help="the folder of images")
    parser.add_argument(
        "--attributes",
        required=True,
        type=Path,
        metavar="FILE",
        help="CSV with a column `image` (file name) and one column a slot (several values joined by |, empty: unsure), or a "
        'JSON object {"file name": {"slot": "value"}}',
    )
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="the JSON lines to write")
    parser.add_argument("--size", type=int, default=10, help="images in a gallery (default 10)")
    parser.add_argument("--episodes", type=int, help="how many (default: as many as there are images for)")
    parser.add_argument("--seed", type=int, default=0, help="chooses galleries, orders and targets")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the episodes; the exit code is 0.

    Raises:
        SystemExit: the table cannot be read, an image is missing, or no gallery can be made.
    """
    tables = read_tables(options.attributes)
    missing = sorted(name for name in tables if not (options.images / name).is_file())
    if missing:
        raise SystemExit(f"{options.images} lacks {len(missing)} images of the table, such as {missing[0]}.")
    if options.size < 2:
        raise SystemExit(f"A gallery of {options.size} has nothing to ask about: give --size 2 or more.")
    wanted = options.episodes or len(tables) // options.size
    rows = list(build(tables, options.size, wanted, options.seed, options.images.resolve()))
    if not rows:
        raise SystemExit(
            f"No gallery of {options.size} images can be made whose members differ in an attribute that may be asked for: "
            "give more images or slots, or a smaller --size."
        )
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(
        f"{len(rows)} episodes of {options.size} images: {options.output}. Play them with AMIGO_DATA={options.output}."
    )
    return 0


def read_tables(path: Path) -> Tables:
    """The attribute table of each image by file name."""
    if not path.is_file():
        raise SystemExit(f"There is no file {path}: correct --attributes.")
    if path.suffix == ".json":
        found = json.loads(path.read_text(encoding="utf-8-sig"))
        if not isinstance(found, dict) or not all(isinstance(table, dict) for table in found.values()):
            raise SystemExit(f'{path} is no JSON object of the form {{"file name": {{"slot": "value"}}}}.')
        return found
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or "image" not in rows[0]:
        raise SystemExit(f"{path}: column image is missing (found: {', '.join(rows[0]) if rows else 'nothing'}).")
    return {
        row["image"]: {slot: _value(text) for slot, text in row.items() if slot and slot != "image"} for row in rows
    }


def build(tables: Tables, size: int, count: int, seed: int, folder: Path) -> Sequence[dict[str, Any]]:
    """At most `count` episodes; an image is in one gallery only, until all have been in one.

    A gallery begins with an image drawn at random and takes those that are most like it, provided that an allowed question
    tells every two apart. Targets go through all positions in turn, so that each occurs equally often.
    """
    draw = random.Random(seed)
    prohibited = Protocol().prohibited
    positions: list[int] = []
    rows: list[dict[str, Any]] = []
    unused: list[str] = []
    idle = 0  # galleries in a row that could not be filled
    while len(rows) < count and idle < len(tables):
        if len(unused) < size:
            unused = sorted(tables)
            draw.shuffle(unused)
        first = unused.pop()
        members = [first]
        for name in sorted(unused, key=lambda name: (-_alike(tables[first], tables[name]), name)):
            if same_looking([tables[one] for one in (*members, name)], prohibited) is None:
                members.append(name)
            if len(members) == size:
                break
        if len(members) < size:
            idle += 1
            continue
        idle = 0
        unused = [name for name in unused if name not in members]
        draw.shuffle(members)
        if not positions:
            positions = draw.sample(range(1, size + 1), size)
        number = len(rows) + 1
        rows.append(
            {
                "episode_id": f"prepared-{seed}-{number:05d}",
                "gallery_id": f"prepared-{seed}-{number:05d}",
                "images": [str(folder / name) for name in members],
                "gold_idx": positions.pop(),
                "n_images": size,
                "attributes": [tables[name] for name in members],
                "source": "prepared from the user's images",
                "tier": str(size),
            }
        )
    return rows


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    return sum(one[slot] == other[slot] for slot in one.keys() & other.keys())


def _value(text: str | None) -> Any:
    parts = [part.strip() for part in (text or "").split("|") if part.strip()]
    return "unsure" if not parts else parts[0] if len(parts) == 1 else parts
