"""Scores the good sample report against a loopback web in a process of its own, which dies when a line is sent to it.

python -m tests.mmdeepresearch_bench.resumed WEB_PORT
"""

from __future__ import annotations

import json
import os
import sys
import threading

from lmms_tasks.mmdeepresearch_bench.fetch import Fetcher
from lmms_tasks.mmdeepresearch_bench.parts import Missing
from lmms_tasks.mmdeepresearch_bench.pipeline import Assignment, score_report
from lmms_tasks.mmdeepresearch_bench.samples.drawings import draw
from lmms_tasks.mmdeepresearch_bench.samples.reports import COURIER, GOOD, HARBOUR, STATISTICS
from lmms_tasks.mmdeepresearch_bench.samples.write import IMAGES, TEXTS
from lmms_tasks.mmdeepresearch_bench.snapshot import Pages, Snapshot
from lmms_tasks.utils.home import home
from lmms_tasks.utils.judge import panel_for
from tests.mmdeepresearch_bench.web import html

HOSTS = {STATISTICS: "statistics.test", HARBOUR: "harbour.test", COURIER: "courier.test"}


def routes() -> dict:
    """The sample pages as a web."""
    found = {}
    for url, text in TEXTS.items():
        host = next(host for host in HOSTS if url.startswith(host))
        paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
        image = '<img src="/output.png" alt="Yearly output of the barrage">' if url.endswith("/barrage") else ""
        found[url.removeprefix(host)] = (200, {}, html(paragraphs + image))
    return found | {"/output.png": (200, {"Content-Type": "image/png"}, draw(IMAGES[f"{STATISTICS}/output.png"]))}


def score(port: int, online: bool = True) -> dict:
    """The parts of the report, by the environment's judge and home."""
    report = GOOD.report
    for host, name in HOSTS.items():
        report = report.replace(host, f"http://{name}:{port}")
    fetcher = Fetcher(resolver=lambda host, port: ["127.0.0.1"], allowed=[("127.0.0.1", port)]) if online else None
    assignment = Assignment(GOOD.caption, GOOD.body, "research", "Rules.", [draw(GOOD.drawing)], GOOD.visual_truth)
    panel = panel_for("mmdeepresearch_bench", False)
    scores = score_report(report.strip(), assignment, panel, Pages(Snapshot(home() / "evidence"), fetcher))
    return {name: None if isinstance(part, Missing) else part for name, part in scores.parts.items()}


def main() -> None:
    threading.Thread(target=lambda: (sys.stdin.readline(), os._exit(9)), daemon=True).start()
    print(json.dumps(score(int(sys.argv[1]))), flush=True)


if __name__ == "__main__":
    main()
