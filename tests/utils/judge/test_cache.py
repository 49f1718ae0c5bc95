"""Replies on disk: what finds them again, and what becomes of a file that cannot be used."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from pathlib import Path

import pytest

from lmms_tasks.utils.judge import Cache, Rubric, shared_cache
from lmms_tasks.utils.judge.cache import StoredReply, cache_key
from lmms_tasks.utils.judge.database import Database, file_system, is_network
from tests.judge_server import completion

REPLY = StoredReply('{"accuracy": 3}', "judge-2025", 100, 20)
RAW = {"id": "chatcmpl-1"}


@pytest.fixture
def path(home: Path) -> Path:
    home.mkdir()
    return home / "judge.sqlite"


def key_of(rubric: Rubric, **changes: object) -> str:
    given = {
        "model": "m",
        "endpoint": "h:1/v1",
        "messages": [{"role": "user", "content": "x"}],
        "parameters": {"temperature": 0.0, "max_tokens": 10},
        "rubric": rubric,
        "generation": 0,
    }
    return cache_key(**{**given, **changes})


# --- keys ---


def test_whatever_decides_a_reply_is_in_its_key(rubric: Rubric) -> None:
    others = [
        key_of(rubric, model="m2"),
        key_of(rubric, endpoint="h:2/v1"),
        key_of(rubric, messages=[{"role": "user", "content": "y"}]),
        key_of(rubric, parameters={"temperature": 0.1, "max_tokens": 10}),
        key_of(rubric, parameters={"temperature": 0.0, "max_tokens": 10, "top_p": 0.5}),
        key_of(rubric.with_template("{{answer}}")),
        key_of(rubric, generation=1),
    ]
    assert len({key_of(rubric), *others}) == len(others) + 1
    assert key_of(rubric) == key_of(rubric)


def test_an_image_counts_by_its_bytes(rubric: Rubric, texts: dict[str, str]) -> None:
    keys = {key_of(rubric, messages=rubric.messages(texts, [b"\x89PNG" + tail])) for tail in (b"1", b"2", b"1")}
    assert len(keys) == 2


# --- what is kept ---


def test_a_reply_is_found_by_the_next_process(path: Path) -> None:
    cache = Cache(Database(path))
    cache.put("k", REPLY, RAW, "first", 0)
    cache.close()
    assert Cache(Database(path)).get("k") == REPLY
    assert Cache(Database(path)).get("other") is None


def test_the_text_of_a_reply_is_stored_once_and_all_else_that_came_beside_it(path: Path) -> None:
    reasoned = StoredReply("<think>" + "so " * 50 + '</think>{"accuracy": 3}', "m", 100, 20)
    cache = Cache(Database(path))
    cache.put("k", reasoned, completion(reasoned.text, model="m", reasoning_content="apart"), "first", 0)
    ((text, body),) = sqlite3.connect(path).execute("SELECT text, reply FROM replies").fetchall()
    assert cache.get("k") == reasoned and text == reasoned.text and "so so" not in body and "apart" in body


def test_a_file_whose_replies_hold_their_text_twice_is_read_as_before(path: Path) -> None:
    row, database = ("k", 1.7e9, "first", 0, *astuple(REPLY)[:4], json.dumps(completion(REPLY.text))), Database(path)
    database.run("INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    assert Cache(database).get("k") == REPLY


def test_an_attempt_without_a_verdict_never_answers_and_stays_for_audit(path: Path) -> None:
    cache = Cache(Database(path))
    cache.record_attempt("k", "invalid", "2 JSON objects instead of one", RAW)
    assert cache.get("k") is None
    (row,) = sqlite3.connect(path).execute("SELECT key, status, reason, reply FROM attempts").fetchall()
    assert row == ("k", "invalid", "2 JSON objects instead of one", json.dumps(RAW))


def test_refresh_asks_once_and_then_remembers(path: Path) -> None:
    Cache(Database(path)).put("k", REPLY, RAW, "first", 0)
    fresh = Cache(Database(path), refresh=True)
    assert fresh.get("k") is None
    newer = StoredReply('{"accuracy": 4}', "judge-2026", 1, 1)
    fresh.put("k", newer, RAW, "first", 0)
    assert fresh.get("k") == newer
    assert Cache(Database(path)).get("k") == newer


def test_without_a_file_the_process_remembers() -> None:
    cache = Cache(None)
    cache.put("k", REPLY, RAW, "first", 0)
    assert cache.get("k") == REPLY


# --- the mode ---


def test_the_mode_decides_whether_there_is_a_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMMS_TASKS_CACHE", "off")
    shared_cache().put("k", REPLY, RAW, "first", 0)
    assert not (home / "judge.sqlite").exists()
    monkeypatch.delenv("LMMS_TASKS_CACHE")
    assert shared_cache().get("k") is None
    assert (home / "judge.sqlite").exists()
    assert shared_cache() is shared_cache()


def test_an_unknown_mode_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMMS_TASKS_CACHE", "no")
    with pytest.raises(SystemExit, match=r"LMMS_TASKS_CACHE is 'no': set it to refresh"):
        shared_cache()


# --- the file ---


def test_only_its_owner_reads_the_file(path: Path) -> None:
    cache = Cache(Database(path))
    cache.put("k", REPLY, RAW, "first", 0)
    files = [path, *path.parent.glob("judge.sqlite-*")]
    assert len(files) == 3  # the write-ahead log and its index
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    Database(path).close()
    path.chmod(0o644)
    Database(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def foreign_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.commit()
    connection.close()


def newer_version(path: Path) -> None:
    Database(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b"no database at all" * 100),
        lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4096),
        foreign_database,
        newer_version,
    ],
    ids=["text", "damaged header", "another program's", "another version's"],
)
def test_a_file_that_is_not_ours_is_set_aside_unharmed(path: Path, spoil, log: list[str]) -> None:
    spoil(path)
    before = path.read_bytes()
    cache = Cache(Database(path))
    cache.put("k", REPLY, RAW, "first", 0)
    assert cache.get("k") == REPLY
    (aside,) = path.parent.glob("judge.sqlite.*.aside")
    assert aside.read_bytes() == before
    assert any(line.startswith("WARNING") and aside.name in line for line in log)


def test_damage_found_in_the_middle_of_a_run_costs_no_run(path: Path, log: list[str]) -> None:
    database = Database(path, local=False)  # without a write-ahead log, so that the damage is not healed from it
    cache = Cache(database)
    for number in range(60):
        cache.put(f"k{number}", StoredReply("x" * 1500, "m", 0, 0), RAW, "first", 0)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 8)
    other = Cache(Database(path, local=False))
    assert [other.get(f"k{number}") for number in range(60)].count(None) > 0
    other.put("new", REPLY, RAW, "first", 0)
    assert other.get("new") == REPLY
    assert list(path.parent.glob("judge.sqlite.*.aside"))


def test_a_file_that_fails_leaves_the_memory(path: Path, log: list[str]) -> None:
    cache = Cache(Database(path))
    sqlite3.connect(path).execute("DROP TABLE replies")  # as if the disk refused the write
    cache.put("k", REPLY, RAW, "first", 0)
    cache.put("k2", REPLY, RAW, "first", 0)
    assert cache.get("k") == REPLY
    assert sum("kept in memory only" in line for line in log) == 1


def test_a_file_that_cannot_be_opened_leaves_the_memory(path: Path, log: list[str]) -> None:
    path.mkdir()  # even root cannot open a folder as a file
    cache = shared_cache()
    cache.put("k", REPLY, RAW, "first", 0)
    assert cache.get("k") == REPLY
    assert any("cannot be opened" in line for line in log)


def test_many_threads_write_and_read(path: Path) -> None:
    cache = Cache(Database(path))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: cache.put(f"k{n}", REPLY, RAW, "first", n), range(200)))
    other = Cache(Database(path))
    assert all(other.get(f"k{n}") == REPLY for n in range(200))


def write(path: str, rank: int) -> None:
    cache = Cache(Database(Path(path)))
    for number in range(100):
        cache.put(f"{rank}-{number}", REPLY, RAW, "first", number)
        cache.put(f"both-{number}", REPLY, RAW, "first", number)


def test_many_processes_open_and_write_at_once(path: Path) -> None:
    """None of them finds the file already there, so they also race for making it."""
    context = multiprocessing.get_context("spawn")
    ranks = [context.Process(target=write, args=(str(path), rank)) for rank in range(3)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    assert [rank.exitcode for rank in ranks] == [0, 0, 0]
    assert sqlite3.connect(path).execute("SELECT count(*) FROM replies").fetchone() == (400,)
    assert not list(path.parent.glob("*.aside"))


def test_threads_that_find_a_broken_file_at_once_set_it_aside_once(path: Path) -> None:
    """Opened without a lock, one in fifty rounds ended in an error: a file was renamed under another's hands."""
    for number in range(60):
        broken = path.with_name(f"{number}.sqlite")
        broken.write_bytes(b"no database at all" * 100)
        start = threading.Barrier(8)

        def open_it(_: int, broken: Path = broken, start: threading.Barrier = start) -> Database:
            start.wait()
            return Database(broken)

        with ThreadPoolExecutor(8) as pool:
            databases = list(pool.map(open_it, range(8)))
        databases[0].run("INSERT INTO attempts (key, time, status, reason) VALUES ('k', 0, 's', 'r')")
        assert all(database.run("SELECT count(*) FROM attempts") == [(1,)] for database in databases)
        assert len(list(path.parent.glob(f"{number}.sqlite.*.aside"))) == 1


def test_a_forked_child_opens_the_file_for_itself(path: Path) -> None:
    cache = Cache(Database(path))
    child = os.fork()
    if child == 0:
        cache.put("child", REPLY, RAW, "first", 0)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert cache.get("child") == REPLY


# --- the file system ---


MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/export /home nfs4 rw 0 0
//nas/share /mnt/my\\040share cifs rw 0 0
tmpfs /home/local tmpfs rw 0 0
scratch /scratch lustre rw 0 0
user@host:/ /mnt/remote fuse.sshfs rw 0 0
"""


@pytest.mark.parametrize(
    "folder, kind, network",
    [
        ("/var/cache", "ext4", False),
        ("/home/user/.cache", "nfs4", True),
        ("/home/local/x", "tmpfs", False),
        ("/mnt/my share/x", "cifs", True),
        ("/scratch/job", "lustre", True),
        ("/mnt/remote", "fuse.sshfs", True),
        ("/homely", "ext4", False),
    ],
)
def test_the_innermost_mount_says_what_file_system_holds_a_folder(
    tmp_path: Path, folder: str, kind: str, network: bool
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert file_system(Path(folder), mounts) == kind
    assert is_network(kind) == network


def test_a_system_without_mounts_is_taken_for_local(tmp_path: Path) -> None:
    assert not is_network(file_system(tmp_path, tmp_path / "none"))


@pytest.mark.parametrize("local, mode", [(True, "wal"), (False, "delete")])
def test_a_network_file_system_gets_the_rollback_journal(path: Path, local: bool, mode: str) -> None:
    assert Database(path, local=local).run("PRAGMA journal_mode") == [(mode,)]


# --- single flight ---


def test_who_asks_for_a_key_under_way_waits_for_its_answer() -> None:
    cache, started, go = Cache(None), threading.Event(), threading.Event()

    def lead() -> str:
        with cache.flight("k") as (future, leads):
            assert leads
            started.set()
            go.wait()
            future.set_result("answer")
        return "led"

    def follow() -> str:
        started.wait()
        with cache.flight("k") as (future, leads):
            assert not leads
        go.set()
        return future.result()

    with ThreadPoolExecutor(2) as pool:
        leader, follower = pool.submit(lead), pool.submit(follow)
        assert (leader.result(), follower.result()) == ("led", "answer")


def test_a_leaders_failure_is_its_followers_failure_and_nobody_elses() -> None:
    cache = Cache(None)
    with pytest.raises(KeyError), cache.flight("k") as (future, _):
        raise KeyError("trouble")
    assert isinstance(future.exception(), KeyError)
    with cache.flight("k") as (_, leads):
        assert leads
