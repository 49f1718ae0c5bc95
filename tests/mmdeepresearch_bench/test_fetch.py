"""Fetching from a loopback web of more than 25 pages: every state, every forbidden target, no page that hangs it."""

from __future__ import annotations

import socket
import time

import pytest

from lmms_tasks.mmdeepresearch_bench import addresses, content
from lmms_tasks.mmdeepresearch_bench.fetch import Fetcher
from tests.mmdeepresearch_bench import web as w
from tests.mmdeepresearch_bench.web import ARTICLE, Web, html, pdf, picture

SECONDS = 1.5
BOMB = b"<html><body>" + b"<p>growth</p>" * 2_000_000

ROUTES = {
    "/article": (200, {}, html(f"<h1>Solar</h1><p>{ARTICLE}</p>")),
    "/latin": (200, {"Content-Type": "text/html; charset=iso-8859-1"}, html(f"<p>{ARTICLE} Zürich</p>".replace("ü", "\xfc")).decode().encode("latin-1")),
    "/gbk": (200, {}, html(f"<p>{'太阳能产量上升。' * 40}</p>", '<meta charset="gb2312">').decode().encode("gb18030")),
    "/chart": (200, {}, html(f'<p>{ARTICLE}</p><figure><img src="/growth.png" alt="solar growth"><figcaption>Growth</figcaption></figure>')),
    "/plain": (200, {"Content-Type": "text/plain"}, ARTICLE.encode()),
    "/json": (200, {"Content-Type": "application/json"}, b'{"growth": 12}'),
    "/paper.pdf": (200, {"Content-Type": "application/pdf"}, pdf("Output rose by twelve percent.")),
    "/mislabelled": (200, {"Content-Type": "text/html"}, pdf("A paper behind the wrong type.")),
    "/growth.png": (200, {"Content-Type": "image/png"}, picture("PNG")),
    "/photo.jpg": (200, {"Content-Type": "application/octet-stream"}, picture("JPEG")),
    "/photo.webp": (200, {"Content-Type": "image/webp"}, picture("WEBP")),
    "/packed": w.packed(html(f"<p>{ARTICLE}</p>")),
    "/404": (404, {}, b"gone"),
    "/410": (410, {}, b"gone"),
    "/401": (401, {}, b"log in"),
    "/403": (403, {}, html(f"<p>{ARTICLE}</p>")),
    "/429": (429, {"Retry-After": "60"}, b"slow down"),
    "/500": (500, {}, b"oops"),
    "/slow": w.slow(30),
    "/drip-header": w.dripping("header"),
    "/drip-body": w.dripping("body"),
    "/endless": w.endless,
    "/bomb": w.packed(BOMB),
    "/hop": (302, {"Location": "/hop2"}, b""),
    "/hop2": (301, {"Location": "/article"}, b""),
    "/loop": (302, {"Location": "/loop"}, b""),
    "/to-nowhere": (302, {"Location": "http://["}, b""),
    "/to-file": (302, {"Location": "file:///etc/passwd"}, b""),
    "/to-metadata": (302, {"Location": "http://169.254.169.254/latest/meta-data/"}, b""),
    "/to-loopback": (302, {"Location": "http://127.0.0.1/"}, b""),
    "/to-private": (302, {"Location": "http://10.0.0.7/"}, b""),
    "/to-ftp": (302, {"Location": "ftp://news.test/x"}, b""),
    "/to-credentials": (302, {"Location": "http://user:secret@news.test/"}, b""),
    "/drawing.svg": (200, {"Content-Type": "image/svg+xml"}, b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"),
    "/svg-as-png": (200, {"Content-Type": "image/png"}, b"<?xml version='1.0'?><svg></svg>"),
    "/video.mp4": (200, {"Content-Type": "video/mp4"}, b"\x00\x00\x00\x18ftypmp42"),
    "/zip": (200, {"Content-Type": "application/zip"}, b"PK\x03\x04"),
    "/broken.png": (200, {"Content-Type": "image/png"}, picture("PNG")[:60]),
    "/wide.png": (200, {"Content-Type": "image/png"}, picture("PNG", (6000, 5000))),
    "/spacer.gif": (200, {"Content-Type": "image/gif"}, picture("GIF", (1, 1))),
    "/broken.pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.4\nnothing"),
    "/large.pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.4\n" + b"x" * 10_000_001),
    "/empty": (200, {}, b"<html><body><script>draw()</script></body></html>"),
    "/brotli": (200, {"Content-Encoding": "br"}, b"\x0b\x02\x80"),
    "/not-gzip": (200, {"Content-Encoding": "gzip"}, b"plain"),
}  # fmt: skip

STATES = {
    "ok": ["/article", "/latin", "/gbk", "/chart", "/plain", "/json", "/paper.pdf", "/mislabelled", "/growth.png", "/photo.jpg", "/photo.webp", "/packed", "/endless", "/bomb", "/hop"],
    "dead": ["/404", "/410"],
    "blocked": ["/401", "/403", "/429", "/500", "/loop", "/not-gzip"],
    "timeout": ["/slow", "/drip-header", "/drip-body"],
    "unsupported": ["/drawing.svg", "/svg-as-png", "/video.mp4", "/zip", "/broken.png", "/wide.png", "/spacer.gif", "/broken.pdf", "/large.pdf", "/empty", "/brotli"],
    "refused": ["/to-nowhere", "/to-file", "/to-metadata", "/to-loopback", "/to-private", "/to-ftp", "/to-credentials"],
}  # fmt: skip


@pytest.fixture(scope="module")
def loopback():
    with Web(ROUTES) as web:
        yield web


@pytest.fixture(scope="module")
def pages(loopback):
    """Every page of the web, fetched side by side, by path; and how long that took in seconds."""
    fetcher = loopback.fetcher(seconds=SECONDS, at_once_per_host=64)
    fetcher.fetch(loopback.url("/article"))  # trafilatura's import is no part of the time
    began = time.monotonic()
    found = fetcher.fetch_all(loopback.url(path) for path in ROUTES)
    taken = time.monotonic() - began
    fetcher.close()
    return {path: found[loopback.url(path)] for path in ROUTES}, taken


def test_the_web_is_large_enough():
    assert len(ROUTES) >= 25 and sum(map(len, STATES.values())) == len(ROUTES) - 1  # /hop2 is a stop on the way


@pytest.mark.parametrize("state, path", [(state, path) for state, paths in STATES.items() for path in paths])
def test_each_page_has_its_state(pages, state, path):
    page = pages[0][path]
    if state == "refused":
        assert (page.state, page.refused) == ("unsupported", True) and page.reason.startswith("refused: ")
    else:
        assert (page.state, page.refused) == (state, False), page.reason
    # State and content are apart: whatever an error page says, no judge reads it.
    assert bool(page.text or page.image) is (state == "ok")
    assert page.readable is (state == "ok" and page.image is None)
    assert page.missing is (state in ("dead", "refused"))


def test_nothing_hangs(pages):
    # All are fetched at once, so the slowest decides: one deadline, and what it takes to read what came.
    assert pages[1] < SECONDS + 12


def test_texts_are_read_in_their_own_encoding_and_without_markup(pages):
    found = pages[0]
    assert ARTICLE[:60] in found["/article"].text and "<" not in found["/article"].text
    assert "Zürich" in found["/latin"].text
    assert "太阳能产量上升" in found["/gbk"].text
    assert "Output rose by twelve percent." in found["/paper.pdf"].text
    assert "A paper behind the wrong type." in found["/mislabelled"].text
    assert found["/mislabelled"].content_type == "application/pdf"
    assert ARTICLE[:60] in found["/packed"].text


def test_images_are_kept_as_they_came_and_known_by_their_bytes(pages):
    assert pages[0]["/growth.png"].image == picture("PNG")
    assert pages[0]["/photo.jpg"].content_type == "image/jpeg"


def test_the_images_of_a_page_are_listed_with_the_words_around_them(pages, loopback):
    (image,) = pages[0]["/chart"].images
    assert image.url == loopback.url("/growth.png")
    assert "solar growth" in image.words and "Growth" in image.words


def test_of_a_page_without_end_the_beginning_is_read(pages):
    for path in ("/endless", "/bomb"):
        assert pages[0][path].reason == "only its beginning was read"
        assert len(pages[0][path].text) <= content.LONGEST_TEXT


def test_redirects_lead_to_the_final_address(pages, loopback):
    page = pages[0]["/hop"]
    assert (page.url, page.final_url) == (loopback.url("/hop"), loopback.url("/article"))


def test_a_loop_is_asked_six_times_and_no_more(loopback):
    before = loopback.asked["/loop"]
    loopback.fetcher().fetch(loopback.url("/loop"))
    assert loopback.asked["/loop"] - before == 6


@pytest.mark.parametrize("path", ["/404", "/403", "/429", "/500"])
def test_an_error_is_asked_once(loopback, path):
    before = loopback.asked[path]
    loopback.fetcher().fetch(loopback.url(path))
    assert loopback.asked[path] - before == 1


def test_a_host_that_does_not_exist_is_dead(loopback):
    page = loopback.fetcher().fetch("http://gone.invalid/x")
    assert (page.state, page.status, page.missing) == ("dead", None, True)


def test_a_server_that_refuses_the_connection_may_come_back():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fetcher = Fetcher(resolver=lambda host, port: ["127.0.0.1"], allowed=[("127.0.0.1", port)])
    assert fetcher.fetch(f"http://down.test:{port}/").state == "blocked"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/x",
        "data:text/html,hello",
        "javascript:alert(1)",
        "/etc/passwd",
        "http://",
        "http://user:secret@example.org/",
        "http://example.org:8080/",
        "http://example.org:22/",
        "https://example.org:6379/",
        "http://127.0.0.1/",
        "http://localhost/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0/",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        "http://[::1]/",
        "http://[::]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://[fec0::1]/",
        "http://[64:ff9b:1::7f00:1]/",
        "http://[::ffff:0:127.0.0.1]/",
        "http://[ff02::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[::127.0.0.1]/",
        "http://" + "a" * 5000,
    ],
)
def test_a_forbidden_target_is_refused_without_a_connection(url):
    # The system's own resolver: that is what turns 2130706433 and 0x7f.1 into 127.0.0.1.
    page = Fetcher(seconds=5).fetch(url)
    assert page.state == "unsupported" and page.refused, page.reason
    assert page.status is None


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "8.8.8.8"])
def test_public_addresses_are_public(address):
    assert addresses.is_public(address)


def test_one_private_address_among_public_ones_is_enough_to_refuse(loopback):
    fetcher = loopback.fetcher(resolver=lambda host, port: ["127.0.0.1", "10.0.0.1"])
    assert fetcher.fetch(loopback.url("/article")).refused


def test_a_name_that_answers_differently_the_second_time_gains_nothing(loopback):
    """The connection goes to the address that was checked: the name is resolved once a hop."""
    answers = []

    def rebinding(host: str, port: int) -> list[str]:
        answers.append(host)
        return ["127.0.0.1"] if len(answers) == 1 else ["127.0.0.2"]

    page = loopback.fetcher(resolver=rebinding).fetch(loopback.url("/article", "rebind.test"))
    assert page.state == "ok" and answers == ["rebind.test"]
    # The next hop is resolved and checked anew: its answer is loopback and not allowed.
    answers.clear()
    page = loopback.fetcher(resolver=rebinding).fetch(loopback.url("/hop", "rebind.test"))
    assert page.refused and answers == ["rebind.test", "rebind.test"]


def test_a_public_name_that_turns_to_loopback_is_never_connected_to_there(loopback):
    """Checked as public, then 127.0.0.1: the connection is tried at the public address, which leads nowhere here."""
    asked = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["192.0.2.1"] if len(asked) == 1 else ["127.0.0.1"]

    before = sum(loopback.asked.values())
    allowed = [("192.0.2.1", loopback.port)]  # stands for a public address: a documentation net that nobody routes
    page = Fetcher(resolver=rebinding, allowed=allowed, seconds=1).fetch(loopback.url("/article", "rebind.test"))
    assert page.state in ("timeout", "blocked") and asked == ["rebind.test"]
    assert sum(loopback.asked.values()) == before


def test_only_the_allowed_pair_is_allowed(loopback):
    fetcher = loopback.fetcher(allowed=[("127.0.0.1", loopback.port)])
    assert fetcher.fetch(f"http://127.0.0.1:{loopback.port}/article").state == "ok"
    assert fetcher.fetch("http://127.0.0.1:80/").refused
    assert fetcher.fetch(f"http://127.0.0.2:{loopback.port}/article").refused


def test_no_variable_opens_the_fetcher(loopback, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{loopback.port}")
    before = sum(loopback.asked.values())
    fetcher = Fetcher.from_environment()
    assert fetcher.fetch(f"http://127.0.0.1:{loopback.port}/article").refused
    assert fetcher.fetch("http://gone.invalid/").state == "dead"
    assert sum(loopback.asked.values()) == before


def test_a_proxy_of_our_own_variable_is_used_and_targets_are_checked_all_the_same(loopback, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_FETCH_PROXY", f"http://127.0.0.1:{loopback.port}")
    fetcher = Fetcher.from_environment()
    before = sum(loopback.asked.values())
    assert fetcher.fetch("http://169.254.169.254/latest/").refused
    assert sum(loopback.asked.values()) == before
    # A proxy is asked for the whole address; this one has no such page.
    assert fetcher.fetch("http://93.184.216.34/x").state == "dead"
    assert loopback.asked["http://93.184.216.34/x"] == 1


def test_who_asks_says_so_and_sends_no_cookie(loopback, monkeypatch):
    monkeypatch.setenv("LMMS_TASKS_FETCH_CONTACT", "mailto:lab@example.org")
    loopback.routes["/cookie"] = (302, {"Location": "/article", "Set-Cookie": "id=1"}, b"")
    contact = Fetcher.from_environment()._client.headers["User-Agent"]
    assert contact.startswith("lmms-tasks/") and "lab@example.org" in contact
    loopback.fetcher(contact="lab@example.org").fetch(loopback.url("/cookie"))
    sent = loopback.headers[-1]
    assert "lab@example.org" in sent["User-Agent"] and "Cookie" not in sent


def test_an_image_that_breaks_off_is_refused_inside_lmms_eval_too(monkeypatch):
    # lmms_eval.api.task sets this for the whole process, and Pillow then fills the rest with grey.
    from PIL import ImageFile

    from lmms_tasks.mmdeepresearch_bench import content

    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    assert content._checked_image(picture("PNG")) == "image/png"
    with pytest.raises(content.Unsupported):
        content._checked_image(picture("PNG")[:60])
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True
