"""Scores of one episode from its transcript, pure. A score is None where it cannot be known, which is never a 0.

`predictions` of the task card's recipe is the list of all turns, the guess included.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from loguru import logger

from lmms_tasks.amigo.episode import NO, SKIP, UNSURE, YES, Transcript
from lmms_tasks.utils.statistics import Item, covered_mean

METRICS = (
    "identification_success",
    "protocol_compliance",
    "efficiency",
    "compliance_strict",
    "verified_success",
    "compliance_questions",
    "questions_asked",
    "premature_rate",
    "cap_rate",
    "unsure_rate",
    "strict_format_rate",
    "target_eliminated_rate",
)
# A question repeated within so many turns of a contradiction counts as an answer to it.
RECOVERY_TURNS = 3


def episode_scores(transcript: Transcript) -> dict[str, float | None]:
    """Every metric of one episode; all None for an infrastructure error.

    `identification_success`, `protocol_compliance` (1 − skips / T) and `efficiency` (T) follow the task card's recipe
    with T = `len(predictions)`; an episode without a guess has success 0, where the recipe would raise.
    """
    turns = transcript["turns"]
    if transcript["end"] not in ("guess", "turn_cap") or not turns:
        return dict.fromkeys(METRICS)
    total = len(turns)
    last = turns[-1]
    guessed = transcript["end"] == "guess"
    success = float(guessed and last["guess"] == transcript["gold"])
    skips = sum(turn["oracle_shown"] == SKIP for turn in turns)
    questions = [turn for turn in turns if turn["kind"] == "question"]
    question_skips = sum(turn["oracle_shown"] == SKIP for turn in questions)
    feasible = last["feasible"]
    premature = None if feasible is None else sum(bool(turn.get("premature")) for turn in turns)
    # A premature guess that was answered by Skip is one violation, not two.
    unpunished = (
        None
        if premature is None
        else sum(bool(turn.get("premature")) and turn["oracle_shown"] != SKIP for turn in turns)
    )
    return {
        "identification_success": success,
        "protocol_compliance": 1.0 - skips / total,
        "efficiency": float(total),
        "compliance_strict": None if unpunished is None else 1.0 - (skips + unpunished) / total,
        "verified_success": None if feasible is None else float(bool(success) and feasible == [transcript["gold"]]),
        "compliance_questions": 1.0 - question_skips / len(questions) if questions else 1.0,
        "questions_asked": float(len(questions)),
        "premature_rate": None if premature is None else float(premature > 0),
        "cap_rate": float(transcript["end"] == "turn_cap"),
        "unsure_rate": sum(turn["oracle_shown"] == UNSURE for turn in questions) / len(questions) if questions else 0.0,
        "strict_format_rate": float(last["strict"]) if guessed else None,
        "target_eliminated_rate": None if feasible is None else float(transcript["gold"] not in feasible),
    }


def episode_record(transcript: Transcript) -> dict[str, Any]:
    """What the manifest's diagnostics need of one episode."""
    turns = transcript["turns"]
    questions = [turn for turn in turns if turn["kind"] == "question"]
    sizes = [transcript["size"]] + [len(turn["feasible"]) for turn in questions if turn["feasible"] is not None]
    known = len(sizes) == len(questions) + 1
    gains = [math.log2(a / b) for a, b in itertools.pairwise(sizes) if a and b] if known else []
    skipped = [turn["idx"] for turn in turns if turn["oracle_shown"] == SKIP]
    answered = [turn for turn in questions if turn["oracle_shown"] in (YES, NO)]
    implied = Counter(turn["implied"] for turn in answered if turn.get("implied"))
    return {
        "episode_id": transcript["episode_id"],
        "size": transcript["size"],
        "tier": transcript["tier"],
        "end": transcript["end"],
        "error": transcript.get("error"),
        "turns": len(turns),
        "questions": len(questions),
        "answered": len(answered),
        "hits": dict(Counter(rule for turn in turns for rule in {rule for rule, _ in turn["hits"]})),
        "skips_by_rule": dict(Counter(turn["hits"][0][0] for turn in turns if turn["oracle_shown"] == SKIP)),
        "first_skip": skipped[0] if skipped else None,
        "curve": sizes if known else None,
        "bits": gains,
        "no_gain": sum(gain == 0 for gain in gains),
        # The answer followed from earlier answers; "No" to what was asked: they had ruled it out.
        "redundant": sum(implied.values()),
        "contradictory": implied[NO],
        "unmapped": sum(turn.get("mapped") is False for turn in questions),
        "flips": sum(bool(turn.get("noise")) for turn in questions),
        "row": transcript["row"],
        "noise": transcript["protocol"]["noise"],
        "settings": _settings(transcript["protocol"]),
        "noisy": transcript.get("noisy"),
        "oracle": transcript["oracle"],
        "success": episode_scores(transcript)["identification_success"],
        **_verification(questions),
    }


def _settings(protocol: Mapping[str, Any]) -> str:
    """A name for the protocol without its noise: episodes under one name differ in nothing else."""
    quiet = {key: value for key, value in protocol.items() if key != "noise"}
    return hashlib.sha256(json.dumps(quiet, sort_keys=True).encode()).hexdigest()[:12]


def _verification(questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How often a question was asked again, also in denied form, and whether soon after a contradiction was seen."""
    heard: dict[tuple[str, tuple[str, ...]], str] = {}
    repeats: list[int] = []
    conflict = None
    for number, turn in enumerate(questions):
        if turn["oracle_shown"] not in (YES, NO) or "slot" not in turn:
            continue
        key = (turn["slot"], tuple(turn["values"]))
        told = YES if (turn["oracle_shown"] == YES) != turn["negated"] else NO
        if key in heard:
            repeats.append(number)
        if conflict is None and (heard.get(key, told) != told or turn["feasible"] == []):
            conflict = number
        heard[key] = told
    checked = None
    if conflict is not None:
        checked = any(conflict < number <= conflict + RECOVERY_TURNS for number in repeats)
    return {"repeated": len(repeats), "conflict": conflict is not None, "checked_after_conflict": checked}


def identification_success(items: Sequence[Item]) -> float:
    """The mean of the episodes that were played to an end; the log names those that were not."""
    excluded = [
        record["episode_id"] for item in items for record in item.get("episodes", ()) if record["success"] is None
    ]
    if excluded:
        shown = ", ".join(excluded[:20]) + (", …" if len(excluded) > 20 else "")
        logger.warning(f"{len(excluded)} AMIGO episodes ended in an infrastructure error and are excluded: {shown}.")
    return covered_mean(items)
