"""What fetching may cost: at once, to one host, in time, and in reading a hostile page."""

from __future__ import annotations

import time

import pytest

from lmms_tasks.mmdeepresearch_bench import content, evidence
from tests.mmdeepresearch_bench import web as w
from tests.mmdeepresearch_bench.web import ARTICLE, Web, html


@pytest.fixture(scope="module")
def loopback():
    with Web({"/article": (200, {}, html(f"<p>{ARTICLE}</p>"))}) as web:
        yield web


def test_a_name_server_that_does_not_answer_is_a_timeout(loopback):
    def silent(host: str, port: int) -> list[str]:
        time.sleep(5)
        return ["127.0.0.1"]

    began = time.monotonic()
    page = loopback.fetcher(resolver=silent, seconds=0.3).fetch(loopback.url("/article"))
    assert page.state == "timeout" and time.monotonic() - began < 3


def test_the_ranks_of_a_run_share_what_is_fetched_at_once(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "8")
    monkeypatch.setenv("RANK", "7")
    fetcher = evidence.pages_for(False)._fetcher
    assert fetcher._threads._max_workers == 8 and fetcher._of_host("a.org")._value == 1


def test_few_requests_go_to_one_host_at_once_and_many_to_many(loopback):
    loopback.routes["/pause"] = w.slow(0.1)
    fetcher = loopback.fetcher(at_once_per_host=3)
    host = f"busy.test:{loopback.port}"
    fetcher.fetch_all([f"{loopback.url('/pause', 'busy.test')}?n={n}" for n in range(1)])
    urls = []
    for n in range(12):
        loopback.routes[f"/pause{n}"] = w.slow(0.1)
        urls.append(loopback.url(f"/pause{n}", "busy.test"))
    fetcher.fetch_all(urls)
    assert loopback.most_at_once[host] == 3
    others = [loopback.url(f"/pause{n}", f"h{n}.test") for n in range(12)]
    began = time.monotonic()
    fetcher.fetch_all(others)
    assert time.monotonic() - began < 12 * 0.1  # one after another would take longer


@pytest.mark.parametrize(
    "piece",
    [b"<p>x</p>", b"<div>", b"<b><i>", b"<tr><td>x</td></tr>", b"<img src=a.png>", b"<script>a</script>", b"a&lt;"],
)
def test_a_hostile_page_of_two_megabytes_costs_seconds(piece):
    body = b"<html><body><p>" + piece * (2_000_000 // len(piece))
    began = time.process_time()
    try:
        content.read_content("text/html", body, "utf-8", "http://news.test/")
    except content.Unsupported as refused:
        assert "no text" in str(refused)
    assert time.process_time() - began < 6
