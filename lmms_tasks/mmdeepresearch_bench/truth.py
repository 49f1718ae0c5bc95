"""The visual truth: for each task a text that says what its images show. The hub's data has none; users bring a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from lmms_tasks.mmdeepresearch_bench.rows import task_id
from lmms_tasks.utils.rows import read_json_rows

VARIABLE = "MMDR_VEF_GT"
_TEXTS = ("body", "text", "answer", "gt")


def truth_of(doc: Mapping[str, Any]) -> str | None:
    """The visual truth of a task: the row's own on shipped samples, else that of the user's file; None without one."""
    if doc.get("visual_truth"):
        return str(doc["visual_truth"])
    file = truth_file()
    return None if file is None else read_truths(file).get(task_id(doc["id"]))


def truth_file() -> Path | None:
    """The file that `MMDR_VEF_GT` names, None if it names none."""
    given = os.environ.get(VARIABLE, "").strip()
    return Path(given).expanduser() if given else None


@lru_cache(maxsize=4)
def read_truths(file: Path) -> dict[str, str]:
    """The truths by official id, matched by id alone: the official file's order need not be that of the rows.

    Raises:
        SystemExit: the file is missing, a row has no id or no text, or an id stands twice.
    """
    if not file.is_file():
        raise SystemExit(f"{VARIABLE} names {file}, which is no file: correct it, or unset it to do without VEF.")
    truths: dict[str, str] = {}
    for number, row in enumerate(read_json_rows(file)):
        text = next((str(row[name]).strip() for name in _TEXTS if row.get(name)), "")
        if row.get("id") is None or not text:
            raise SystemExit(f"{file}: row {number} needs an id and a text under {', '.join(_TEXTS)}.")
        if task_id(row["id"]) in truths:
            raise SystemExit(f"{file}: the id {row['id']} stands twice.")
        truths[task_id(row["id"])] = text
    return truths


def check_truths(ids: Iterable[Any]) -> None:
    """End the run with one sentence if the user's file lacks a task."""
    file = truth_file()
    if file is None:
        return
    missing = [name for name in map(task_id, ids) if name not in read_truths(file)]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise SystemExit(f"{file} has no visual truth for {missing[0]}{more}: complete it, or unset {VARIABLE}.")
