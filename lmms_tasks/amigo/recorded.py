"""Transcripts of earlier runs, matched to the rows and to the noise level of a task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.amigo.episode import ENDS, Protocol, Transcript
from lmms_tasks.amigo.metrics import episode_scores
from lmms_tasks.amigo.rows import fingerprint
from lmms_tasks.amigo.transcript import as_text, read_transcript, row_fault
from lmms_tasks.amigo.transcript_fault import DamagedTranscript

# A row's position, and the noise of one of its episodes.
Played = tuple[int, float]
# One of these tells that a JSON file is meant to be a transcript.
_TELLS = {"episode_id", "turns", "protocol"}
_SHOWN = 5  # damaged files that a message names


def read_recorded(
    paths: Sequence[Path], rows: Sequence[Mapping[str, Any]], protocol: Protocol
) -> dict[Path, dict[int, list[str]]]:
    """For each file or folder of transcripts those that answer the rows under a protocol, by the row's position.

    A transcript says its own noise, so folders of several levels may be given together, or one that holds them all, as a
    run of a noise group leaves it. A transcript without noise gets the successes of its episode's noisy twins, from which
    the noise tolerance follows. Copies of an episode (`--repeats`) lie in one folder; in two they are two runs.

    Returns:
        Paths without a transcript are left out; {} for a path whose transcripts are all of another level.

    Raises:
        SystemExit: a path has transcripts, and none of these rows under this protocol at any level; a file is damaged,
            or contradicts its row; or an episode is given twice.
    """
    wanted = protocol.record()
    positions = {fingerprint(row): position for position, row in enumerate(rows)}
    answers: dict[Path, dict[int, list[Transcript]]] = {}
    twins: dict[int, dict[str, list[int]]] = {}
    homes: dict[Played, tuple[int, Path]] = {}
    for number, path in enumerate(paths):
        found = _transcripts(path)
        if not found:
            continue
        answers[path] = {}
        fitting = [(file, one) for file, one in found if one["row"] in positions and _fits(one, wanted)]
        if not fitting:
            raise SystemExit(
                f"{path}: none of its {len(found)} transcripts is a finished episode of these rows under this task's "
                f"protocol ({json.dumps(wanted)})."
            )
        if others := len(found) - len(fitting):
            _warn(f"{path}: {others} of its {len(found)} transcripts are of other rows or another protocol: left out.")
        faults = [(file, row_fault(one, rows[positions[one["row"]]])) for file, one in fitting]
        _end_for([f"{file}: {fault}" for file, fault in faults if fault])
        for file, transcript in fitting:
            position, noise = positions[transcript["row"]], transcript["protocol"]["noise"]
            if homes.setdefault((position, noise), (number, file.parent)) != (number, file.parent):
                raise SystemExit(
                    f"{file}: the episode {transcript['episode_id']} with noise {noise:g} is in "
                    f"{homes[position, noise][1]} already; give one run's transcripts for each level of noise."
                )
            if noise == wanted["noise"]:
                answers[path].setdefault(position, []).append(transcript)
            elif (success := episode_scores(transcript)["identification_success"]) is not None:
                twins.setdefault(position, {}).setdefault(f"{noise:g}", []).append(int(success))
    clean = not wanted["noise"]
    return {
        path: {
            position: [
                as_text({**one, "noisy": twins[position]} if clean and position in twins else one) for one in own
            ]
            for position, own in by_position.items()
        }
        for path, by_position in answers.items()
    }


def _transcripts(path: Path) -> list[tuple[Path, Transcript]]:
    """The transcripts of a folder, or a file that is one; [] for answers in another form.

    Raises:
        SystemExit: files are damaged; the sentence names them.
    """
    if not path.is_dir():
        files = [path] if path.suffix == ".json" and _is_meant(path) else []
    else:
        files = [file for file in sorted(path.rglob("*.json")) if not file.is_dir() and _is_meant(file) is not False]
    found, damaged = [], []
    for file in files:
        try:
            transcript = read_transcript(file)
        except DamagedTranscript as error:
            damaged.append(str(error))
            continue
        if transcript is None or transcript["end"] not in ENDS:
            damaged.append(f"{file}: the episode has not ended")
        else:
            found.append((file, {key: value for key, value in transcript.items() if key != "run"}))
    # A folder of sample logs may hold files that were never transcripts.
    if found or not path.is_dir() or not any(path.rglob("*_samples_*.jsonl")):
        _end_for(damaged)
    return found


def _is_meant(file: Path) -> bool | None:
    """Whether a JSON file is meant to be a transcript, None where it is no JSON object that could tell."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return bool(content.keys() & _TELLS) if isinstance(content, dict) else None


def _end_for(damaged: Sequence[str]) -> None:
    if damaged:
        more = f"; and {len(damaged) - _SHOWN} more" if len(damaged) > _SHOWN else ""
        raise SystemExit(
            f"{'; '.join(damaged[:_SHOWN])}{more}. Move these files away, or run again with AMIGO_TRANSCRIPTS set to their "
            "run's folder, which plays their episodes anew."
        )


@lru_cache(maxsize=64)  # a group's tasks read the same folders
def _warn(sentence: str) -> None:
    logger.warning(sentence)


def _fits(transcript: Transcript, wanted: Mapping[str, Any]) -> bool:
    """Whether an episode was played under a protocol, its noise apart."""
    return {**transcript["protocol"], "noise": wanted["noise"]} == wanted
