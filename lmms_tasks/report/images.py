"""Images of rows in the page: small copies of those that may be shown, paths of the others."""

from __future__ import annotations

import base64
import io
from collections.abc import Collection, Sequence
from typing import Any

from lmms_tasks import sources
from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.utils.images import image_column_values, image_columns, open_image
from lmms_tasks.utils.rows import fingerprint

ROWS = 200  # rows with images in one page
BYTES = 9_000_000  # of all copies in one page
_SIDE = 420  # pixels
_QUALITY = 78


def restricted(task: TaskSpec) -> bool:
    """Whether the pixels of a task's rows stay out of a page: everything that we do not ship, unless the benchmark says
    that its images may be passed on."""
    declared = task.benchmark.restricted_images
    return declared(task) if declared else not task.on_samples


class Album:
    """The images of one page, until its rows or bytes are spent."""

    def __init__(self, embed_restricted: bool = False):
        self.rows = 0
        self.bytes = 0
        self.holds_restricted = False
        self._embed_restricted = embed_restricted

    def add(
        self, task: TaskSpec, wanted: Collection[str], doc_ids: Sequence[int]
    ) -> tuple[dict[int, Any], str | None, str | None]:
        """Images by row: lists of `{"src"}`, `{"frame"}` or `{"path"}`; the fingerprint of their rows; a sentence to tell.

        Args:
            wanted: fingerprints of the rows that the runs were on; other rows have other images, and none are taken.
        """
        if not doc_ids:
            return {}, None, None
        if not (task.on_samples or sources.local_source(task)):
            advice = f"set {task.benchmark.data_variable} to show them"
            return {}, None, f"{task.name}: no images, as its rows are not here; {advice}."
        try:
            rows = _rows_with_images(task)
        except SystemExit as error:
            return {}, None, f"{task.name}: no images ({error.code})"
        here = fingerprint(rows.remove_columns(image_columns(rows.column_names)))
        if here not in wanted:
            return {}, None, f"{task.name}: no images, as the rows here are not those that the run was on."
        closed = restricted(task) and not self._embed_restricted
        told = (
            f"{task.name}: its images may not be passed on, so frames or paths stand in their place."
            if closed
            else None
        )
        found = {}
        for doc_id in doc_ids:
            if 0 <= doc_id < len(rows):
                values = image_column_values(rows[doc_id])
                found[doc_id] = _stand_ins(task, rows[doc_id], values) if closed else self._copies(task, values)
        return found, here, told

    def _copies(self, task: TaskSpec, values: Sequence[Any]) -> list[dict[str, str]]:
        if self.rows >= ROWS or self.bytes >= BYTES:
            return [{"path": _path(value)} for value in values]
        copies = []
        for value in values:
            try:
                source = copy(value)
            except SystemExit as error:
                copies.append({"path": str(error.code)})
                continue
            self.bytes += len(source)
            copies.append({"src": source})
        self.rows += bool(copies)
        self.holds_restricted |= restricted(task)
        return copies


def _stand_ins(task: TaskSpec, row: Any, values: Sequence[Any]) -> list[dict[str, Any]]:
    """What stands for pixels that may not be passed on: the benchmark's frames (`size`, `boxes`, `label`), else paths."""
    frames = task.benchmark.frames
    drawn = list(frames(task, row)) if frames else []
    return [{"frame": frame} for frame in drawn] or [{"path": _path(value)} for value in values]


def copy(value: Any) -> str:
    """A small JPEG of an image as a data URL; metadata of the file is left behind."""
    image = open_image(value)
    image.thumbnail((_SIDE, _SIDE))
    written = io.BytesIO()
    image.save(written, "JPEG", quality=_QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(written.getvalue()).decode("ascii")


def _rows_with_images(task: TaskSpec):
    """The rows that were evaluated, with their images, encoded."""
    import datasets

    try:
        loaded = datasets.load_dataset(**sources._load_arguments(task), split=task.split)
    except Exception as error:
        raise SystemExit(f"the rows cannot be read: {type(error).__name__}") from error
    return task.hook("process_docs")(loaded)


def _path(value: Any) -> str:
    if isinstance(value, str):
        return value
    return str((value.get("path") if isinstance(value, dict) else None) or "an image without a path")
