"""The user's own question files: which of a folder's files a task takes, and answers recorded elsewhere."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.sgmri_vqa.prompt import is_prompt_of
from lmms_tasks.sgmri_vqa.rows import ORGANS, SCHEMAS, TASKS
from lmms_tasks.utils.rows import ROW_FILES, find_files, is_recorded_answers, read_json_rows

# The authors' `val` is the split that the hub calls `test`; `train` is not evaluated.
_SPLITS = ("train", "test", "validation", "val")
_EVALUATED = ("test", "validation", "val")


def question_files(configuration: str, split: str, source: Path) -> list[Path]:
    """The files of `source` with the questions of a configuration such as "image" or "volume_knee".

    A file is taken as it is. In a folder, the level's word (and the organ's, if the configuration has one) must be in
    the path; files of the train split and recorded answers are left out. Several files of one folder are one source.

    Raises:
        SystemExit: there is no such file, or two folders or splits hold the same questions; the sentence names both.
    """
    if not source.is_dir():
        return find_files(source, SCHEMAS[configuration], split)
    level, _, wanted = configuration.partition("_")
    files = [path for path in sorted(source.rglob("*")) if path.suffix in ROW_FILES and path.is_file()]
    files = [path for path in files if not _is_hidden(path.relative_to(source))]
    places: dict[str, dict[tuple[Path, str], list[Path]]] = {}
    for path in files:
        words = _words(path, source)
        told_split = _last(words, _SPLITS)
        organ = _last(words, ORGANS) or ""
        if _level(words) != level or told_split == "train" or (wanted and organ not in ("", wanted)):
            continue
        if not _is_answers(path):
            places.setdefault(organ, {}).setdefault((path.parent, told_split or ""), []).append(path)
    if not places or (wanted and not {wanted, ""} & places.keys()):
        found = ", ".join(str(path.relative_to(source)) for path in files[:12]) or "nothing"
        raise SystemExit(
            f"{source} holds no questions of SGMRI-VQA for '{configuration}': a .json, .jsonl or .parquet file of the "
            f"{' or '.join(_EVALUATED)} split must have {' and '.join(filter(None, (level, wanted)))} in its path (found: "
            f"{found})."
        )
    for candidates in places.values():
        if len(candidates) > 1:
            first, second = [str(group[0]) for group in list(candidates.values())[:2]]
            raise SystemExit(f"Both {first} and {second} could hold the questions: name the folder that you mean.")
    chosen = [path for candidates in places.values() for group in candidates.values() for path in group]
    if len({path.suffix == ".parquet" for path in chosen}) > 1:
        raise SystemExit(f"{source} mixes parquet and JSON files of '{configuration}': keep one kind.")
    return chosen


def recorded_answers(path: Path, rows: Sequence[Mapping[str, Any]]) -> dict[int, list[str]] | None:
    """Answers of an lmms-eval sample log by position, where each prompt is ours; None for any other file.

    A prompt names the size and number of the slices, which a machine without the images cannot know: prompts are
    compared without them, and by both variants. Anything else is left to the general reader and its sentences.
    """
    if not path.is_file() or path.suffix != ".jsonl":
        return None
    answers: dict[int, list[str]] = {}
    for record in read_json_rows(path):
        position, given = record.get("doc_id"), record.get("filtered_resps")
        if type(position) is not int or not 0 <= position < len(rows) or position in answers:
            return None
        while isinstance(given, list) and len(given) == 1 and isinstance(given[0], list):
            given = given[0]
        row = rows[position]
        if (
            not isinstance(given, list)
            or not given
            or not all(answer is None or isinstance(answer, str) for answer in given)
            or str(record.get("target", "")).strip() != row["answer"].strip()
            or not is_prompt_of(str(record.get("input", "")), row)
        ):
            return None
        answers[position] = [(answer or "").strip() for answer in given]
    return dict(sorted(answers.items())) or None


def _words(path: Path, source: Path) -> list[str]:
    """The words of a path in order, from the source folder's own name on."""
    return re.findall(r"[a-z]+", f"{source.name}/{path.relative_to(source).with_suffix('')}".lower())


def _is_hidden(path: Path) -> bool:
    """Files that systems and download tools put beside a user's own, such as `._a.json` of macOS."""
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)


def _level(words: Sequence[str]) -> str | None:
    """The level whose word stands before "qa", as in `image_qa`, else the last one named."""
    pairs = list(itertools.pairwise(words))
    return next((word for word, after in reversed(pairs) if word in TASKS and after == "qa"), _last(words, TASKS))


def _last(words: Sequence[str], known: Sequence[str] | Mapping[str, Any]) -> str | None:
    """The last word that is one of `known`: a file's own name says more than the folders above it."""
    return next((word for word in reversed(words) if word in known), None)


def _is_answers(path: Path) -> bool:
    if path.suffix == ".parquet":
        return False
    first = next(iter(read_json_rows(path)), {})
    return "model_output" in first or is_recorded_answers(path, SCHEMAS["image"])
