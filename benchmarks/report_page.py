"""How large and how fast a report of 10,000 rows is: `python benchmarks/report_page.py [--json] [--rows N]`.

Two models answered 5,000 rows each, in answers of 600 to 3,000 characters, judged by three judges. Measured are the
seconds to write the page, its size, and in headless Chromium (Debian's package, through `playwright`) the seconds from
navigation until the rows can be read, the median of three. Exit code 1 above 3 s or 30 MB.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

SECONDS, MEGABYTES = 3.0, 30.0
_WORDS = ("water", "soil", "leaf", "rust", "mildew", "prune", "root", "stem", "aphid", "mulch", "shade", "frost")


def write_runs(folder: Path, rows: int) -> None:
    """Two run folders with `rows` rows together."""
    from tests.report.written_runs import row, verdict, write_run

    for model in ("alpha", "beta"):
        chance = random.Random(model)

        def text(least: int, most: int, chance: random.Random = chance) -> str:
            return " ".join(chance.choices(_WORDS, k=chance.randint(least, most)))

        lines = [
            row(
                number,
                None if chance.random() < 0.02 else chance.randint(0, 20) / 20,
                text(100, 500),
                target=f"{number} " + " ".join(_WORDS * 5),
                category=f"category {number % 7}",
                verdicts=[verdict(judge, chance.randint(0, 4)) for judge in ("one", "two", "three") for _ in range(3)],
            )
            for number in range(rows // 2)
        ]
        write_run(folder / model, lines, model=f"acme/{model}")


def opening_seconds(page: Path) -> float | None:
    """Median of three openings, None without Chromium."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    taken = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(3):
            tab = browser.new_page()
            start = time.perf_counter()
            tab.goto(page.as_uri())
            tab.wait_for_selector(".row")
            taken.append(time.perf_counter() - start)
            tab.close()
        browser.close()
    return statistics.median(taken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    from lmms_tasks.benchmarks import read_catalogue
    from lmms_tasks.report.html import page
    from lmms_tasks.report.runs import read_runs

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_runs(folder, arguments.rows)
        start = time.perf_counter()
        text = page(read_runs([folder], read_catalogue()))
        written = time.perf_counter() - start
        (folder / "page.html").write_text(text, encoding="utf-8")
        size = (folder / "page.html").stat().st_size / 1e6
        opened = opening_seconds(folder / "page.html")
    found = {"rows": arguments.rows, "write_seconds": written, "megabytes": size, "open_seconds": opened}
    if arguments.json:
        print(json.dumps(found))
    else:
        told = (
            "not measured: install chromium and playwright" if opened is None else f"{opened:.2f} s (bound {SECONDS} s)"
        )
        print(
            f"{arguments.rows:,} rows\nwriting  {written:.2f} s\nsize     {size:.1f} MB (bound {MEGABYTES} MB)\nopening  {told}"
        )
    return int(size > MEGABYTES or (opened is not None and opened > SECONDS))


if __name__ == "__main__":
    sys.exit(main())
