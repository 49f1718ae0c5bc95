"""Rows of AMIGO: one episode a row, checked one by one before anything is played."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks.amigo.episode import Episode, Protocol
from lmms_tasks.amigo.gallery import MISREAD, not_askable, same_looking
from lmms_tasks.amigo.lexicon import Slot
from lmms_tasks.amigo.tables import slots_for
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
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")
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
    """The target's position, counted from 1.

    Raises:
        ValueError: `gold_idx` is no whole number.
    """
    if row.get("gold_idx") not in (None, ""):
        return _whole_number(row["gold_idx"])
    name = row.get("gallery_id") or row["episode_id"]
    return 1 + int.from_bytes(hashlib.sha256(f"{_GOLD_SEED}|{name}".encode()).digest()[:8], "big") % size


def _whole_number(value: Any) -> int:
    # Sources differ in types: 2, "2", and 2.0 or "2.0" from a column that was read as floats, are one number.
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ValueError(f"{value!r} is no whole number")


def tables_of(row: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The attribute tables of the images, from a list or its JSON text; () where the row has none."""
    return _read_tables(_tables_text(row))[0]


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
    """SHA-256 over what decides an episode's answers, the pixels apart (see `gallery_hash`).

    Transcripts are scored without images, and find their rows by this.
    """
    size = int(row["n_images"])
    return _fingerprint(str(row["episode_id"]), size, gold_of(row, size), _tables_text(row))


@lru_cache(maxsize=256)
def _fingerprint(episode_id: str, size: int, gold: int, tables: str) -> str:
    content = json.dumps([episode_id, size, gold, list(_read_tables(tables)[0])], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def gallery_hash(row: Mapping[str, Any]) -> str:
    """SHA-256 over the images of a row in their order, as they lie on the disk: nothing is decoded.

    Raises:
        SystemExit: an image cannot be read; the sentence names it.
    """
    digest = hashlib.sha256()
    for value in image_column_values(row):
        digest.update(_image_digest(value))
    return digest.hexdigest()


def _image_digest(value: Any) -> bytes:
    data = value.get("bytes") if isinstance(value, Mapping) else None
    if not data and (path := _path(value)) is not None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise SystemExit(f"The image {path} cannot be opened: {error}.") from None
    if data is None:  # an image that was decoded by somebody else
        data = f"{value.mode} {value.size} ".encode() + value.tobytes()
    return hashlib.sha256(data).digest()


def check_tables(dataset: datasets.Dataset, protocol: Protocol) -> None:
    """End the run where a protocol's questions cannot play the rows' tables.

    Raises:
        SystemExit: a value of a table cannot be asked for by its name, or no question that the protocol allows tells two
            images apart; the sentence names each row, and of its values the first.
    """
    faults: list[str] = []
    forbidden: dict[str, str] = {}
    read: dict[str, str | None] = {}  # episodes share their gallery's tables
    for number, row in enumerate(dataset):
        text = _tables_text(row)
        if text not in read:
            read[text] = _tables_fault(tables_of(row), protocol.prohibited, forbidden)
        if read[text]:
            faults.append(f"row {number} ({row['episode_id']}) {read[text]}")
    if faults:
        more = f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise SystemExit(f"AMIGO rows: {'; '.join(faults[:_SHOWN])}{more}. Correct or remove these rows.")
    if forbidden:
        value, rule = next(iter(forbidden.items()))
        logger.warning(
            f"AMIGO rows: the rules forbid to ask for {len(forbidden)} values of the tables: {value} ({rule})."
        )


def _tables_fault(
    tables: Sequence[Mapping[str, Any]], prohibited: Iterable[str], forbidden: dict[str, str]
) -> str | None:
    """What is wrong with a gallery's tables; values that a rule forbids to ask for are added to `forbidden`."""
    prohibited = tuple(prohibited)
    own: dict[str, str] = {}
    for slot, value, why in not_askable(tables, prohibited):
        if why == MISREAD:
            return f"has {slot}: {value} in its tables, which cannot be asked for by that name"
        own[f"{slot}: {value}"] = why
    forbidden.update(own)
    if pair := same_looking(tables, prohibited):
        reason = next((f" ({value} breaks {rule})" for value, rule in own.items()), "")
        return f"has images {pair[0]} and {pair[1]}, which no allowed question can tell apart{reason}"
    return None


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
    gold = None
    try:
        gold = gold_of(row, size)
    except ValueError as error:
        yield f"has a gold_idx that cannot be read ({error})"
    tables: Sequence[Mapping[str, Any]] = ()
    try:
        tables = tables_of(row)
        wrong = next((fault for fault in map(table_fault, tables) if fault), None)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        wrong = str(error)
    if wrong:
        yield f"has attributes that cannot be read ({wrong})"
        tables = ()
    if gold is not None and not 1 <= gold <= size:
        yield f"has gold_idx {gold}, outside 1 to {size}"
    if tables and len(tables) != size:
        yield f"has {len(tables)} attribute tables for {size} images"
    if pair := same_image(image_column_values(row)):
        yield f"has the same image at {pair[0]} and {pair[1]}"


def table_fault(table: Mapping[str, Any]) -> str | None:
    """What is wrong with an image's attribute table: a value is a text, a number, true or false, or a list of these."""
    for slot, value in table.items():
        if not all(
            isinstance(one, str | int | float) for one in (value if isinstance(value, list | tuple) else [value])
        ):
            return f"the value of {slot} is {json.dumps(value, default=str)[:60]}, neither a text nor a list of texts"
    return None


def same_image(values: Sequence[Any]) -> tuple[int, int] | None:
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
