"""Rows on the user's disk: which files a task takes, how they are read, what is said when something is missing.

Local rows end up as parquet files that lmms-eval's own loader reads, so that a local run and a run on hub data take the
same road. Pixels are neither read nor decoded here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_tasks.utils.home import home
from lmms_tasks.utils.images import IMAGE_COLUMN, image_column_values, resolve_image
from lmms_tasks.utils.text_file import read_text

ROW_FILES = (".json", ".jsonl", ".parquet")
_SHARD = re.compile(r"-\d+-of-\d+$")
_SPLITS = ("train", "test", "dev", "validation", "val")
# Columns that only a file of recorded answers has: lmms-eval's sample logs, JSON lines of predictions, and the
# history that the official MIRAGE inference script keeps.
_ANSWER_COLUMNS = {"prediction", "filtered_resps", "resps", "history"}
# Raised when the layout of the parquet files below changes, so that old ones are not taken for new ones.
_LAYOUT = "1"


@dataclass(frozen=True)
class Schema:
    """Columns of a task's rows.

    Attributes:
        word: the word in a file's or folder's name that marks the task's configuration, such as "standard".
        required: columns without which a row cannot be evaluated.
        optional: columns that are kept where a source has them.
        images: True where a row must have at least one image for a model to see.
    """

    word: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    images: bool = True


def require_columns(present: Iterable[str], schema: Schema, where: str) -> None:
    """End the run with one sentence if a required column is missing from the rows of `where`."""
    present = list(present)
    missing = [column for column in schema.required if column not in present]
    if missing:
        raise SystemExit(
            f"{where}: column {_listed(missing)} is missing (found: {_listed(present)}); give rows of the configuration "
            f"'{schema.word}'."
        )


def find_files(source: Path, schema: Schema, split: str) -> list[Path]:
    """The files of `source` that hold a task's rows: the file itself, or those in a folder that bear the word.

    Raises:
        SystemExit: there is no such file, or more than one candidate.
    """
    if source.is_file():
        if source.suffix not in ROW_FILES:
            raise SystemExit(
                f"{source} is no file of rows: give a .json, .jsonl or .parquet file, or a folder of them."
            )
        return [source]
    if not source.is_dir():
        raise SystemExit(
            f"There is no file or folder {source}: correct the path, or leave it out to use the hub's rows."
        )
    files = sorted(path for path in source.rglob("*") if path.suffix in ROW_FILES and path.is_file())
    word = re.compile(rf"(^|[^a-z]){re.escape(schema.word)}([^a-z]|$)")
    named = [path for path in files if word.search(_name_below(path, source).casefold())]
    if not named and word.search(source.name.casefold()):
        named = files
    candidates: dict[tuple[Path, str], list[Path]] = {}
    for path in _of_split(named, split):
        if not is_recorded_answers(path, schema):
            candidates.setdefault((path.parent, _SHARD.sub("", path.stem)), []).append(path)
    if not candidates:
        raise SystemExit(
            f"{source} holds no rows of the configuration '{schema.word}': a .json, .jsonl or .parquet file, or a folder "
            f"of them, must have that word in its name (found: {_listed(_name_below(path, source) for path in files)})."
        )
    if len(candidates) > 1:
        first, second = [str(group[0]) for group in list(candidates.values())[:2]]
        raise SystemExit(f"Both {first} and {second} could hold the rows of '{schema.word}': name the one you mean.")
    return next(iter(candidates.values()))


def is_recorded_answers(path: Path, schema: Schema) -> bool:
    """True for a file of model answers that lies beside the rows: such files hold a subset and are never rows.

    The official inference files add one column named after the model, and the model's name stands in the file's name.
    """
    if path.suffix == ".parquet":
        return False
    row = next(iter(read_json_rows(path)), {})
    if _ANSWER_COLUMNS & row.keys():
        return True
    known = {*schema.required, *schema.optional}
    return any(column in path.stem for column in row if column not in known and not IMAGE_COLUMN.match(column))


def read_json_rows(path: Path) -> list[dict[str, Any]]:
    """Read a JSON array or JSON lines.

    Raises:
        SystemExit: the file is neither, or cannot be read; the sentence names the line.
    """
    text = read_text(path)
    try:
        rows = json.loads(text) if text.lstrip().startswith("[") else _json_lines(text)
    except json.JSONDecodeError as error:
        raise SystemExit(f"{path} is neither a JSON array nor JSON lines (line {error.lineno}: {error.msg}).") from None
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise SystemExit(f"{path}: row {number} is no JSON object but {type(row).__name__}.")
    return rows


def parquet_files(files: Sequence[Path], schema: Schema) -> list[Path]:
    """The rows of `files` as parquet files: themselves, or one written under `home()` from JSON rows.

    The written file holds the schema's columns and the paths of the images, not their pixels.
    """
    if files[0].suffix == ".parquet":
        return files
    rows = [row for file in files for row in read_json_rows(file)]
    if not rows:
        raise SystemExit(f"{files[0]} holds no rows.")
    require_columns({column for row in rows for column in row}, schema, str(files[0]))
    for number, row in enumerate(rows):
        absent = [column for column in schema.required if column not in row]
        if absent:
            raise SystemExit(f"{files[0]}: row {number} lacks the column {_listed(absent)} (found: {_listed(row)}).")
    return [_write_parquet(rows, schema, files[0].parent)]


def missing_images(files: Sequence[Path], schema: Schema) -> str | None:
    """One sentence about the first image of local JSON rows that is not on the disk, None where all are there."""
    for file in files:
        if file.suffix == ".parquet":
            continue
        for number, row in enumerate(read_json_rows(file)):
            values = image_column_values(row)
            if not values and schema.images:
                return f"{file}: row {number} has no image (looked for `images`, `image`, `image_1`, …)."
            for value in values:
                if isinstance(value, str) and resolve_image(value, file.parent) is None:
                    return (
                        f"{file}: row {number} names the image {value}, which is neither there nor in {file.parent}, nor "
                        "by its base name in images/ or sample_images/ beside the file."
                    )
    return None


def fingerprint(rows: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 over the text of the rows in their order; images do not count."""
    digest = hashlib.sha256()
    for row in rows:
        text = {key: value for key, value in row.items() if not IMAGE_COLUMN.match(key)}
        digest.update(json.dumps(text, sort_keys=True, ensure_ascii=False, default=str).encode() + b"\n")
    return digest.hexdigest()


def _write_parquet(rows: Sequence[Mapping[str, Any]], schema: Schema, folder: Path) -> Path:
    import datasets
    import pyarrow
    import pyarrow.parquet

    columns = [column for column in (*schema.required, *schema.optional) if any(column in row for row in rows)]
    images = [[_image_path(value, folder) for value in image_column_values(row)] for row in rows]
    width = max((len(paths) for paths in images), default=0)
    table_rows = []
    for row, paths in zip(rows, images, strict=True):
        entry: dict[str, Any] = {column: _as_text(row.get(column)) for column in columns}
        for number in range(width):
            entry[f"image_{number + 1}"] = {"bytes": None, "path": paths[number]} if number < len(paths) else None
        table_rows.append(entry)
    features = datasets.Features(
        {column: datasets.Value("string") for column in columns}
        | {f"image_{number + 1}": datasets.Image(decode=False) for number in range(width)}
    )
    content = json.dumps([_LAYOUT, table_rows], sort_keys=True, ensure_ascii=False)
    target = home() / "rows" / f"{hashlib.sha256(content.encode()).hexdigest()[:32]}.parquet"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        # Two ranks may write at once: each its own file, and the rename is atomic.
        partial = target.with_suffix(f".{os.getpid()}.partial")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table_rows, schema=features.arrow_schema), partial)
        partial.replace(target)
    return target


def _image_path(value: Any, folder: Path) -> str:
    found = resolve_image(str(value), folder)
    return str(found) if found else str(value)


def _as_text(value: Any) -> str | None:
    # Sources differ in types (a list or its text, a bool or its word): one column, one type, nothing lost.
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _json_lines(text: str) -> list[Any]:
    rows = []
    # Not `splitlines`, which parts a line at separators that JSON leaves as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                error.lineno = number
                raise
    return rows


def _of_split(files: Sequence[Path], split: str) -> list[Path]:
    """The files of one split; those whose name tells no split belong to every split."""
    kept = []
    for path in files:
        told = [word for word in _SPLITS if re.search(rf"(^|[^a-z]){word}([^a-z]|$)", path.stem.casefold())]
        if not told or split in told:
            kept.append(path)
    return kept


def _name_below(path: Path, root: Path) -> str:
    return str(path.relative_to(root))


def _listed(names: Iterable[str]) -> str:
    names = sorted(names)
    shown = ", ".join(names[:12])
    return f"{shown}, … ({len(names)} in all)" if len(names) > 12 else shown or "nothing"
