"""The pages of a run: which claims need which, and where they come from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lmms_tasks.mmdeepresearch_bench.citations import URL
from lmms_tasks.mmdeepresearch_bench.claims import FIRST_IMAGE_LABEL, Claim, looks_like_image
from lmms_tasks.mmdeepresearch_bench.document import Figure
from lmms_tasks.mmdeepresearch_bench.fetch import AT_ONCE, AT_ONCE_PER_HOST, CONTACT, PROXY, Fetcher
from lmms_tasks.mmdeepresearch_bench.page import Page
from lmms_tasks.mmdeepresearch_bench.passages import relevance
from lmms_tasks.mmdeepresearch_bench.snapshot import Pages, ShippedPages, Snapshot
from lmms_tasks.utils.home import home
from lmms_tasks.utils.judge.limits import rank_share

MODE = "LMMS_TASKS_FETCH"
SHIPPED = Path(__file__).parent / "samples" / "pages.parquet"
# An image of a page counts as the figure that a claim speaks of from this share of its words.
LEAST_RELEVANCE = 0.05


@dataclass(frozen=True)
class ImageItem:
    """An image that a report shows or cites, and what the report says of it.

    Attributes:
        statement: caption or claim.
        beside: words that stand by the image where it comes from.
        url: where it is; "" for an image of the task.
        position: of the task's own image, None for any other.
    """

    statement: str
    beside: str
    url: str
    position: int | None = None


def pages_for(on_samples: bool) -> Pages:
    """The process's pages: shipped ones for samples, else the user's snapshot, and the web as `LMMS_TASKS_FETCH` says.

    Unset or "online": what is not stored is fetched. "offline": nothing is fetched. "refresh": what is stored and was not
    read is fetched again, once.

    Raises:
        SystemExit: the variable has another value.
    """
    if on_samples:
        return _shipped()
    # What is fetched at once is a total: each rank takes its share.
    at_once = (rank_share(AT_ONCE), rank_share(AT_ONCE_PER_HOST))
    return _stored(home() / "evidence", check_mode(), os.environ.get(CONTACT, ""), os.environ.get(PROXY, ""), at_once)


def check_mode() -> str:
    """What `LMMS_TASKS_FETCH` says: "online", "offline" or "refresh"; SystemExit for anything else."""
    mode = os.environ.get(MODE, "").strip() or "online"
    if mode not in ("online", "offline", "refresh"):
        raise SystemExit(f"{MODE} is {mode!r}: set it to offline (stored pages only) or refresh, or unset it.")
    return mode


@lru_cache(maxsize=1)
def _shipped() -> Pages:
    return Pages(ShippedPages(SHIPPED), None)


@lru_cache(maxsize=4)
def _stored(folder: Path, mode: str, contact: str, proxy: str, at_once: tuple[int, int]) -> Pages:
    fetcher = None
    if mode != "offline":
        most, most_per_host = at_once
        fetcher = Fetcher(contact=contact.strip(), proxy=proxy.strip(), at_once=most, at_once_per_host=most_per_host)
    return Pages(Snapshot(folder), fetcher, again=mode == "refresh")


def is_direct_image(claim: Claim, pages: Mapping[str, Page]) -> bool:
    """Whether a claim rests on an image itself: MOSAIC looks at those, EVI does not."""
    page = pages.get(claim.url)
    return claim.image is not None or looks_like_image(claim.url) or (page is not None and page.image is not None)


def image_items(
    claims: Sequence[Claim], figures: Sequence[Figure], pages: Mapping[str, Page], n_images: int
) -> list[ImageItem]:
    """The images of a report: embedded figures, then cited images, then figures of cited pages.

    A page's own images count only for claims that speak of a figure, and only the one that comes closest.
    """
    items: list[ImageItem] = []
    for figure in figures:
        statement = figure.caption or figure.alt
        position = _task_image(figure.url, n_images)
        if statement and (position is not None or URL.match(figure.url)):
            items.append(ImageItem(statement, figure.alt, "" if position is not None else figure.url, position))
    direct = [claim for claim in claims if is_direct_image(claim, pages)]
    items += [ImageItem(claim.text, claim.snippet, claim.url, claim.image) for claim in direct]
    for claim in claims:
        page = pages.get(claim.url)
        if claim in direct or not claim.on_image or page is None or not page.readable or not page.images:
            continue
        best = max(page.images, key=lambda image: relevance(claim.text, image.words))
        if relevance(claim.text, best.words) >= LEAST_RELEVANCE:
            items.append(ImageItem(claim.text, best.words, best.url))
    # Of an image that is shown and cited, the first statement counts, and its place.
    unique: dict[tuple[str, int | None], ImageItem] = {}
    for item in items:
        unique.setdefault((item.url, item.position), item)
    return list(unique.values())


def _task_image(url: str, n_images: int) -> int | None:
    """The task's image that `![](901)` means, None for anything else."""
    label = url.strip("[]")
    position = int(label) - FIRST_IMAGE_LABEL if label.isdigit() and len(label) == 3 else -1
    return position if 0 <= position < n_images else None
