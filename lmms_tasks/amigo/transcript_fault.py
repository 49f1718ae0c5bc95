"""What is wrong with a stored transcript: everything that scoring and a resumed run take from it is checked here.

Transcripts lie on disks of users, where files are cut off, edited and mixed up. A transcript that passes can be scored
and gone on from without a further look at its form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_tasks.amigo.episode import NO, PREMATURE, SKIP, UNSURE, YES, end_of

# Format 1 does not tell the images: it can be scored, and not be gone on from.
FORMAT = 2
READABLE = (1, 2)


class DamagedTranscript(ValueError):
    """A stored transcript is incomplete, or contradicts itself; the text is one clause that says where."""


def check(found: Any) -> dict[str, Any]:
    """The transcript, as it was given.

    Raises:
        DamagedTranscript: it is none, or its parts are missing, of another type, or contradict each other.
    """
    if not isinstance(found, dict):
        raise DamagedTranscript("it is no JSON object")
    if (form := found.get("format")) not in READABLE or isinstance(form, bool):
        raise DamagedTranscript(f"its format is {form!r}, and this version reads {' and '.join(map(str, READABLE))}")
    _head(found)
    known = found["oracle"]["kind"] == "attribute" or found["protocol"]["verify_feasible"]
    feasible = list(range(1, found["size"] + 1)) if known else None
    for number, turn in enumerate(found["turns"], start=1):
        try:
            _turn(turn, number, feasible)
        except DamagedTranscript as error:
            raise DamagedTranscript(f"turn {number}: {error}") from None
        feasible = turn["feasible"]
        if number < len(found["turns"]) and stored_end(found["turns"][:number], found["protocol"]):
            raise DamagedTranscript(f"turn {number} ends the episode, and others follow")
    _end(found)
    return found


def stored_end(turns: Sequence[Mapping[str, Any]], protocol: Mapping[str, Any]) -> str | None:
    """`episode.end_of` by the protocol as a transcript records it."""
    return end_of(turns, protocol["max_turns"], protocol["premature_guess"])


def _head(found: Mapping[str, Any]) -> None:
    for key in ("episode_id", "row", "tier"):
        _demand(isinstance(found.get(key), str), key, found)
    _demand(_is_whole(found.get("size")) and found["size"] >= 1, "size", found)
    _demand(_is_whole(found.get("gold")) and 1 <= found["gold"] <= found["size"], "gold", found)
    _demand(isinstance(found.get("turns"), list), "turns", found)
    _demand(found["format"] == 1 or isinstance(found.get("images"), str), "images", found)
    _demand(isinstance(found.get("oracle"), dict) and isinstance(found["oracle"].get("kind"), str), "oracle", found)
    protocol = found.get("protocol")
    _demand(isinstance(protocol, dict), "protocol", found)
    _demand(_is_whole(protocol.get("max_turns")) and protocol["max_turns"] >= 1, "max_turns", protocol)
    _demand(isinstance(protocol.get("premature_guess"), str), "premature_guess", protocol)
    _demand(protocol["premature_guess"] in PREMATURE, "premature_guess", protocol)
    _demand(_is_number(protocol.get("noise")) and 0 <= protocol["noise"] <= 1, "noise", protocol)
    _demand(isinstance(protocol.get("verify_feasible"), bool), "verify_feasible", protocol)
    _demand(_are_successes(found.get("noisy", {})), "noisy", found)


def _turn(turn: Any, number: int, before: Sequence[int] | None) -> None:
    if not isinstance(turn, dict):
        raise DamagedTranscript("it is no JSON object")
    _demand(_is_whole(turn.get("idx")) and turn["idx"] == number, "idx", turn)
    for key in ("raw", "visible"):
        _demand(isinstance(turn.get(key), str), key, turn)
    _demand(turn.get("kind") in ("question", "guess"), "kind", turn)
    hits = turn.get("hits")
    _demand(isinstance(hits, list) and all(_are_texts(hit) and len(hit) == 2 for hit in hits), "hits", turn)
    answers = (YES, NO, UNSURE, SKIP) if turn["kind"] == "question" else (SKIP, None)
    for key in ("oracle_true", "oracle_shown"):
        _demand(key in turn and _is_in(turn[key], answers), key, turn)
    _demand(turn["oracle_shown"] != SKIP or bool(hits), "hits", turn)
    _demand("feasible" in turn and _is_part(turn["feasible"], before), "feasible", turn)
    if turn["kind"] == "guess":
        _demand(_is_whole(turn.get("guess")), "guess", turn)
        _demand(isinstance(turn.get("strict"), bool), "strict", turn)
        premature = None if before is None else len(before) > 1
        _demand("premature" in turn and turn["premature"] is premature, "premature", turn)
        return
    if turn["oracle_shown"] != SKIP:
        for key in ("noise", "mapped"):
            _demand(isinstance(turn.get(key), bool), key, turn)
        _demand(_is_in(turn.get("implied"), (YES, NO, None)), "implied", turn)
    if any(key in turn for key in ("slot", "values", "negated")):
        _demand(isinstance(turn.get("slot"), str), "slot", turn)
        _demand(_are_texts(turn.get("values")), "values", turn)
        _demand(isinstance(turn.get("negated"), bool), "negated", turn)


def _end(found: Mapping[str, Any]) -> None:
    if "end" not in found:
        raise DamagedTranscript("it has no end")
    end, told = found["end"], stored_end(found["turns"], found["protocol"])
    fits = told is None and isinstance(found.get("error"), str) if end == "infrastructure_error" else end == told
    if not fits:
        raise DamagedTranscript(f"its end is {end!r}, which does not follow from its {len(found['turns'])} turns")


def _demand(holds: bool, key: str, holder: Mapping[str, Any]) -> None:
    if not holds:
        raise DamagedTranscript(f"it has no {key}" if key not in holder else f"its {key} cannot be right")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_in(value: Any, values: Sequence[Any]) -> bool:
    return (value is None or isinstance(value, str)) and value in values


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _are_successes(noisy: Any) -> bool:
    return isinstance(noisy, dict) and all(
        isinstance(values, list) and values and all(_is_number(value) for value in values) for values in noisy.values()
    )


def _is_part(feasible: Any, before: Sequence[int] | None) -> bool:
    """Whether positions are among those of the turn before; both None where the oracle cannot tell."""
    if before is None or feasible is None:
        return before is None and feasible is None
    return isinstance(feasible, list) and all(_is_whole(one) for one in feasible) and set(feasible) <= set(before)
