"""Images in a judge's prompt: data URLs, made from whatever form an image has."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_SIGNATURES = ((b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif"), (b"RIFF", "webp"))


def shows_images(messages: Iterable[Mapping[str, Any]]) -> bool:
    """Whether chat messages hold an image."""
    return count_images(messages) > 0


def count_images(messages: Iterable[Mapping[str, Any]]) -> int:
    """How many images chat messages hold."""
    parts = [part for message in messages if not isinstance(message["content"], str) for part in message["content"]]
    return sum(part.get("type") == "image_url" for part in parts)


def image_part(image: Any) -> dict[str, Any]:
    """One `image_url` part of a chat message.

    `image` is a PIL image, the bytes of an image file, a path, or a row's `{"bytes": …, "path": …}`. Files go as they
    are; a PIL image goes as PNG, which is lossless and the same bytes each time, so that the cache finds it again.
    Raises TypeError for anything else, ValueError for bytes of an unknown format.
    """
    data = _encoded(image)
    kind = next((kind for signature, kind in _SIGNATURES if data.startswith(signature)), None)
    if kind is None:
        raise ValueError("an image for a judge is a PNG, JPEG, GIF or WebP file")
    return {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{base64.b64encode(data).decode()}"}}


def _encoded(image: Any) -> bytes:
    if isinstance(image, bytes):
        return image
    if isinstance(image, (str, Path)):
        return Path(image).read_bytes()
    if isinstance(image, Mapping):
        return image["bytes"] if image.get("bytes") is not None else Path(image["path"]).read_bytes()
    if not hasattr(image, "save"):
        raise TypeError(f"an image for a judge is a PIL image, bytes or a path, not {type(image).__name__}")
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, format="PNG")
    return buffer.getvalue()
