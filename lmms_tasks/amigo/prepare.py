"""`lmms-tasks prepare amigo`: episodes from a folder of images and a table of their attributes."""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.amigo.episode import Protocol
from lmms_tasks.amigo.gallery import same_looking
from lmms_tasks.amigo.rows import same_image, table_fault
from lmms_tasks.utils.text_file import read_text

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
    if options.size < 2:
        raise SystemExit(f"A gallery of {options.size} has nothing to ask about: give --size 2 or more.")
    if options.episodes is not None and options.episodes < 1:
        raise SystemExit(f"{options.episodes} episodes cannot be built: give --episodes 1 or more, or leave it out.")
    if not options.images.is_dir():
        raise SystemExit(f"There is no folder {options.images}: correct --images.")
    if options.output.is_dir():
        raise SystemExit(f"{options.output} is a folder: name a file in it with --output.")
    tables = read_tables(options.attributes)
    missing = sorted(name for name in tables if not (options.images / name).is_file())
    if missing:
        raise SystemExit(f"{options.images} lacks {len(missing)} images of the table, such as {missing[0]}.")
    names = list(tables)
    if pair := same_image([str(options.images / name) for name in names]):
        first, second = (names[position - 1] for position in pair)
        raise SystemExit(f"{first} and {second} in {options.images} are the same image: leave one out of the table.")
    if len(tables) < options.size:
        raise SystemExit(
            f"{options.attributes} has {len(tables)} images, fewer than a gallery of {options.size}: give a smaller --size."
        )
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
    text = read_text(path)
    pairs = _json_pairs(text, path) if path.suffix == ".json" else _csv_pairs(text, path)
    tables: Tables = {}
    for name, table in pairs:
        if fault := table_fault(table):
            raise SystemExit(f"{path}: image {name}: {fault}.")
        if tables.setdefault(name, table) != table:
            raise SystemExit(f"{path}: the image {name} is there twice, with different attributes: keep one of them.")
    return tables


def _json_pairs(text: str, path: Path) -> list[tuple[str, dict[str, Any]]]:
    try:
        # Pairs, since an image that is there twice must be seen.
        found = json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        raise SystemExit(f"{path} is no JSON ({error}).") from None
    if not isinstance(found, _Pairs) or not all(isinstance(table, _Pairs) for _, table in found):
        raise SystemExit(f'{path} is no JSON object of the form {{"file name": {{"slot": "value"}}}}.')
    return [
        (name, {slot: dict(value) if isinstance(value, _Pairs) else value for slot, value in table})
        for name, table in found
    ]


class _Pairs(list):
    """A JSON object as its pairs."""


def _csv_pairs(text: str, path: Path) -> list[tuple[str, dict[str, Any]]]:
    reader = csv.reader(io.StringIO(text, newline=""))
    pairs: list[tuple[str, dict[str, Any]]] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        if "image" not in header:
            raise SystemExit(f"{path}: column image is missing (found: {', '.join(header) or 'nothing'}).")
        if twice := [name for name in header if name and header.count(name) > 1]:
            raise SystemExit(f"{path}: the column {twice[0]} is there twice: keep one of them.")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{path}, line {reader.line_num}"
            nameless = [cell for at, cell in enumerate(cells) if cell.strip() and (at >= len(header) or not header[at])]
            if nameless:
                raise SystemExit(
                    f"{where}: {nameless[0].strip()!r} stands under no column name; quote cells with commas."
                )
            row = dict(zip(header, (*cells, *[""] * len(header)), strict=False))
            if not row["image"].strip():
                raise SystemExit(f"{where}: the column image is empty.")
            table = {slot: _value(cell) for slot, cell in row.items() if slot and slot != "image"}
            pairs.append((row["image"].strip(), table))
    except csv.Error as error:
        raise SystemExit(f"{path}, line {reader.line_num}: this is no CSV ({error}).") from None
    if not pairs:
        raise SystemExit(f"{path} has no rows: correct --attributes.")
    return pairs


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


def _value(text: str) -> Any:
    parts = [part.strip() for part in text.split("|") if part.strip()]
    return "unsure" if not parts else parts[0] if len(parts) == 1 else parts
