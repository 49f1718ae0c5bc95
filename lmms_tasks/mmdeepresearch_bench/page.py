"""What became of one cited address: its state, kept apart from its content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

# "ok": read. "dead": there is no such page (no host, 404, 410). "blocked": there may be one, and it was not shown to us.
# "timeout": not whole in time. "unsupported": a kind of content that is not read.
State = Literal["ok", "blocked", "dead", "timeout", "unsupported"]


@dataclass(frozen=True)
class PageImage:
    """An image that a page shows: its address, and the words about it (alternative text and what stands around)."""

    url: str
    words: str


@dataclass(frozen=True)
class Page:
    """One fetched address.

    Attributes:
        url: as cited, without fragment.
        final_url: where the redirects led.
        status: of the last reply, None without one.
        reason: why the state is not "ok"; "" otherwise, or what was cut.
        refused: the address must not be fetched at all (scheme, port, credentials, an address that is not public).
        content_type: as found out, without parameters.
        sha256: of the bytes that came, "" without.
        text: of a page, main text; "" for an image.
        image: the bytes of an image file (PNG, JPEG, GIF or WebP), None for a page.
        images: what a page shows, in its order.
        fetched_at: UTC, ISO 8601.
    """

    url: str
    state: State
    final_url: str = ""
    status: int | None = None
    reason: str = ""
    refused: bool = False
    content_type: str = ""
    sha256: str = ""
    text: str = ""
    image: bytes | None = field(default=None, repr=False)
    images: Sequence[PageImage] = ()
    fetched_at: str = ""

    @property
    def readable(self) -> bool:
        """Whether a judge can be shown its text."""
        return self.state == "ok" and bool(self.text)

    @property
    def missing(self) -> bool:
        """Whether there is nothing behind the address that anybody could check: the citation is worth nothing."""
        return self.state == "dead" or self.refused
