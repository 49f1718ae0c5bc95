"""Rows of MMDeepResearch-Bench: one research task each, whatever its source calls its columns and images."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_tasks.utils.home import home
from lmms_tasks.utils.images import image_column_values, image_columns, leave_images_encoded, resolve_image
from lmms_tasks.utils.rows import ROW_FILES, Schema, is_recorded_answers, read_json_rows, require_columns

if TYPE_CHECKING:
    import datasets

# Ids 0 to 99 are research, 100 to 139 everyday tasks (`leaderboard_export.py`, 64307c8).
FIRST_DAILY = 100
TASKS = Schema(
    word="multimodal",
    required=("id", "body"),
    optional=("caption", "tags", "language", "difficulty", "regime", "report", "visual_truth"),
)
# The same tasks for a model that is shown no image.
TEXT_TASKS = replace(TASKS, word="text", images=False)
SCHEMAS: Mapping[str, Schema] = {schema.word: schema for schema in (TASKS, TEXT_TASKS)}
_NAMES = {
    "caption": ("caption", "title"),
    "body": ("body", "text", "caption"),
    "regime": ("regime", "set", "split"),
}
_SHARD = re.compile(r"-\d+-of-\d+$")
_DIFFICULTIES = ("easy", "medium", "hard")

# Images by kind of source ("rows" or "samples"): a row that is scored carries none, and a judge needs them.
_IMAGES: dict[str, tuple[dict[str, int], Any]] = {}


def select(dataset: datasets.Dataset, source: str) -> datasets.Dataset:
    """The rows without their images, which stay encoded and are had by `task_images`.

    Columns: `id` (text), `caption`, `body`, `language`, `difficulty`, `tags` (JSON), `regime` ("research" or "daily"),
    `report_type`, `n_images`, and `report` and `visual_truth` where there are such.

    Args:
        source: "rows" or "samples".

    Raises:
        SystemExit: a column is missing, a task has no text, or an id stands twice.
    """
    require_columns(dataset.column_names, TASKS, "MMDeepResearch-Bench rows")
    if "image_url" in dataset.column_names and not image_columns(dataset.column_names):
        dataset = dataset.rename_column("image_url", "images")
    ids = [str(value) for value in dataset["id"]]
    if twice := sorted(name for name, count in Counter(map(task_id, ids)).items() if count > 1):
        raise SystemExit(f"MMDeepResearch-Bench rows: the id {twice[0]} stands twice; ids must be unique.")
    pictures = leave_images_encoded(dataset).select_columns(image_columns(dataset.column_names))
    _IMAGES[source] = ({task_id(value): position for position, value in enumerate(ids)}, pictures)
    texts = dataset.remove_columns(image_columns(dataset.column_names))
    rows = [_row(row, position) for position, row in enumerate(texts)]
    counts = [len(image_column_values(row)) for row in pictures] if pictures.column_names else [0] * len(rows)
    for column in rows[0] if rows else ():
        if column in texts.column_names:
            texts = texts.remove_columns(column)
        texts = texts.add_column(column, [row[column] for row in rows])
    # Texts of the source under their other names would stand twice.
    rest = [name for name in texts.column_names if rows and name not in rows[0]]
    return texts.remove_columns(rest).add_column("n_images", counts)


def count_tasks(source: str) -> int:
    """How many tasks the source has that was read last; 0 before any was."""
    return len(_IMAGES[source][0]) if source in _IMAGES else 0


def task_images(source: str, identity: Any) -> list[Any]:
    """The images of a task in order, unopened; [] where its source has none."""
    if source not in _IMAGES:
        return []
    positions, pictures = _IMAGES[source]
    position = positions.get(task_id(identity))
    if position is None or not pictures.column_names:
        return []
    return image_column_values(pictures[position])


def task_id(value: Any) -> str:
    """The task's official name: "Q5" for 5, "5" and "Q5"."""
    text = str(value).strip()
    return f"Q{int(text)}" if text.isdigit() else text.upper() if re.fullmatch(r"[qQ]\d+", text) else text


def regime_of(row: Mapping[str, Any]) -> str:
    """ "research" or "daily": as the row says, else by its number."""
    told = str(row.get("regime") or "").casefold()
    for regime in ("research", "daily"):
        if regime in told:
            return regime
    number = task_id(row["id"]).removeprefix("Q")
    return "daily" if number.isdigit() and int(number) >= FIRST_DAILY else "research"


def report_type_of(regime: str, difficulty: str) -> str:
    """The official kind of report: research, or daily with its difficulty, "daily_medium" where it is none of three."""
    if regime == "research":
        return "research"
    return f"daily_{difficulty}" if difficulty in _DIFFICULTIES else "daily_medium"


def local_files(source: Path) -> list[Path]:
    """The user's files that hold the tasks: a file, or a folder such as a download of the hub's or the official one.

    JSON rows are rewritten under `home()` with our column names and the images' paths, which the official file gives
    by name alone and in another case than the files have.

    Raises:
        SystemExit: there is no such file, or two could be meant.
    """
    if source.is_file():
        files = [source]
    elif source.is_dir():
        files = _of_folder(source)
    else:
        raise SystemExit(f"There is no file or folder {source}: correct MMDR_DATA, or unset it to use the hub's rows.")
    if files[0].suffix not in ROW_FILES:
        raise SystemExit(f"{source} is no file of tasks: give a .json, .jsonl or .parquet file, or a folder of them.")
    if files[0].suffix == ".parquet":
        return files
    return [_rewritten([row for file in files for row in read_json_rows(file)], files[0])]


def _of_folder(folder: Path) -> list[Path]:
    candidates: dict[tuple[Path, str], list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in ROW_FILES and path.is_file() and "vef" not in path.stem.casefold():
            candidates.setdefault((path.parent, _SHARD.sub("", path.stem)), []).append(path)
    for key in list(candidates):
        if is_recorded_answers(candidates[key][0], TASKS) or not _is_tasks(candidates[key][0]):
            del candidates[key]
    if not candidates:
        raise SystemExit(f"{folder} holds no tasks: a .json, .jsonl or .parquet file with the columns id and body.")
    if len(candidates) > 1:
        first, second = (str(group[0]) for group in list(candidates.values())[:2])
        raise SystemExit(f"Both {first} and {second} could hold the tasks: name the one you mean in MMDR_DATA.")
    return next(iter(candidates.values()))


def _is_tasks(path: Path) -> bool:
    if path.suffix == ".parquet":
        return True
    row = next(iter(read_json_rows(path)), {})
    return "id" in row and bool({"body", "text", "caption"} & row.keys())


def _rewritten(rows: Sequence[Mapping[str, Any]], file: Path) -> Path:
    if not rows:
        raise SystemExit(f"{file} holds no rows.")
    lines = []
    for number, row in enumerate(rows):
        if "id" not in row:
            raise SystemExit(f"{file}: row {number} lacks the column id (found: {', '.join(row)}).")
        named = {column: _first(row, names) for column, names in _NAMES.items()}
        kept = {column: row[column] for column in (*TASKS.required, *TASKS.optional) if column in row}
        images = [_image_path(str(value), file.parent) for value in _listed_images(row)]
        lines.append(json.dumps({**kept, **named, "id": str(row["id"]), "images": images}, ensure_ascii=False))
    content = "\n".join(lines) + "\n"
    target = home() / "rows" / f"mmdr_{hashlib.sha256(content.encode()).hexdigest()[:32]}.jsonl"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        partial.write_text(content, encoding="utf-8")
        partial.replace(target)
    return target


def _listed_images(row: Mapping[str, Any]) -> list[Any]:
    value = next((row[name] for name in ("image_url", "images", "image") if row.get(name)), [])
    return list(value) if isinstance(value, list | tuple) else [value]


def _image_path(name: str, folder: Path) -> str:
    """The image's path; in `image/` or `images/` the case of the name does not matter."""
    found = resolve_image(name, folder) or _by_folded_name(folder).get(Path(name).name.casefold())
    return str(found or folder / name)


@cache
def _by_folded_name(folder: Path) -> dict[str, Path]:
    rooms = [base / room for base in (folder, folder.parent) for room in ("images", "image")]
    return {path.name.casefold(): path for room in rooms if room.is_dir() for path in sorted(room.iterdir())}


def _row(row: Mapping[str, Any], position: int) -> dict[str, str]:
    body = str(_first(row, _NAMES["body"]) or "").strip()
    if not body:
        raise SystemExit(f"MMDeepResearch-Bench rows: row {position} (id {row['id']}) has no text in the column body.")
    regime = regime_of({**row, "regime": _first(row, _NAMES["regime"])})
    difficulty = str(row.get("difficulty") or "").strip().casefold()
    tags = row.get("tags")
    kept = {column: str(row[column]) for column in ("report", "visual_truth") if row.get(column) is not None}
    return {
        "id": str(row["id"]),
        "caption": str(_first(row, _NAMES["caption"]) or "").strip(),
        "body": body,
        "language": str(row.get("language") or "").strip().casefold() or "unknown",
        "difficulty": difficulty or "unknown",
        "tags": tags if isinstance(tags, str) else json.dumps(tags or [], ensure_ascii=False),
        "regime": regime,
        "report_type": report_type_of(regime, difficulty),
        **kept,
    }


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)
