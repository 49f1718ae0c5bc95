"""Transcripts of earlier runs, matched to the rows and to the noise level of a task."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_tasks.amigo.episode import ENDS, Protocol, Transcript
from lmms_tasks.amigo.rows import fingerprint
from lmms_tasks.amigo.transcript import as_text, read_transcript

# A row's position, and the noise of one of its episodes.
Played = tuple[int, float]
# What a transcript says of its episode that it is matched by.
_TOLD = {"episode_id", "row", "gold", "protocol"}


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
        SystemExit: a path has transcripts, and none of these rows under this protocol at any level; or an episode is
            given twice.
    """
    wanted = protocol.record()
    positions = {fingerprint(row): position for position, row in enumerate(rows)}
    answers: dict[Path, dict[int, list[Transcript]]] = {}
    twins: dict[int, dict[str, list[int]]] = {}
    homes: dict[Played, tuple[int, Path]] = {}
    for number, path in enumerate(paths):
        found = list(_transcripts(path))
        if not found:
            continue
        answers[path] = {}
        fitting = [(file, one) for file, one in found if one["row"] in positions and _fits(one, wanted)]
        if not fitting:
            raise SystemExit(
                f"{path}: none of its {len(found)} transcripts is a finished episode of these rows under this task's "
                f"protocol ({json.dumps(wanted)})."
            )
        for file, transcript in fitting:
            position, noise = positions[transcript["row"]], transcript["protocol"]["noise"]
            if homes.setdefault((position, noise), (number, file.parent)) != (number, file.parent):
                raise SystemExit(
                    f"{file}: the episode {transcript['episode_id']} with noise {noise:g} is in "
                    f"{homes[position, noise][1]} already; give one run's transcripts for each level of noise."
                )
            if noise == wanted["noise"]:
                answers[path].setdefault(position, []).append(transcript)
            elif transcript["end"] != "infrastructure_error":
                success = int(transcript["turns"][-1].get("guess") == transcript["gold"])
                twins.setdefault(position, {}).setdefault(f"{noise:g}", []).append(success)
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


def _transcripts(path: Path) -> Iterator[tuple[Path, Transcript]]:
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path] if path.suffix == ".json" else []
    for file in files:
        transcript = read_transcript(file)
        if transcript is not None and transcript.get("end") in ENDS and transcript.keys() >= _TOLD:
            yield file, {key: value for key, value in transcript.items() if key != "run"}


def _fits(transcript: Transcript, wanted: Mapping[str, Any]) -> bool:
    """Whether an episode was played under a protocol, its noise apart."""
    return {**transcript["protocol"], "noise": wanted["noise"]} == wanted
