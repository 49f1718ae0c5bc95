"""Fetched pages on disk, so that no page is fetched twice and a score can be had again without a network.

A page's record lies under the hash of its address, its text or image under the hash of its content. What is written is
written whole or not at all, so a run that is killed loses at most the pages under way.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from lmms_tasks.mmdeepresearch_bench.fetch import Fetcher
from lmms_tasks.mmdeepresearch_bench.page import Page, PageImage

NOT_STORED = "not in the snapshot, and nothing is fetched"


class Store(Protocol):
    """Where pages are kept."""

    def get(self, url: str) -> Page | None:
        """The page of an address, None where there is none."""

    def put(self, page: Page) -> None:
        """Keep a page."""


class Snapshot:
    """Pages in a folder. Threads and processes may share it."""

    def __init__(self, folder: Path):
        self._folder = folder

    def get(self, url: str) -> Page | None:
        """The stored page; None where there is none, or where its files are damaged."""
        try:
            record = json.loads(self._record(url).read_text(encoding="utf-8"))
            content = self._content(record["content"]).read_bytes() if record["content"] else b""
            if record["content"] and hashlib.sha256(content).hexdigest() != record["content"]:
                return None
            return page_of(record, content)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def put(self, page: Page) -> None:
        """Keep a page, in place of an earlier one of its address."""
        content = page.image if page.image is not None else page.text.encode("utf-8", "replace")
        digest = hashlib.sha256(content).hexdigest() if content else ""
        if digest and not self._content(digest).exists():
            _write(self._content(digest), content)
        record = json.dumps({**record_of(page), "content": digest}, ensure_ascii=False)
        _write(self._record(page.url), record.encode("utf-8", "replace"))

    def _record(self, url: str) -> Path:
        key = hashlib.sha256(without_fragment(url).encode("utf-8", "replace")).hexdigest()
        return self._folder / "pages" / key[:2] / f"{key}.json"

    def _content(self, digest: str) -> Path:
        return self._folder / "content" / digest[:2] / digest


class ShippedPages:
    """Pages that come with the package, from a parquet file; nothing can be added."""

    def __init__(self, path: Path):
        import pyarrow.parquet

        rows = pyarrow.parquet.read_table(path).to_pylist()
        self._pages = {row["url"]: page_of(json.loads(row["record"]), row["content"]) for row in rows}

    def get(self, url: str) -> Page | None:
        """The page of an address, None where there is none."""
        return self._pages.get(without_fragment(url))

    def put(self, page: Page) -> None:
        """Nothing is kept: the next run finds the same pages."""


class Pages:
    """Pages by address: stored ones, and where a fetcher is given, fetched and stored.

    Args:
        fetcher: None fetches nothing; an address that is not stored is then "blocked", and not stored as that.
        again: fetch anew, once in this process, what is stored and was not read.
    """

    def __init__(self, store: Store, fetcher: Fetcher | None, again: bool = False):
        self._store = store
        self._fetcher = fetcher
        self._again = again
        self._renewed: set[str] = set()
        self._flights: dict[str, Future[Page]] = {}
        self._lock = threading.Lock()

    def get(self, urls: Iterable[str]) -> dict[str, Page]:
        """The pages of all addresses, each fetched once however many threads want it."""
        wanted = list(dict.fromkeys(urls))
        waiting = {url: self._start(url) for url in wanted}
        return {url: replace(future.result(), url=url) for url, future in waiting.items()}

    def stored(self, urls: Iterable[str]) -> dict[str, Page]:
        """The pages that are stored; nothing is fetched."""
        found = {url: self._store.get(url) for url in dict.fromkeys(urls)}
        return {url: page or _unstored(url) for url, page in found.items()}

    def _start(self, url: str) -> Future[Page]:
        key = without_fragment(url)
        with self._lock:
            if key in self._flights:
                return self._flights[key]
            page = self._store.get(url)
            if page is not None and (page.state == "ok" or not self._again or key in self._renewed):
                return _done(page)
            if self._fetcher is None:
                return _done(page or _unstored(url))
            self._renewed.add(key)
            flight = self._flights[key] = Future()
        # Not under the lock: a fetch that is done by now calls back at once, in this thread.
        self._fetcher.submit(url).add_done_callback(lambda fetched: self._land(key, flight, fetched))
        return flight

    def _land(self, key: str, flight: Future[Page], fetched: Future[Page]) -> None:
        """Store a page and hand it to all who wait for it."""
        try:
            page = fetched.result()
            self._store.put(page)
        except BaseException as error:
            flight.set_exception(error)
        else:
            flight.set_result(page)
        finally:
            with self._lock:
                self._flights.pop(key, None)


def without_fragment(url: str) -> str:
    """The address as it is asked: the part behind # stays in the browser."""
    return url.partition("#")[0].strip()


def record_of(page: Page) -> dict[str, Any]:
    """A page as JSON, without its content."""
    record = asdict(replace(page, image=None, text=""))
    record["images"] = [[image.url, image.words] for image in page.images]
    return {**record, "is_image": page.image is not None}


def page_of(record: Mapping[str, Any], content: bytes) -> Page:
    """The page of a record and its content."""
    fields = {name: value for name, value in record.items() if name not in ("content", "is_image")}
    fields["images"] = tuple(PageImage(*image) for image in record["images"])
    if record["is_image"]:
        return Page(**{**fields, "image": bytes(content)})
    return Page(**{**fields, "text": content.decode("utf-8")})


def _unstored(url: str) -> Page:
    return Page(url, "blocked", reason=NOT_STORED)


def _done(page: Page) -> Future[Page]:
    future: Future[Page] = Future()
    future.set_result(page)
    return future


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.partial")
    partial.write_bytes(content)
    partial.replace(path)
