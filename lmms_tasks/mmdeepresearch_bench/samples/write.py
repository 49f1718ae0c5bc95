"""Writes the sample data again: `python -m lmms_tasks.mmdeepresearch_bench.samples.write [FOLDER]`.

`tasks.parquet` holds the tasks in the columns of the hub's data and, beside them, `report` and `visual_truth`;
`pages.parquet` the pages as `snapshot.py` keeps them: a record and a content for each address.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path

from lmms_tasks.mmdeepresearch_bench.page import Page, PageImage
from lmms_tasks.mmdeepresearch_bench.samples.drawings import draw
from lmms_tasks.mmdeepresearch_bench.samples.reports import COURIER, HARBOUR, STATISTICS, TASKS
from lmms_tasks.mmdeepresearch_bench.snapshot import record_of

FOLDER = Path(__file__).parent
_FETCHED = "2026-11-01T12:00:00+00:00"

TEXTS = {
    f"{STATISTICS}/barrage": "Tidal barrage at Lindmouth. The output of the tidal barrage at Lindmouth rose every year: 40 "
    "gigawatt hours in 2019, 44 in 2020, 52 in 2021, 60 in 2022, 66 in 2023 and 74 in 2024.\nThe turbines were replaced in "
    "two steps, in 2020 and in 2022. The new ones work at a lower head of water.\nBefore the barrage was opened in 2018, the "
    "town bought nearly all of its power from the mainland.\n林茅斯潮汐电站年发电量逐年上升，2019年40吉瓦时，2024年74吉瓦时。",
    f"{STATISTICS}/vote": "The vote on the barrage. 58 percent of the town were in favour of the barrage, 42 percent against. "
    "It was opened in 2018 with sixteen turbines.",
    f"{HARBOUR}/berths": "Berths in use. The number of berths in use increased from 210 to 260 since the barrage was opened. "
    "Calm water lets smaller boats moor through the winter.",
    f"{COURIER}/fleet": "Fewer boats go out. The fishing fleet of Lindmouth shrank from 34 to 21 boats. The harbour master puts "
    "it down to the longer way through the lock, which takes nearly an hour more each day.",
}
_OUTPUT = PageImage(f"{STATISTICS}/output.png", "Yearly output of the barrage in gigawatt hours, 2019 to 2024")
IMAGES = {f"{STATISTICS}/output.png": "output", f"{HARBOUR}/ferries.png": "ferries"}
GONE = (f"{STATISTICS}/minutes/2015", f"{STATISTICS}/minutes/2017", f"{COURIER}/market-hall", f"{STATISTICS}/sales")
INVENTED = (
    "https://curlew-calendar.invented.example/departure",
    "https://coastal-bird-census.invented.example/report/2024",
    "https://ringing-archive.invented.example/finds",
)


def pages() -> list[Page]:
    """The pages that the reports cite: four that can be read, two images, four that are gone, three that never were."""
    found = [
        Page(
            url,
            "ok",
            status=200,
            content_type="text/html",
            text=text,
            images=(_OUTPUT,) if url.endswith("/barrage") else (),
        )
        for url, text in TEXTS.items()
    ]
    found += [Page(url, "ok", status=200, content_type="image/png", image=draw(name)) for url, name in IMAGES.items()]
    found += [Page(url, "dead", status=404, reason="status 404") for url in GONE]
    found += [Page(url, "dead", reason="the host has no address") for url in INVENTED]
    return [replace(page, final_url=page.url, sha256=_digest(page), fetched_at=_FETCHED) for page in found]


def write(folder: Path) -> None:
    """Write both files."""
    import datasets
    import pyarrow
    import pyarrow.parquet

    texts = datasets.Value("string")
    features = datasets.Features(
        {
            "id": datasets.Value("int64"),
            **dict.fromkeys(("caption", "body", "language", "difficulty", "report", "visual_truth"), texts),
            "tags": datasets.List(texts),
            "image_1": datasets.Image(decode=False),
        }
    )
    rows = [
        {
            **{name: getattr(task, name) for name in features if name not in ("tags", "image_1")},
            "tags": list(task.tags),
            "image_1": {"bytes": draw(task.drawing), "path": f"Q{task.id}I0.png"},
        }
        for task in TASKS
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=features.arrow_schema), folder / "tasks.parquet")
    stored = [
        {
            "url": page.url,
            "record": json.dumps(record_of(page), ensure_ascii=False),
            "content": page.image if page.image is not None else page.text.encode(),
        }
        for page in pages()
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(stored), folder / "pages.parquet")


def _digest(page: Page) -> str:
    content = page.image if page.image is not None else page.text.encode()
    return hashlib.sha256(content).hexdigest() if content else ""


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
