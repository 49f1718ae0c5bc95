"""Reports written elsewhere: Markdown files named by the task's id, or JSON lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.mmdeepresearch_bench.rows import task_id
from lmms_tasks.utils.rows import read_json_rows
from lmms_tasks.utils.text_file import read_text

_SUFFIXES = (".md", ".markdown")
_TABLES = (".csv", ".tsv", ".xlsx")
# `Q12.md`, `12.md`, `q012_report.md`, `task-12.md`: the first number in the name.
_NUMBER = re.compile(r"\d+")


def read_reports(path: Path, rows: Sequence[Mapping[str, Any]]) -> dict[int, list[str]] | None:
    """Reports by the position of their row; None for a file or folder of another form.

    Args:
        path: a Markdown file, a folder of them, or JSON lines of {"id", "prediction"} whose ids may be "Q5" or 5.

    Raises:
        SystemExit: a name holds no id, no row has it, two reports answer one row, a report is no text in UTF-8, or the
            path is a table of scores.
    """
    positions = {task_id(row["id"]): position for position, row in enumerate(rows)}
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix.casefold() in _SUFFIXES)
    elif path.suffix.casefold() in _SUFFIXES:
        files = [path]
    elif path.suffix in (".json", ".jsonl"):
        return _by_official_id(path, positions)
    elif path.suffix.casefold() in _TABLES:
        raise SystemExit(
            f"{path} is no report: a CSV table of scores, one line a task, is aggregated with --table; reports are "
            "Markdown files named by the task's id, or JSON lines."
        )
    else:
        return None
    if not files:
        return None
    found: dict[int, list[str]] = {}
    for file in files:
        position = _position(_id_in_name(file, positions), positions, file)
        if position in found:
            raise SystemExit(f"{file}: its row has a report already; give one report a task.")
        found[position] = [_report(file)]
    return found


def check_folder(path: Path, task: str) -> None:
    """End the run with one sentence if a folder holds neither reports nor a task's sample log."""
    if not path.is_dir() or any(file.suffix.casefold() in _SUFFIXES for file in path.iterdir()):
        return
    if not any(path.rglob(f"*_samples_{task}.jsonl")):
        raise SystemExit(
            f"{path} holds neither Markdown reports named by the task's id (Q12.md) nor a sample log of {task}: name the "
            "folder or the file that does."
        )


def _report(file: Path) -> str:
    text = read_text(file)
    if "\0" in text:
        # UTF-16 without its mark passes for UTF-8 in which every second character is none.
        raise SystemExit(f"{file} holds null characters and is no text in UTF-8: convert it, for instance with iconv.")
    return text.strip()


def _by_official_id(path: Path, positions: Mapping[str, int]) -> dict[int, list[str]] | None:
    """JSON lines whose ids are the official ones; None for all others, which are read as any benchmark's."""
    records = read_json_rows(path)
    official = [re.fullmatch(r"[qQ]\d+", str(record.get("id"))) and "doc_id" not in record for record in records]
    if not records or not all(official) or not all(isinstance(r.get("prediction"), str) for r in records):
        return None
    found: dict[int, list[str]] = {}
    for record in records:
        position = _position(task_id(record["id"]), positions, path)
        if position in found:
            raise SystemExit(f"{path}: the id {record['id']} stands twice; give one report a task.")
        found[position] = [record["prediction"].strip()]
    return found


def _id_in_name(file: Path, positions: Mapping[str, int]) -> str:
    if task_id(file.stem) in positions:
        return task_id(file.stem)
    number = _NUMBER.search(file.stem)
    if number is None:
        raise SystemExit(f"{file}: its name holds no id of a task; name it by the id, such as Q12.md.")
    return task_id(number[0])


def _position(identity: str, positions: Mapping[str, int], where: Path) -> int:
    if identity not in positions:
        raise SystemExit(f"{where}: no row has the id {identity}; give the rows that were answered with --data.")
    return positions[identity]
