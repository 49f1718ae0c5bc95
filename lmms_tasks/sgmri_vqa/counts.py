"""What was loaded, told against what was published, and what the released rules make of the keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from loguru import logger

from lmms_tasks.sgmri_vqa.a_score import CLOSED_ENDED, parse_integer, parse_yes_no

# Project page of SGMRI-VQA: rows by level over all splits, and rows of the test split over both levels.
PUBLISHED_LEVELS = {"image": 32142, "volume": 9165}
PUBLISHED_TEST = 9293


def tell_counts(level: str, organ: str | None, by_task: Counter[str]) -> None:
    """Log how many rows were found beside the published numbers; a difference is a warning, not an error."""
    rows = sum(by_task.values())
    told = ", ".join(f"{task} {count}" for task, count in sorted(by_task.items()))
    published = " + ".join(f"{count:,} about {name}s" for name, count in PUBLISHED_LEVELS.items())
    logger.info(
        f"SGMRI-VQA: {rows:,} rows about {f'{organ} ' if organ else ''}{level}s ({told}); published: {published} in all "
        f"splits, {PUBLISHED_TEST:,} of them in the test split."
    )
    if organ is not None:
        return
    _found[level] = rows
    total = sum(_found.values())
    if (len(_found) == len(PUBLISHED_LEVELS) and total != PUBLISHED_TEST) or rows > PUBLISHED_TEST:
        logger.warning(
            f"SGMRI-VQA: {total:,} rows were found ({', '.join(f'{n:,} about {k}s' for k, n in _found.items())}), while "
            f"the test split was published with {PUBLISHED_TEST:,}: numbers over other rows do not compare with the "
            "published tables."
        )


def tell_left_out(level: str, rows: Iterable[Mapping[str, Any] | None], kept: Sequence[int]) -> None:
    """Log which rows of the level's files, and of its organ, are not evaluated; None stands for one of the other level."""
    rows = list(rows)
    others = sum(row is None for row in rows)
    skipped = len(rows) - others - len(kept)
    if others or skipped:
        logger.info(
            f"SGMRI-VQA: of the rows that were read, {others:,} are about the other level than {level}s (by `level`, else "
            f"by whether there is a slice_num), and {skipped:,} are questions that the released evaluation skips."
        )


def tell_about_keys(rows: Sequence[Mapping[str, Any]], known_tasks: Iterable[str], known_types: Iterable[str]) -> None:
    """Log the keys and words for which the released rules hardly give a useful score (dossier of pitfalls: README)."""
    known_tasks, known_types = set(known_tasks), set(known_types)
    never, holding_no, tasks, types = 0, [], Counter(), Counter()
    for row in rows:
        if row["task"] not in known_tasks:
            tasks[row["task"]] += 1
        if row["type"] not in known_types:
            types[row["type"]] += 1
        if row["type"] in CLOSED_ENDED and row["task"] != "localization":
            answer = row["answer"]
            never += parse_yes_no(answer) is None and parse_integer(answer) is None
            word = answer.strip().strip(".,!;:").lower()
            if "no" in word and word not in ("no", "none"):
                holding_no.append(word)
    boxless = sum(row["task"] == "localization" and row["key_source"] == "none" for row in rows)
    if boxless:
        logger.warning(f"SGMRI-VQA: {boxless} localization rows have no key box, so V-Score is about the others alone.")
    if unread := sum(row["unread"] for row in rows):
        logger.warning(
            f"SGMRI-VQA: the ground_truth of {unread} rows is no object, so its labels and boxes are not there for them."
        )
    seen = Counter(
        tuple(row[name] for name in ("volume_id", "slice_num", "task", "question", "answer")) for row in rows
    )
    if repeated := seen.total() - len(seen):
        logger.warning(f"SGMRI-VQA: {repeated} rows repeat another row's slice, question and answer, and count again.")
    if never:
        logger.warning(
            f"SGMRI-VQA: {never} closed-ended rows have a key that is neither yes or no nor a number: by the released "
            "rule every answer to them scores 0."
        )
    if holding_no:
        shown = ", ".join(sorted(set(holding_no))[:5])
        logger.warning(
            f"SGMRI-VQA: {len(holding_no)} closed-ended keys hold the letters 'no' without being No ({shown}): the "
            "released rule reads them as No."
        )
    if tasks:
        logger.warning(f"SGMRI-VQA: rows of unknown tasks are in no published column: {dict(tasks)}.")
    if types:
        logger.warning(f"SGMRI-VQA: rows of unknown question types score 0 by the released rule: {dict(types)}.")


_found: dict[str, int] = {}
