"""Answers made elsewhere, matched to the rows that they answer.

A wrong match is a wrong number, so every piece of evidence that a file holds (position, id, target, prompt) must agree
with the row, and anything ambiguous is refused with one sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.utils.rows import read_json_rows

# Where a record may keep its answer, by the format that it comes from: JSON lines of ours, lmms-eval's sample log.
_ANSWER_KEYS = ("prediction", "filtered_resps")


class NoAnswers(SystemExit):
    """What was given holds answers of other tasks only; a group is scored without this one."""


def read_answers(
    task: TaskSpec, files: Sequence[Path], rows: Sequence[Mapping[str, Any]], answer_key: str | None = None
) -> dict[int, list[str]]:
    """Read answers of a task's rows.

    Args:
        files: lmms-eval sample logs, JSON lines of `{"doc_id"|"id", "prediction"}`, official inference files (with
            `answer_key`), or a folder that holds one sample log of the task.
        rows: the task's rows; an answer's key is the row's position.
        answer_key: the column that holds the answer; default `prediction`, else `filtered_resps`.

    Returns:
        The answers by position; several where a row was answered repeatedly.

    Raises:
        SystemExit: a record has no answer, fits no row, contradicts its row, or answers a row that has one already.
        NoAnswers: there is none of this task's rows.
    """
    unique_ids = _positions_by_id(rows)
    answers: dict[int, list[str]] = {}
    if absent := [file for file in files if not file.exists()]:
        raise SystemExit(f"There is no file {absent[0]}: correct the path.")
    own_form = task.benchmark.read_answers(task, files, rows)
    for file in files:
        if file in own_form:
            if twice := sorted(own_form[file].keys() & answers.keys()):
                raise SystemExit(f"{file}: row {twice[0]} has an answer already; give one answer a row.")
            answers.update(own_form[file])
            continue
        path = _log_in(file, task) if file.is_dir() else file
        for number, record in enumerate(read_json_rows(path)):
            where = f"{path}, record {number}"
            position = _position(record, rows, unique_ids, where)
            _check_agreement(task, record, rows[position], position, where)
            if position in answers:
                raise SystemExit(f"{where}: row {position} has an answer already; give one answer a row.")
            answers[position] = _answer(record, answer_key, where)
    if not answers:
        raise NoAnswers(f"{task.name}: no answers to its rows in {', '.join(map(str, files))}.")
    return dict(sorted(answers.items()))


def _log_in(folder: Path, task: TaskSpec) -> Path:
    logs = sorted(folder.rglob(f"*_samples_{task.name}.jsonl"))
    if len(logs) != 1:
        found = ", ".join(map(str, logs)) or "none"
        raise SystemExit(f"{folder} must hold one sample log of {task.name} (found: {found}); name the file.")
    return logs[0]


def _positions_by_id(rows: Sequence[Mapping[str, Any]]) -> dict[str, int | None]:
    """Position by id, None for an id that several rows share."""
    counts = Counter(str(row["id"]) for row in rows if row.get("id") is not None)
    return {
        str(row["id"]): position if counts[str(row["id"])] == 1 else None
        for position, row in enumerate(rows)
        if row.get("id") is not None
    }


def _position(
    record: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], unique_ids: Mapping[str, int | None], where: str
) -> int:
    if "doc_id" in record:
        position = record["doc_id"]
        if type(position) is not int or not 0 <= position < len(rows):
            raise SystemExit(
                f"{where}: doc_id {position!r} is no position among the {len(rows)} rows (0 to {len(rows) - 1})."
            )
        identity = rows[position].get("id")
        if record.get("id") is not None and identity is not None and str(record["id"]) != str(identity):
            raise SystemExit(
                f"{where}: its id is {record['id']!r}, and row {position} (doc_id) has the id {identity!r}: give one of "
                "the two, or rows that fit with --data."
            )
        return position
    if "id" not in record:
        raise SystemExit(f"{where}: neither doc_id nor id says which row it answers (found: {', '.join(record)}).")
    identity = str(record["id"])
    if identity not in unique_ids:
        raise SystemExit(f"{where}: no row has the id {identity!r}; give the rows that were answered with --data.")
    position = unique_ids[identity]
    if position is None:
        raise SystemExit(
            f"{where}: several rows have the id {identity!r}; say which one with doc_id, the row's position."
        )
    return position


def _check_agreement(
    task: TaskSpec, record: Mapping[str, Any], row: Mapping[str, Any], position: int, where: str
) -> None:
    expected = {
        # lmms-eval logs the target as text.
        "target": str(task.hook("doc_to_target")(row)),
        "input": task.hook("doc_to_text")(row),
        # The official inference files carry the row itself.
        "question": row.get("question"),
    }
    for key, value in expected.items():
        if isinstance(record.get(key), str) and isinstance(value, str) and record[key].strip() != value.strip():
            raise SystemExit(
                f"{where}: its {key} is not that of row {position}, so it answers other rows; give those with --data."
            )


def _answer(record: Mapping[str, Any], answer_key: str | None, where: str) -> list[str]:
    keys = (answer_key,) if answer_key else _ANSWER_KEYS
    for key in keys:
        if key in record:
            value = record[key]
            answers = value if isinstance(value, list) else [value]
            while len(answers) == 1 and isinstance(answers[0], list):
                answers = answers[0]
            if not answers or not all(answer is None or isinstance(answer, str) for answer in answers):
                raise SystemExit(f"{where}: {key} is no text.")
            return [(answer or "").strip() for answer in answers]
    raise SystemExit(
        f"{where}: no answer under {' or '.join(keys)} (found: {', '.join(record)}); name the column with --answer-key."
    )
