"""The judges' replies on disk: written when they arrive, so that no run pays twice for one judgement.

One SQLite file, `judge.sqlite` in the home folder, shared by threads and processes. Only valid replies answer; every
other attempt is kept for audit. Raw replies are in this file and nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.utils.home import home
from lmms_tasks.utils.judge.database import Database, file_system, is_network
from lmms_tasks.utils.judge.reply import first_token
from lmms_tasks.utils.judge.rubric import Rubric
from lmms_tasks.utils.reasoning import strip_reasoning

MODE = "LMMS_TASKS_CACHE"
FILE = "judge.sqlite"


@dataclass(frozen=True)
class StoredReply:
    """What of a valid reply is needed again."""

    text: str
    model: str
    input_tokens: int
    output_tokens: int
    logprobs: Mapping[str, float] | None = None


def cache_key(
    model: str,
    endpoint: str,
    messages: Sequence[Mapping[str, Any]],
    parameters: Mapping[str, Any],
    rubric: Rubric,
    generation: int,
) -> str:
    """sha256 over all that decides a reply. Images count by the hash of their bytes, `endpoint` holds no credentials."""
    parts = {
        "endpoint": endpoint,
        "generation": generation,
        "messages": [_hashed_images(message) for message in messages],
        "model": model,
        "parameters": parameters,
        "rubric": [rubric.name, rubric.version, rubric.hash],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode("utf-8")).hexdigest()


def _hashed_images(message: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(message["content"], str):
        return dict(message)
    parts = []
    for part in message["content"]:
        if part.get("type") == "image_url":
            url = part["image_url"]["url"].encode("utf-8")
            part = {"type": "image_url", "sha256": hashlib.sha256(url).hexdigest()}
        parts.append(part)
    return {**message, "content": parts}


class Cache:
    """Replies by key: on disk where there is a database, in memory where there is none or where it fails.

    With `refresh`, what the file holds answers only keys that this process has asked itself.
    """

    def __init__(self, database: Database | None, refresh: bool = False):
        self._database = database
        self._refresh = refresh
        # Not what the file has too: the replies of judges that reason would grow a run by many MB for 1,000 rows.
        self._memory: dict[str, StoredReply] = {}
        self._renewed: set[str] = set()
        self._flights: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()
        self._warned = False

    @property
    def on_disk(self) -> bool:
        """Whether replies outlive the process."""
        return self._database is not None

    def get(self, key: str) -> StoredReply | None:
        """The valid reply for `key`, or None."""
        with self._lock:
            if key in self._memory:
                return self._memory[key]
        if not self._from_file(key):
            return None
        rows = self._run("SELECT text, model, input_tokens, output_tokens, reply FROM replies WHERE key = ?", (key,))
        if not rows:
            return None
        *known, body = rows[0]
        return StoredReply(*known, _logprobs(body, known[0]))

    def __contains__(self, key: str) -> bool:
        """Whether there is a valid reply for `key`, without reading it."""
        with self._lock:
            if key in self._memory:
                return True
        return self._from_file(key) and bool(self._run("SELECT 1 FROM replies WHERE key = ?", (key,)))

    def put(self, key: str, reply: StoredReply, raw: Mapping[str, Any], judge: str, generation: int) -> None:
        """Keep a valid reply."""
        kept = self._run(
            "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                key,
                time.time(),
                judge,
                generation,
                reply.text,
                reply.model,
                reply.input_tokens,
                reply.output_tokens,
                json.dumps(_without_text(raw, reply.text)),
            ),
        )
        with self._lock:
            if kept is None:
                # Its reasoning is never read again.
                self._memory[key] = replace(reply, text=strip_reasoning(reply.text).text)
            elif self._refresh:
                self._renewed.add(key)

    def record_attempt(self, key: str, status: str, reason: str, raw: Mapping[str, Any] | None) -> None:
        """Keep, for audit, an attempt that gave no verdict."""
        self._run(
            "INSERT INTO attempts (key, time, status, reason, reply) VALUES (?, ?, ?, ?, ?)",
            (key, time.time(), status, reason, json.dumps(raw) if raw is not None else None),
        )

    @contextmanager
    def flight(self, key: str) -> Iterator[tuple[Future[Any], bool]]:
        """The future that carries the answer to `key`, and whether the caller is the one who has to set it.

        Threads that want the same key at the same time share one future, so that one of them asks for all.
        """
        with self._lock:
            future = self._flights.get(key)
            leads = future is None
            if future is None:
                future = self._flights[key] = Future()
        try:
            yield future, leads
        except BaseException as error:
            if leads and not future.done():
                future.set_exception(error)
            raise
        finally:
            if leads:
                with self._lock:
                    del self._flights[key]

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()

    def _from_file(self, key: str) -> bool:
        """Whether what the file holds for `key` may answer."""
        with self._lock:
            return self._database is not None and (not self._refresh or key in self._renewed)

    def _run(self, statement: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]] | None:
        """The statement's rows, None without a file that works: that costs the cache, never the run."""
        if self._database is None:
            return None
        try:
            return self._database.run(statement, values)
        except sqlite3.Error as error:
            with self._lock:
                warned, self._warned = self._warned, True
            if not warned:
                logger.warning(
                    f"The judge cache {self._database.path} fails ({error}): replies are kept in memory only, and the "
                    "next run will ask again for what is not in the file."
                )
            return None


def _without_text(raw: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """A chat completion without its content where that is `text`, which the file holds already."""
    choices = raw.get("choices")
    if not isinstance(choices, list) or not choices or choices[0].get("message", {}).get("content") != text:
        return raw
    first = {**choices[0], "message": {**choices[0]["message"], "content": None}}
    return {**raw, "choices": [first, *choices[1:]]}


def _logprobs(body: str, text: str) -> dict[str, float] | None:
    """The log-probabilities that a stored reply came with; the body is parsed only where it has some."""
    if '"top_logprobs"' not in body:
        return None
    try:
        return first_token(json.loads(body), text)
    except ValueError:
        return None


_shared: dict[tuple[Path | None, str, int], Cache] = {}
_shared_lock = threading.Lock()


def shared_cache() -> Cache:
    """The process's cache in the mode that `LMMS_TASKS_CACHE` names.

    Unset: the file answers. "refresh": every key is asked anew once in this process. "off": memory only. SystemExit for
    any other value.
    """
    mode = os.environ.get(MODE, "").strip()
    if mode not in ("", "off", "refresh"):
        raise SystemExit(
            f"{MODE} is {mode!r}: set it to refresh (ask anew), to off (keep nothing), or unset it (use stored replies)."
        )
    path = None if mode == "off" else home() / FILE
    place = (path, mode, os.getpid())
    with _shared_lock:
        if place not in _shared:
            _shared[place] = Cache(_open(path) if path else None, refresh=mode == "refresh")
        return _shared[place]


def _open(path: Path) -> Database | None:
    kind = file_system(path.parent)
    if is_network(kind):
        logger.warning(
            f"The judge cache {path} lies on a network file system ({kind}), where SQLite's faster journal is unsafe: "
            "it uses the slower one. LMMS_TASKS_HOME can name a folder on a local disk."
        )
    try:
        return Database(path, local=not is_network(kind))
    except (sqlite3.Error, OSError) as error:
        logger.warning(f"The judge cache {path} cannot be opened ({error}): replies are kept in memory only.")
        return None
