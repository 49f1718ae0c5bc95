"""Which entities a model can have seen in MIRAGE's train split.

The benchmark's authors report a gap of some 14 points between entities that the train split has and those that it has
not; the manifest shows it for each run. An entity is seen if its normalised name, or its binomial, is one of the list.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_tasks.utils.home import home
from lmms_tasks.utils.text_file import read_text

if TYPE_CHECKING:
    from lmms_tasks.benchmarks import TaskSpec

VARIABLE = "MIRAGE_TRAIN_ENTITIES"
_SHIPPED = Path(__file__).parent / "samples" / "train_entities.txt"
_COLUMNS = ["entity_name", "entity_scientific_name"]


def entity_keys(row: Mapping[str, Any]) -> list[str]:
    """The normalised name of a row's entity, and its binomial without author and year; empties are left out."""
    from lmms_tasks.mirage.identification import binomial, normalise

    scientific = row.get("entity_scientific_name") or ""
    found = [normalise(row.get("entity_name") or ""), normalise(binomial(scientific) or scientific)]
    return [key for key in dict.fromkeys(found) if key]


def train_entities(task: TaskSpec) -> frozenset[str] | None:
    """The entities of the train split for a task's rows; None where they cannot be had.

    From the shipped list for the samples, the file that `MIRAGE_TRAIN_ENTITIES` names (one name a line, or rows), the
    train files of `MIRAGE_DATA`, or the hub, of which two text columns are read and kept in the home folder.

    Raises:
        SystemExit: the user's file cannot be read.
    """
    if task.on_samples:
        return _from_lines(_SHIPPED)
    if given := os.environ.get(VARIABLE, "").strip():
        return _from_file(Path(given).expanduser())
    return _from_source(task.config["dataset_path"], os.environ.get(task.benchmark.data_variable, "").strip())


def check(task: TaskSpec) -> None:
    """Fetch the list before the model is created, and say once if the breakdown has to do without."""
    if int(os.environ.get("RANK", 0)) == 0 and train_entities(task) is None:
        _say_that_it_is_left_out()


def _from_lines(path: Path) -> frozenset[str]:
    from lmms_tasks.mirage.identification import normalise

    return frozenset(filter(None, map(normalise, read_text(path).splitlines())))


def _from_file(path: Path) -> frozenset[str]:
    from lmms_tasks.utils.rows import read_json_rows

    if not path.is_file():
        raise SystemExit(
            f"{VARIABLE} names {path}, which is no file: correct it, or unset it to use the hub's train split."
        )
    if path.suffix == ".parquet":
        return _from_parquet([path])
    return _of_rows(read_json_rows(path)) if path.suffix in (".json", ".jsonl") else _from_lines(path)


@functools.lru_cache
def _from_source(hub: str, local: str) -> frozenset[str] | None:
    """From the train files of local rows, or else from the hub's train split; looked up once a process."""
    if local:
        files = [f for f in sorted(Path(local).expanduser().rglob("*.parquet")) if _is_train_of_standard(f)]
        return _from_parquet(files) if files else None
    kept = home() / "mirage_train_entities.txt"
    if not kept.is_file():
        import datasets

        try:
            rows = datasets.load_dataset(hub, "MMST_Standard", split="train", streaming=True).select_columns(_COLUMNS)
            found = _of_rows(rows)
        except Exception as error:
            logger.debug(f"The train split of {hub} cannot be read: {type(error).__name__}: {error}")
            return None
        kept.write_text("\n".join(sorted(found)) + "\n", encoding="utf-8")
    return _from_lines(kept)


def _is_train_of_standard(file: Path) -> bool:
    return "standard" in str(file.parent.name + file.stem).casefold() and "train" in file.stem.casefold()


def _from_parquet(files: Iterable[Path]) -> frozenset[str]:
    import pyarrow.parquet

    tables = [pyarrow.parquet.read_table(file, columns=_COLUMNS) for file in files]
    return frozenset().union(*(_of_rows(table.to_pylist()) for table in tables))


def _of_rows(rows: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(key for row in rows for key in entity_keys(row))


@functools.lru_cache
def _say_that_it_is_left_out() -> None:
    logger.info(
        f"MIRAGE: the manifest has no breakdown by seen and unseen entities, since the train split's names cannot be had; "
        f"{VARIABLE} can name a file of them, one a line."
    )
