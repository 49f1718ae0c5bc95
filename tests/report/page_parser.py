"""What a reader, or a browser, finds in a report page, by the standard library's HTML parser."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.report.html import page
from lmms_tasks.report.runs import read_runs

_VOID = {"meta", "link", "br", "img", "input", "hr", "path", "use", "rect"}


class Page(HTMLParser):
    """`numbers`: value and n by (task, run, metric); `groups`: value by (group, run, metric); `charts`: task and title of
    each; `scripts`: texts of all script elements; `sources`: every address that the page would load; `data`: what the sample browser shows."""

    def __init__(self, text: str):
        super().__init__()
        self.numbers: dict[tuple[str, str, str], tuple[float, int]] = {}
        self.groups: dict[tuple[str, str, str], float] = {}
        self.shown: dict[tuple[str, str, str], str] = {}
        self.charts: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self.sources: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self._task = self._run = ""
        self._cell: tuple[str, str, str] | None = None
        self._in: list[str] = []
        self.feed(text)
        self.data: dict[str, Any] = json.loads(self.scripts[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href", "xlink:href", "action") and value]
        if tag not in _VOID:
            self._in.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag == "article":
            self._task = given.get("data-task") or ""
        if tag == "svg" and "aria-label" in given:
            self.charts.append((self._task, given["aria-label"] or ""))
        if tag == "tr":
            self._run = given.get("data-run") or ""
        if "data-group" in given:
            self.groups[given["data-group"], given["data-run"], given["data-metric"]] = float(given["data-value"])
        elif "data-metric" in given:
            self._cell = (self._task, self._run, given["data-metric"])
            self.numbers[self._cell] = (float(given["data-value"]), int(given["data-n"]))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._in:
            while self._in.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "script" in self._in:
            self.scripts[-1] += data
        elif "style" not in self._in:
            self.text += data
            if self._cell is not None and data.strip():
                self.shown[self._cell] = data.strip()
                self._cell = None


def page_of(*folders: Path, **options: Any) -> tuple[Page, str]:
    """The page about the runs in these folders, read and as it is."""
    text = page(read_runs(folders, read_catalogue()), **options)
    return Page(text), text
