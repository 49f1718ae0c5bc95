"""Transcripts: one JSON file an episode, enough to score it again and, while it is played, to go on from it.

An episode in progress is a `.jsonl` file, one line for what is known before it and one for each turn: a turn is on disk
before the next one is played, and costs one short write. Its end makes it a `.json` file.

They lie in `AMIGO_TRANSCRIPTS`, by default in a new folder of `home()/transcripts` for each run. A run whose folder holds
transcripts of an earlier run goes on from them; see `Store.resumable` for what it must find there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.amigo.episode import Protocol, Transcript
from lmms_tasks.amigo.rows import episode_of, fingerprint, gallery_hash
from lmms_tasks.amigo.transcript_fault import FORMAT, DamagedTranscript, check, stored_end
from lmms_tasks.utils.home import home

FOLDER = "AMIGO_TRANSCRIPTS"


def header(row: Mapping[str, Any], protocol: Protocol, oracle: Mapping[str, Any]) -> dict[str, Any]:
    """What a transcript says about its episode; it holds the target, and is no part of any prompt."""
    episode = episode_of(row)
    return {
        "format": FORMAT,
        "episode_id": episode.episode_id,
        "row": fingerprint(row),
        "images": gallery_hash(row),
        "size": episode.size,
        "gold": episode.gold,
        "tier": str(row.get("tier") or episode.size),
        "protocol": protocol.record(),
        "oracle": dict(oracle),
    }


def as_text(transcript: Transcript) -> str:
    """The transcript as one line of JSON that starts with a brace, as lmms-eval wants an episode's last output.

    Angle brackets are escaped: a `</think>` in a message must not make lmms-eval cut the transcript.
    """
    return json.dumps(transcript).replace("<", "\\u003c")


def parse(text: Any) -> Transcript:
    """The transcript in an episode's output, or in lmms-eval's own payload at its step limit.

    Raises:
        DamagedTranscript: there is none, or it is incomplete or contradicts itself.
    """
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        raise DamagedTranscript("it is no JSON, or cut off") from None
    if isinstance(found, dict) and "turns" not in found and isinstance(found.get("state"), dict):
        found = found["state"]
    return check(found)


def row_fault(transcript: Transcript, row: Mapping[str, Any]) -> str | None:
    """Why a transcript is none of a row's, None if it is; images are not looked at."""
    if transcript["row"] != fingerprint(row):
        return "it is of another row"
    episode = episode_of(row)
    for key, expected in (("episode_id", episode.episode_id), ("gold", episode.gold), ("size", episode.size)):
        if transcript[key] != expected:
            return f"its {key} is {transcript[key]!r}, and its row has {expected!r}"
    return None


class Store:
    """The folder of one run's transcripts."""

    def __init__(self) -> None:
        given = os.environ.get(FOLDER, "").strip()
        # Ranks under torchrun share their parent, and then one folder.
        several = int(os.environ.get("WORLD_SIZE", "1")) > 1
        name = f"{datetime.now():%Y%m%d}_{os.getppid()}" if several else f"{datetime.now():%Y%m%d_%H%M%S}_{os.getpid()}"
        self.folder = Path(given).expanduser() if given else home() / "transcripts" / name
        self.run = f"{os.getpid()}-{time.time_ns()}"
        self._told = False

    def place(self, head: Mapping[str, Any]) -> Path:
        """The file of an episode that begins now: copies of a row (`--repeats`, padding) get a file each."""
        number = 1
        while self._is_taken(self._path(head, number)):
            number += 1
        return self._path(head, number)

    def resumable(self, path: Path, head: Mapping[str, Any], first_reply: str) -> Transcript | None:
        """The stored transcript at `path` to go on from, None where the episode has to be played from its start.

        It must be whole, of an earlier run, of the same row, images, protocol and oracle, and the model must begin as it
        began then: a model that begins otherwise is another model, or draws its words at random. An infrastructure error
        is lifted. One sentence in the log says why a transcript is not gone on from.
        """
        try:
            stored = read_transcript(path)
        except DamagedTranscript as error:
            logger.warning(f"{error}: its episode is played from the start.")
            return None
        if stored is None or stored.get("run") == self.run or not stored["turns"]:
            return None
        if reason := _difference(stored, head, first_reply):
            logger.warning(f"{path} {reason}: its episode is played from the start.")
            return None
        end = None if stored["end"] == "infrastructure_error" else stored["end"]
        return {"turns": stored["turns"], "end": end}

    def begin(self, path: Path, transcript: Transcript) -> None:
        """Write an episode's first turn, with what is known before it; or, resumed, its first turns."""
        if not self._told:
            self._told = True
            logger.info(
                f"AMIGO transcripts: {self.folder}. Should this run be stopped, the same command with "
                f"{FOLDER}={self.folder} goes on from them."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        before = {key: value for key, value in transcript.items() if key not in ("turns", "end")}
        lines = [json.dumps(line) for line in ({**before, "run": self.run}, *transcript["turns"])]
        _replace(path.with_suffix(".jsonl"), "\n".join(lines) + "\n")
        path.unlink(missing_ok=True)  # an earlier run's, which this one replaces

    def append(self, path: Path, transcript: Transcript) -> None:
        """Write the last turn of an episode in progress; one that an error has ended got no further turn."""
        if transcript["end"] == "infrastructure_error":
            return
        with path.with_suffix(".jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(transcript["turns"][-1]) + "\n")

    def finish(self, path: Path, transcript: Transcript) -> None:
        """Write an episode that has ended, whole or not at all."""
        _replace(path, json.dumps({**transcript, "run": self.run}))
        path.with_suffix(".jsonl").unlink(missing_ok=True)

    def _is_taken(self, path: Path) -> bool:
        """Whether an episode of this run lies at a path, or something that no file can replace."""
        if blocked := next((one for one in (path, path.with_suffix(".jsonl")) if one.is_dir()), None):
            logger.warning(f"{blocked} is a folder in a transcript's place: the transcript goes to a name beside it.")
            return True
        try:
            earlier = read_transcript(path)
        except DamagedTranscript:
            return False  # `resumable` tells it
        return earlier is not None and earlier.get("run") == self.run and earlier["end"] is not None

    def _path(self, head: Mapping[str, Any], number: int) -> Path:
        protocol = json.dumps(head["protocol"], sort_keys=True)
        kind = f"noise-{head['protocol']['noise']:g}-{hashlib.sha256(protocol.encode()).hexdigest()[:8]}"
        name = re.sub(r"[^\w.-]+", "_", head["episode_id"])[:80]
        copy = "" if number == 1 else f"-{number}"
        return self.folder / kind / f"{name}-{head['row'][:8]}{copy}.json"


_store: Store | None = None
_store_lock = threading.Lock()


def begin_run() -> None:
    """A new run begins: its transcripts go to a folder of their own."""
    global _store
    _store = None


def store() -> Store:
    """The store of the run in progress."""
    global _store
    with _store_lock:  # episodes that are played side by side ask for it at the same time
        if _store is None:
            _store = Store()
        return _store


def read_transcript(path: Path) -> Transcript | None:
    """The transcript at a path: ended, or what there is of one in progress; None if there is none.

    Raises:
        DamagedTranscript: the file cannot be read, is incomplete or contradicts itself; the text names it.
    """
    progress = path.with_suffix(".jsonl")
    file = path if path.exists() or not progress.exists() else progress
    if not file.exists():
        return None
    try:
        text = file.read_text(encoding="utf-8")
        return parse(text) if file == path else _in_progress(text)
    except OSError as error:
        raise DamagedTranscript(f"{file} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise DamagedTranscript(f"{file} is no whole transcript (it is not UTF-8)") from None
    except DamagedTranscript as error:
        raise DamagedTranscript(f"{file} is no whole transcript ({error})") from None


def _in_progress(text: str) -> Transcript:
    """An episode of which each line is on disk; a run that was killed before it wrote the end has all turns."""
    # What follows the last line end was being written when the run was killed.
    lines = text.split("\n")[:-1]
    try:
        found = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        raise DamagedTranscript("one of its lines is no JSON") from None
    if not found or not isinstance(found[0], dict):
        raise DamagedTranscript("its first line does not tell the episode")
    turns = found[1:]
    # The form of the turns is not known yet, and the end follows from it: so it is checked with the end left open.
    try:
        end = stored_end(turns, found[0]["protocol"])
    except (KeyError, TypeError):
        end = None
    return check({**found[0], "turns": turns, "end": end})


def _difference(stored: Transcript, head: Mapping[str, Any], first_reply: str) -> str | None:
    """What keeps a whole transcript from being gone on from."""
    if stored["format"] != FORMAT:
        return f"was written in format {stored['format']}, which does not tell the images that were seen"
    different = [key for key, value in head.items() if stored.get(key) != value]
    if different == ["images"]:
        return "was played with other images"
    if different:
        return f"is of another episode, protocol or oracle ({', '.join(different)})"
    return (
        "begins with another message, so it is of another model" if stored["turns"][0]["raw"] != first_reply else None
    )


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
