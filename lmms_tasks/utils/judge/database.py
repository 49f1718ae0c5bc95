"""The SQLite file behind the judge cache: opened safely on any file system, set aside when it is not ours or broken."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loguru import logger

# The version of the tables below. A file of another version is set aside: its replies may mean something else.
VERSION = 1
# Written into the file's header, so that another program's database is told from ours (SQLite's `application_id`).
APPLICATION = 0x4C4D5459
BUSY = 30.0  # seconds that a writer waits for another process

_TABLES = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY, time REAL NOT NULL, judge TEXT NOT NULL, generation INTEGER NOT NULL, text TEXT NOT NULL,
    model TEXT NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, reply TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, time REAL NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
    reply TEXT
);
CREATE INDEX attempts_key ON attempts (key);
"""

_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\w*|lustre|gpfs|beegfs\w*|ceph|glusterfs|9p|afs|ncpfs|panfs|pvfs2|orangefs|wekafs|virtiofs|"
    r"fuse\.(?:sshfs|glusterfs|ceph\S*|s3fs|gcsfuse|goofys|rclone|juicefs|cvmfs\S*|moosefs|mfs\S*|lustre)"
)


class _Foreign(sqlite3.DatabaseError):
    """A sound database that is not ours, or of another version."""


class Database:
    """One file, one connection, one statement at a time; safe for threads, and for processes through SQLite's locks."""

    def __init__(self, path: Path, local: bool = True):
        self.path = path
        self._local = local
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._inode: int | None = None
        self._connection = self._open_or_set_aside()

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The statement's rows, as a transaction of its own. Raises sqlite3.Error."""
        with self._lock:
            if self._process != os.getpid():
                # SQLite's locks do not survive a fork: the child opens the file anew and leaves the parent's alone.
                self._process, self._connection = os.getpid(), self._open_or_set_aside()
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.DatabaseError as error:
                if not _is_broken(error):
                    raise
                self._connection.close()
                with _held(self.path, exclusively=True):
                    # Another file of this name is one that another process has put there for the same reason.
                    if _inode(self.path) == self._inode:
                        self._set_aside(error)
                    self._connection = self._open()
                return self._connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    def _open_or_set_aside(self) -> sqlite3.Connection:
        try:
            with _held(self.path, exclusively=False):
                return self._open()
        except sqlite3.DatabaseError as error:
            if not _is_broken(error):
                raise
        # Under a lock and looked at once more: of two processes that find the file broken, the second must not set
        # aside the new one that the first has made meanwhile.
        with _held(self.path, exclusively=True):
            try:
                return self._open()
            except sqlite3.DatabaseError as error:
                if not _is_broken(error):
                    raise
                self._set_aside(error)
                return self._open()

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        aside = self.path.with_name(f"{self.path.name}.{time.strftime('%Y%m%d-%H%M%S')}.{time.time_ns() % 10**9}.aside")
        # The file itself last: its log and journal must not lie beside the new one for a moment.
        for ending in ("-wal", "-shm", "-journal", ""):
            with contextlib.suppress(FileNotFoundError):
                os.replace(f"{self.path}{ending}", f"{aside}{ending}")
        logger.warning(f"The judge cache {self.path} cannot be used ({error}): it is kept as {aside.name}.")

    def _open(self) -> sqlite3.Connection:
        # Made before SQLite makes it, so that no moment passes in which others could read it.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        os.chmod(self.path, 0o600)
        connection = sqlite3.connect(self.path, timeout=BUSY, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._inode = _inode(self.path)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY * 1000)}")
        _is_empty(connection)  # before anything is written: a file that is not ours stays as it is
        # A write-ahead log needs shared memory, which a network file system has not.
        _change_journal(connection, "WAL" if self._local else "DELETE")
        connection.execute(f"PRAGMA synchronous = {'NORMAL' if self._local else 'FULL'}")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _is_empty(connection):
                for statement in filter(str.strip, _TABLES.split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Whether the file has nothing in it yet. Raises _Foreign for one that holds something else than our tables."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables and not application and not version:
        return True
    if application != APPLICATION:
        raise _Foreign("it is not ours")
    if version != VERSION:
        raise _Foreign(f"it has version {version} of the tables, and this is {VERSION}")
    if not {"replies", "attempts"} <= tables:
        raise _Foreign("its tables are missing")
    return False


def _is_broken(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is at fault. The subclasses say that it is locked, full or read-only, or that the caller erred."""
    return type(error) in (sqlite3.DatabaseError, _Foreign)


def _change_journal(connection: sqlite3.Connection, mode: str) -> None:
    """Change the journal mode, which SQLite refuses at once, without waiting, while another process opens the file."""
    deadline = time.monotonic() + BUSY
    while True:
        try:
            connection.execute(f"PRAGMA journal_mode = {mode}")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _inode(path: Path) -> int | None:
    """Which file stands under a name."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _held(path: Path, exclusively: bool) -> Iterator[None]:
    """Hold a lock beside `path`: shared while the file is opened, exclusive while it is replaced.

    Without one where the system or the file system has none: SQLite's own locks still guard what is written.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            number = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
            stack.callback(os.close, number)
            fcntl.flock(number, fcntl.LOCK_EX if exclusively else fcntl.LOCK_SH)
        yield


def file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """The type of the file system that holds `folder`, as Linux names it; "" where it is not known (macOS)."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found, longest = "", -1
    resolved = folder.resolve()
    for line in lines:
        parts = line.split()
        if len(parts) < 3:
            continue
        # Blanks in a mount point are written in octal (proc(5)).
        point = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), parts[1]))
        # `>=`: of two mounts on one point the later one is seen.
        if (resolved == point or point in resolved.parents) and len(point.parts) >= longest:
            found, longest = parts[2], len(point.parts)
    return found


def is_network(kind: str) -> bool:
    """Whether a file system's type is one on which several machines write."""
    return _NETWORK.fullmatch(kind) is not None
