"""From the bytes of a reply to a page's text or an image: HTML by trafilatura, PDF by pypdf, images by Pillow."""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import re
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin

import lxml.etree
import lxml.html

from lmms_tasks.mmdeepresearch_bench.page import PageImage

LARGEST_TEXT = 2_000_000  # bytes of HTML or text; of a longer page the beginning is read
LARGEST_IMAGE = 10_000_000  # bytes of an image or a PDF; a larger one is not read
MOST_PIXELS = 25_000_000
SMALLEST_SIDE = 16  # pixels; below are counters and spacers
MOST_PAGES = 60  # of a PDF
PDF_SECONDS = 10.0
MOST_IMAGES = 60  # of a page
# Trafilatura needs 0.2 ms for an element: above, all that a page says is taken, its menus included.
MOST_ELEMENTS = 20_000
LONGEST_TEXT = 400_000  # characters that are kept of a page
_CONTEXT = 500  # characters around an image
_KINDS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{1,40})", re.IGNORECASE)
_HTML_START = re.compile(
    rb"^\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/rss", "application/atom", "application/ld")
_of_thread = threading.local()


class Unsupported(Exception):
    """A kind of content that is not read; the message says which."""


@dataclass(frozen=True)
class Content:
    """What a reply holds."""

    content_type: str
    text: str = ""
    image: bytes | None = None
    images: Sequence[PageImage] = ()


def kind_of(declared: str, head: bytes) -> str:
    """The content's type: by its first bytes where they tell, since servers mislabel, else as declared.

    Raises:
        Unsupported: SVG (a document that can hold scripts and addresses), archives, sound, video and the like.
    """
    declared = declared.partition(";")[0].strip().casefold()
    start = head[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"%PDF-"):
        return "application/pdf"
    for signature, kind in ((b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif")):
        if start.startswith(signature):
            return f"image/{kind}"
    if start.startswith(b"RIFF") and start[8:12] == b"WEBP":
        return "image/webp"
    if declared == "image/svg+xml" or (re.search(rb"<svg[\s>]", start) and not _HTML_START.match(start)):
        raise Unsupported("SVG is not read")
    if declared in ("text/html", "application/xhtml+xml") or _HTML_START.match(start):
        return "text/html"
    if declared.startswith(_TEXT_TYPES) or (not declared and b"\x00" not in start):
        return declared or "text/plain"
    raise Unsupported(f"the type {declared or '(none)'} is not read")


def size_limit(kind: str) -> int:
    """The most bytes that are taken of a reply of this kind."""
    return LARGEST_IMAGE if kind.startswith("image/") or kind == "application/pdf" else LARGEST_TEXT


def read_content(kind: str, body: bytes, charset: str | None, url: str) -> Content:
    """Read the body of a reply.

    Args:
        kind: from `kind_of`.
        charset: as the reply's header declares it.
        url: of the page, against which its images' addresses are read.

    Raises:
        Unsupported: it cannot be read, or there is no text in it.
    """
    if kind.startswith("image/"):
        return Content(_checked_image(body), image=body)
    if kind == "application/pdf":
        text = _pdf_text(body)
        images: Sequence[PageImage] = ()
    elif kind == "text/html":
        text, images = _html(decode(body, charset), url)
    else:
        text, images = decode(body, charset), ()
    text = text.strip()[:LONGEST_TEXT]
    if not text:
        raise Unsupported("there is no text in it")
    return Content(kind, text, images=images)


def decode(body: bytes, charset: str | None) -> str:
    """The text of a body: by the declared charset, the page's own, UTF-8, and Latin-1 for what is none of these."""
    told = _CHARSET.search(body[:4096])
    for name in (charset, told[1].decode("ascii") if told else None, "utf-8"):
        if name:
            try:
                return body.decode("gb18030" if name.casefold() in ("gb2312", "gbk") else name)
            except (LookupError, UnicodeDecodeError):
                continue
    # Cut in the middle of a character, a long UTF-8 page is still one.
    text = body.decode("utf-8", "replace")
    return text if text.count("\ufffd") <= 1 + len(text) // 200 else body.decode("latin-1")


def _html(text: str, url: str) -> tuple[str, list[PageImage]]:
    # Imported here: it costs most of a second, and `lmms-tasks list` needs none of it.
    import trafilatura

    tree = _tree(text)
    if tree is None:
        return "", []
    images = _page_images(tree, url)
    main = ""
    if sum(1 for _ in tree.iter()) <= MOST_ELEMENTS:
        main = (
            trafilatura.extract(tree, include_comments=False, include_tables=True, fast=True, deduplicate=False) or ""
        )
    if len(main) < 200:
        # Short pages and lists are no article to it: then all that the page says.
        whole = _tree(text)
        lxml.etree.strip_elements(whole, "script", "style", "noscript", "template", with_tail=False)
        everything = "\n".join(line for line in map(str.strip, whole.text_content().splitlines()) if line)
        main = everything if len(everything) > len(main) else main
    return main, images


def _tree(text: str) -> lxml.html.HtmlElement | None:
    parser = getattr(_of_thread, "parser", None)
    if parser is None:
        # No entities, no network, no unlimited trees; one for each thread.
        parser = _of_thread.parser = lxml.html.HTMLParser(no_network=True, huge_tree=False, encoding="utf-8")
    try:
        return lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (lxml.etree.ParserError, lxml.etree.XMLSyntaxError, ValueError):
        return None


def _page_images(tree: lxml.html.HtmlElement, url: str) -> list[PageImage]:
    """Images in the page's order with alternative text, caption and up to 500 characters around them."""
    found: dict[str, PageImage] = {}
    for element in itertools.islice(tree.iter("img"), 5 * MOST_IMAGES):
        source = (element.get("src") or element.get("data-src") or "").strip()
        if not source or source.startswith("data:"):
            continue
        try:
            address = urljoin(url, source)
        except ValueError:
            continue
        around = element.getparent()
        while around is not None and around.getparent() is not None and len(_some_text(around)) < 80:
            around = around.getparent()
        words = _some_text(around) if around is not None else ""
        found.setdefault(
            address, PageImage(address, f"{element.get('alt') or ''} {element.get('title') or ''} {words}")
        )
        if len(found) == MOST_IMAGES:
            break
    return list(found.values())


def _some_text(element: lxml.html.HtmlElement) -> str:
    """The text of an element, of its first elements and characters: one element may hold a whole page."""
    parts: list[str] = []
    for inner in itertools.islice(element.iter(), 200):
        if isinstance(inner.tag, str) and inner.tag not in ("script", "style"):
            parts += (inner.text or "", (inner.tail or "") if inner is not element else "")
    return " ".join(" ".join(parts)[: 8 * _CONTEXT].split())[: 2 * _CONTEXT]


def _pdf_text(body: bytes) -> str:
    import pypdf

    # It warns of every oddity of every file.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    end = time.monotonic() + PDF_SECONDS
    texts: list[str] = []
    try:
        for page in pypdf.PdfReader(io.BytesIO(body)).pages[:MOST_PAGES]:
            texts.append(page.extract_text() or "")
            if time.monotonic() > end or sum(map(len, texts)) > LONGEST_TEXT:
                break
    except Exception as error:
        # A broken PDF makes it raise whatever Python has: KeyError, RecursionError, zlib.error, its own.
        if not texts:
            raise Unsupported(f"the PDF cannot be read ({type(error).__name__})") from None
    return "\n".join(texts)


_decoding = threading.Lock()


@contextlib.contextmanager
def _whole_images_only() -> Iterator[None]:
    """Have Pillow refuse images that break off: lmms-eval lets them pass for the whole process, half of them grey."""
    from PIL import ImageFile

    with _decoding:
        before = ImageFile.LOAD_TRUNCATED_IMAGES
        ImageFile.LOAD_TRUNCATED_IMAGES = False
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = before


def _checked_image(body: bytes) -> str:
    """The type of an image that can be decoded and is neither huge nor a spacer."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its own limit on pixels is higher than ours
            with Image.open(io.BytesIO(body), formats=tuple(_KINDS)) as image:
                width, height = image.size
                if width * height > MOST_PIXELS:
                    raise Unsupported(f"the image has {width} × {height} pixels")
                if min(width, height) < SMALLEST_SIDE:
                    raise Unsupported(f"an image of {width} × {height} pixels shows nothing")
                kind = _KINDS[str(image.format)]
                with _whole_images_only():
                    image.load()
                return kind
    except Unsupported:
        raise
    except Exception as error:
        # Pillow's readers raise what they like on damaged files.
        raise Unsupported(f"the image cannot be decoded ({type(error).__name__})") from None
