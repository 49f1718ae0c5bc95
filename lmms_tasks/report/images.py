"""Images of rows in the page: small copies of those that may be shown, paths of the others."""

from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Collection, Sequence
from typing import Any

from lmms_tasks import sources
from lmms_tasks.benchmarks import TaskSpec
from lmms_tasks.utils.images import image_column_values, image_columns, open_image
from lmms_tasks.utils.rows import fingerprint

ROWS = 200  # rows with images in one page
BYTES = 9_000_000  # of all copies in one page
IMAGES_OF_A_ROW = 16  # a volume has up to 46 slices
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
        self, task: TaskSpec, wanted: Collection[str], doc_ids: Sequence[int], embedded: Collection[int]
    ) -> tuple[dict[int, Any], str | None, str | None]:
        """Images by row: lists of `{"src"}`, `{"frame"}` or `{"path"}`; the fingerprint of their rows; a sentence to tell.

        Args:
            wanted: fingerprints of the rows that the runs were on; other rows have other images, and none are taken.
            doc_ids: the rows that the page shows.
            embedded: those of them whose images are worth their bytes; the others get the paths of theirs.
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
        paths, chosen = _paths(rows), set(embedded)
        texts = rows.remove_columns(image_columns(rows.column_names))
        found = {}
        for doc_id in doc_ids:
            if not 0 <= doc_id < len(rows):
                continue
            shown: list[dict[str, Any]] = []
            if closed:
                shown = _frames(task, texts[doc_id])
            elif doc_id in chosen and self.rows < ROWS and self.bytes < BYTES:
                shown = self._copies(task, rows[doc_id])
            if shown := shown or [{"path": path} for path in paths[doc_id]]:
                found[doc_id] = shown
        return found, here, told

    def _copies(self, task: TaskSpec, row: Any) -> list[dict[str, str]]:
        copies: list[dict[str, str]] = []
        try:
            # Rows without image columns find their images elsewhere, as they do for a model.
            values = image_column_values(row) or list(task.hook("doc_to_visual")(row) or ())
        except SystemExit as error:
            return [{"path": str(error.code)}]
        for value in values[:IMAGES_OF_A_ROW]:
            try:
                source = copy(value)
            except SystemExit as error:
                copies.append({"path": str(error.code)})
                continue
            self.bytes += len(source)
            copies.append({"src": source})
        if len(values) > IMAGES_OF_A_ROW:
            copies.append({"path": f"and {len(values) - IMAGES_OF_A_ROW} more images"})
        self.rows += bool(copies)
        self.holds_restricted |= restricted(task) and any("src" in copied for copied in copies)
        return copies


def _frames(task: TaskSpec, row: Any) -> list[dict[str, Any]]:
    """What stands for pixels that may not be passed on: the benchmark's frames (`size`, `boxes`, `label`)."""
    frames = task.benchmark.frames
    return [{"frame": frame} for frame in frames(task, row)] if frames else []


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


def _paths(rows) -> list[list[str]]:
    """The paths of each row's images, in order; the images themselves stay where they are."""
    import pyarrow
    import pyarrow.compute as compute

    found: list[list[str]] = [[] for _ in range(rows.data.num_rows)]
    for column in image_columns(rows.column_names):
        values = rows.data.column(column)
        counts = [1] * len(found)
        if pyarrow.types.is_list(values.type) or pyarrow.types.is_large_list(values.type):
            counts = compute.fill_null(compute.list_value_length(values), 0).to_pylist()
            values = compute.list_flatten(values)
        told = compute.struct_field(values, "path") if pyarrow.types.is_struct(values.type) else values
        images = zip(told.to_pylist(), compute.is_valid(values).to_pylist(), strict=True)
        for row, count in zip(found, counts, strict=True):
            row += [path or "an image without a path" for path, there in itertools.islice(images, count) if there]
    # A dataset that was filtered before keeps the whole table and an index into it.
    positions = rows._indices.column(0).to_pylist() if rows._indices is not None else range(len(found))
    return [found[position] for position in positions]
