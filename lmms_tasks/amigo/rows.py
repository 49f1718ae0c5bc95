"""Rows of AMIGO: one episode a row, checked one by one before anything is played."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks.amigo.episode import Episode, Protocol
from lmms_tasks.amigo.lexicon import UNSURE, Slot, slots_for, value_text
from lmms_tasks.utils.images import count_images, image_column_values, leave_images_encoded
from lmms_tasks.utils.rows import Schema, require_columns

if TYPE_CHECKING:
    import datasets

EPISODES = Schema(
    word="episodes",
    required=("episode_id",),
    optional=("gallery_id", "gold_idx", "n_images", "attributes", "source", "license", "tier"),
)
# The task card's number; whether it counts episodes is not known, so another number is a warning.
OFFICIAL_ROWS = 4587
_GOLD_SEED = 0
_SHOWN = 20  # invalid rows that a message names


def select(dataset: datasets.Dataset) -> datasets.Dataset:
    """All rows in their order, images left encoded, with a column `n_images`.

    Raises:
        SystemExit: a column is missing, or rows are invalid; the sentence names each of them.
    """
    require_columns(dataset.column_names, EPISODES, "AMIGO rows")
    dataset = leave_images_encoded(dataset)
    counts = count_images(dataset)
    if any(counts):
        # Without images (scoring transcripts) the number comes with the rows.
        if "n_images" in dataset.column_names:
            dataset = dataset.remove_columns("n_images")
        dataset = dataset.add_column("n_images", counts)
    faults = list(_faults(dataset))
    if faults:
        more = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise SystemExit(f"AMIGO rows: {'; '.join(faults[:_SHOWN])}{more}. Correct or remove these rows.")
    sources = set(dataset["source"]) if "source" in dataset.column_names else set()
    if (
        any(str(source).strip().casefold() in ("amigo", "official") for source in sources)
        and len(dataset) != OFFICIAL_ROWS
    ):
        logger.warning(
            f"These rows call themselves AMIGO's own, and are {len(dataset):,}; the data set is said to have {OFFICIAL_ROWS:,}."
        )
    return dataset


def episode_of(row: Mapping[str, Any]) -> Episode:
    """The episode of a valid row. A row without `gold_idx` gets one from its gallery's name, the same in every run."""
    size = int(row["n_images"])
    tables, slots = _read_tables(_tables_text(row))
    return Episode(str(row["episode_id"]), size, gold_of(row, size), tables, slots)


def gold_of(row: Mapping[str, Any], size: int) -> int:
    """The target's position, counted from 1."""
    if row.get("gold_idx") not in (None, ""):
        return int(row["gold_idx"])
    name = row.get("gallery_id") or row["episode_id"]
    return 1 + int.from_bytes(hashlib.sha256(f"{_GOLD_SEED}|{name}".encode()).digest()[:8], "big") % size


def tables_of(row: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The attribute tables of the images, from a list or its JSON text; () where the row has none."""
    return _read_tables(_tables_text(row))[0]


def slots_of(row: Mapping[str, Any]) -> tuple[Slot, ...]:
    """The lexicon of the row's episode."""
    return _read_tables(_tables_text(row))[1]


def _tables_text(row: Mapping[str, Any]) -> str:
    found = row.get("attributes")
    return found if isinstance(found, str) else json.dumps(found or [])


@lru_cache(maxsize=256)  # every turn of an episode reads its tables
def _read_tables(text: str) -> tuple[tuple[dict[str, Any], ...], tuple[Slot, ...]]:
    found = json.loads(text) if text.strip() else None
    # A parquet struct has every key in every row; None stands for its absence.
    tables = tuple({slot: value for slot, value in table.items() if value is not None} for table in found or ())
    return tables, slots_for(tables)


def fingerprint(row: Mapping[str, Any]) -> str:
    """SHA-256 over what decides an episode's answers, the pixels apart."""
    size = int(row["n_images"])
    return _fingerprint(str(row["episode_id"]), size, gold_of(row, size), _tables_text(row))


@lru_cache(maxsize=256)
def _fingerprint(episode_id: str, size: int, gold: int, tables: str) -> str:
    content = json.dumps([episode_id, size, gold, list(_read_tables(tables)[0])], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def same_looking(tables: Sequence[Mapping[str, Any]], prohibited: Iterable[str]) -> tuple[int, int] | None:
    """The first two positions (from 1) that no allowed question with a Yes for one and a No for the other tells apart."""
    allowed = [_allowed(table, set(prohibited)) for table in tables]
    for second in range(1, len(allowed)):
        for first in range(second):
            one, other = allowed[first], allowed[second]
            if not any(one[slot] != other[slot] for slot in one.keys() & other.keys()):
                return first + 1, second + 1
    return None


def _allowed(table: Mapping[str, Any], prohibited: set[str]) -> dict[str, frozenset[str]]:
    values = {
        slot: frozenset(value_text(one) for one in (value if isinstance(value, list | tuple) else [value]))
        for slot, value in table.items()
        if slot not in prohibited
    }
    return {slot: held for slot, held in values.items() if UNSURE not in held}


def _faults(dataset: datasets.Dataset) -> Iterable[str]:
    seen: dict[str, int] = {}
    for number, row in enumerate(dataset):
        name = f"row {number} ({row['episode_id']})"
        if not str(row["episode_id"] or "").strip():
            yield f"row {number} has no episode_id"
        elif str(row["episode_id"]) in seen:
            yield f"{name} has the episode_id of row {seen[str(row['episode_id'])]}"
        seen.setdefault(str(row["episode_id"]), number)
        yield from (f"{name} {fault}" for fault in _row_faults(row))


def _row_faults(row: Mapping[str, Any]) -> Iterable[str]:
    try:
        size = int(row.get("n_images") or 0)
    except ValueError:
        size = 0
    if size < 1:
        yield "has no images"
        return
    try:
        gold, tables = gold_of(row, size), tables_of(row)
    except (ValueError, AttributeError, TypeError) as error:
        yield f"has a gold_idx or attributes that cannot be read ({error})"
        return
    if not 1 <= gold <= size:
        yield f"has gold_idx {gold}, outside 1 to {size}"
    if tables and len(tables) != size:
        yield f"has {len(tables)} attribute tables for {size} images"
    elif tables and (pair := same_looking(tables, Protocol().prohibited)):
        yield f"has images {pair[0]} and {pair[1]}, which no allowed question can tell apart"
    if pair := _same_image(image_column_values(row)):
        yield f"has the same image at {pair[0]} and {pair[1]}"


def _same_image(values: Sequence[Any]) -> tuple[int, int] | None:
    """The first two positions (from 1) with the same encoded image. Files are read only where their sizes agree."""
    seen: dict[Any, int] = {}
    sizes: dict[int, int] = {}
    paths = [_path(value) for value in values]
    for path in filter(None, paths):
        size = path.stat().st_size if path.is_file() else -1
        sizes[size] = sizes.get(size, 0) + 1
    for position, (value, path) in enumerate(zip(values, paths, strict=True), start=1):
        data = value.get("bytes") if isinstance(value, Mapping) else None
        if data:
            key: Any = hashlib.sha256(data).digest()
        elif path is not None and path.is_file() and sizes[path.stat().st_size] > 1:
            key = hashlib.sha256(path.read_bytes()).digest()
        else:
            key = str(path)
        if key in seen:
            return seen[key], position
        seen[key] = position
    return None


def _path(value: Any) -> Path | None:
    if isinstance(value, Mapping):
        return Path(value["path"]) if value.get("path") and not value.get("bytes") else None
    return Path(value) if isinstance(value, str) else None
