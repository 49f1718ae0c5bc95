"""Pages on disk: fetched once, kept whole, enough to do without a network."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from lmms_tasks.mmdeepresearch_bench.page import Page, PageImage
from lmms_tasks.mmdeepresearch_bench.snapshot import NOT_STORED, Pages, Snapshot
from tests.mmdeepresearch_bench import web as w
from tests.mmdeepresearch_bench.web import ARTICLE, Web, html, picture


@pytest.fixture
def loopback():
    routes = {
        "/article": (200, {}, html(f"<p>{ARTICLE}</p>")),
        "/pause": w.slow(0.3),
        "/growth.png": (200, {"Content-Type": "image/png"}, picture()),
        "/403": (403, {}, b"no"),
        "/404": (404, {}, b"no"),
    }
    with Web(routes) as web:
        yield web


PAGE = Page(
    "https://a.org/x",
    "ok",
    final_url="https://a.org/y",
    status=200,
    content_type="text/html",
    sha256="ab",
    text="太阳能 growth",
    images=(PageImage("https://a.org/i.png", "growth"),),
    fetched_at="2026-11-30T12:00:00+00:00",
)


@pytest.mark.parametrize(
    "page", [PAGE, replace(PAGE, text="", image=picture()), Page("https://a.org/x", "dead", status=404, reason="gone")]
)
def test_a_page_comes_back_as_it_was_put(tmp_path, page):
    Snapshot(tmp_path).put(page)
    assert Snapshot(tmp_path).get("https://a.org/x#part") == page


def test_equal_contents_are_kept_once(tmp_path):
    snapshot = Snapshot(tmp_path)
    for number in range(3):
        snapshot.put(replace(PAGE, url=f"https://a.org/{number}"))
    assert len([path for path in (tmp_path / "content").rglob("*") if path.is_file()]) == 1


def test_damaged_content_is_no_page(tmp_path):
    snapshot = Snapshot(tmp_path)
    snapshot.put(PAGE)
    (content,) = [path for path in (tmp_path / "content").rglob("*") if path.is_file()]
    content.write_bytes(b"something else")
    assert snapshot.get(PAGE.url) is None
    (record,) = (tmp_path / "pages").rglob("*.json")
    record.write_text("{")
    assert snapshot.get(PAGE.url) is None


def test_what_is_stored_is_not_fetched_again_whatever_its_state(loopback, tmp_path):
    urls = [loopback.url(path) for path in ("/article", "/growth.png", "/403", "/404")]
    first = Pages(Snapshot(tmp_path), loopback.fetcher()).get(urls)
    assert [first[url].state for url in urls] == ["ok", "ok", "blocked", "dead"]
    asked = dict(loopback.asked)
    assert Pages(Snapshot(tmp_path), loopback.fetcher()).get(urls) == first
    assert Pages(Snapshot(tmp_path), None).get(urls) == first
    assert dict(loopback.asked) == asked


def test_offline_an_unknown_address_is_blocked_and_not_stored_as_that(loopback, tmp_path):
    url = loopback.url("/article")
    page = Pages(Snapshot(tmp_path), None).get([url])[url]
    assert (page.state, page.reason, page.missing) == ("blocked", NOT_STORED, False)
    assert Snapshot(tmp_path).get(url) is None
    assert Pages(Snapshot(tmp_path), loopback.fetcher()).get([url])[url].state == "ok"


def test_asked_again_are_only_those_that_were_not_read_and_only_once(loopback, tmp_path):
    urls = [loopback.url("/article"), loopback.url("/403")]
    Pages(Snapshot(tmp_path), loopback.fetcher()).get(urls)
    loopback.routes["/403"] = (200, {}, html(f"<p>{ARTICLE}</p>"))
    again = Pages(Snapshot(tmp_path), loopback.fetcher(), again=True)
    assert again.get(urls)[urls[1]].state == "ok"
    again.get(urls)
    assert (loopback.asked["/article"], loopback.asked["/403"]) == (1, 2)


def test_threads_that_want_one_page_at_once_share_one_request(loopback, tmp_path):
    pages, found = Pages(Snapshot(tmp_path), loopback.fetcher()), []
    url = loopback.url("/pause")
    threads = [threading.Thread(target=lambda: found.append(pages.get([url, url])[url].state)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["ok"] * 8 and loopback.asked["/pause"] == 1


class AtOnce:
    """A fetcher that is done before anybody can ask for its page."""

    def submit(self, url: str) -> Future[Page]:
        future: Future[Page] = Future()
        future.set_result(replace(PAGE, url=url))
        return future


def test_a_page_that_is_there_at_once_blocks_nobody(tmp_path):
    pages, found = Pages(Snapshot(tmp_path), AtOnce()), []
    thread = threading.Thread(target=lambda: found.append(pages.get([PAGE.url])[PAGE.url]), daemon=True)
    thread.start()
    thread.join(10)
    assert found == [PAGE]


KILLED = """
import os, sys, threading, time
from pathlib import Path
from lmms_tasks.mmdeepresearch_bench.fetch import Fetcher
from lmms_tasks.mmdeepresearch_bench.snapshot import Pages, Snapshot
port, folder = int(sys.argv[1]), Path(sys.argv[2])
fetcher = Fetcher(resolver=lambda host, port: ["127.0.0.1"], allowed=[("127.0.0.1", port)])
threading.Thread(target=lambda: (sys.stdin.readline(), os._exit(9)), daemon=True).start()
Pages(Snapshot(folder), fetcher).get([f"http://h{n}.test:{port}/{p}" for n, p in enumerate(["article", "404", "held"])])
"""


def test_after_a_kill_only_the_page_that_was_under_way_is_fetched_again(loopback, tmp_path):
    release, reached = threading.Event(), threading.Event()

    def held(handler):
        reached.set()
        release.wait(30)
        handler.reply(200, {}, html(f"<p>{ARTICLE}</p>"))

    loopback.routes["/held"] = held
    command = [sys.executable, "-c", KILLED, str(loopback.port), str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    assert reached.wait(60)
    stored = [tmp_path / "pages"]
    deadline = 200
    while len(list(stored[0].rglob("*.json"))) < 2 and deadline:
        deadline -= 1
        threading.Event().wait(0.1)
    process.communicate("stop\n")
    assert process.returncode == 9
    release.set()
    urls = [f"http://h{n}.test:{loopback.port}/{p}" for n, p in enumerate(["article", "404", "held"])]
    found = Pages(Snapshot(tmp_path), loopback.fetcher()).get(urls)
    assert [found[url].state for url in urls] == ["ok", "dead", "ok"]
    assert (loopback.asked["/article"], loopback.asked["/404"], loopback.asked["/held"]) == (1, 1, 2)


def test_a_record_holds_no_text_of_the_page(tmp_path: Path):
    Snapshot(tmp_path).put(PAGE)
    (record,) = (tmp_path / "pages").rglob("*.json")
    told = json.loads(record.read_text())
    assert told["text"] == "" and told["final_url"] == PAGE.final_url and told["fetched_at"] == PAGE.fetched_at
