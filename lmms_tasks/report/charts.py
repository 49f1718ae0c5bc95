"""Charts as inline SVG that follows the page's light and dark colours.

Matplotlib draws them: its SVG is text that stands in the page as it is, with no script and no font to load. It knows no
style sheet, so it is given marker colours that are exchanged for the page's own afterwards.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# The marker colours, by what the page calls them.
_INK, _MUTED, _GRID, _PAGE = "#010101", "#020202", "#030303", "#040404"
_VARIABLES = {_INK: "var(--ink)", _MUTED: "var(--muted)", _GRID: "var(--line)", _PAGE: "var(--card)"}
SERIES = 8  # colours that can be told apart
_SERIES_COLOURS = [f"#0505{number:02d}" for number in range(1, SERIES + 1)]
_VARIABLES |= {colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES_COLOURS, start=1)}
_LONGEST_LABEL = 36
_MOST_GROUPS = 30
_CHARACTER = 0.079  # inches that a letter of a label takes


@dataclass(frozen=True)
class Point:
    """A value with its interval, and the text beside it."""

    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""


def forest(rows: Sequence[tuple[str, Point]], title: str) -> str:
    """One line a run: its value and interval."""
    figure, axes = _axes(len(rows), 0.34, 11.0)
    for position, (_, point) in enumerate(rows):
        colour = _SERIES_COLOURS[position % SERIES]
        if point.low is not None and point.high is not None:
            axes.plot([point.low, point.high], [position] * 2, color=colour, linewidth=2.4, solid_capstyle="round")
        axes.plot(
            [point.value], [position], "o", color=colour, markersize=8, markeredgecolor=_PAGE, markeredgewidth=1.5
        )
    _finish(axes, [_short(label, 60) for label, _ in rows])
    return _svg(figure, title)


def breakdown(groups: Mapping[str, int], series: Sequence[tuple[str, Mapping[str, Point]]], title: str) -> str:
    """One line a group, one dot a run.

    Args:
        groups: each group's number of rows, in order; the first 30 are drawn.
        series: each run's label and its values by group, at most `SERIES` of them.
    """
    drawn = list(groups)[:_MOST_GROUPS]
    figure, axes = _axes(len(drawn), 0.24 + 0.1 * len(series), 6.0)
    for number, (_, values) in enumerate(series):
        offset = (number - (len(series) - 1) / 2) * 0.72 / max(len(series), 1)
        found = [(values[group], line + offset) for line, group in enumerate(drawn) if group in values]
        for point, line in found:
            if point.low is not None and point.high is not None:
                axes.plot([point.low, point.high], [line] * 2, color=_SERIES_COLOURS[number], linewidth=1.6, alpha=0.55)
        axes.plot(
            [point.value for point, _ in found],
            [line for _, line in found],
            "o",
            color=_SERIES_COLOURS[number],
            markersize=6.5,
            markeredgecolor=_PAGE,
            markeredgewidth=1,
        )
    _finish(axes, [f"{_short(group)}  (n {groups[group]:,})" for group in drawn])
    return _svg(figure, title)


def _axes(lines: int, height: float, width: float):
    # The class itself, not pyplot: no window system, no state that outlives the chart.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 0.42 + height * max(lines, 1)))
    return figure, figure.add_subplot()


def _finish(axes, labels: Sequence[str]) -> None:
    # A dollar sign in a label is a dollar sign.
    axes.set_yticks(range(len(labels)), labels, parse_math=False, color=_INK)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="x", colors=_MUTED, length=0)
    axes.tick_params(axis="y", length=0, pad=8)
    axes.grid(axis="x", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)
    low, high = axes.get_xlim()
    pad = max((high - low) * 0.03, 1e-3)
    axes.set_xlim(low - pad, high + pad)
    # All charts have one width and one size of type, whatever the length of their labels.
    width, height = axes.figure.get_size_inches()
    left = 0.25 + _CHARACTER * max(map(len, labels), default=0)
    axes.figure.subplots_adjust(left=min(0.6, left / width), right=0.97, top=1 - 0.04 / height, bottom=0.34 / height)


def _svg(figure, title: str) -> str:
    import matplotlib

    written = io.StringIO()
    # Text stays text, so that it can be read aloud, searched and set in the page's own font.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.size": 10.5}):
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    drawing = written.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    # Names of groups repeat from chart to chart, and a page has each name once.
    drawing = re.sub(r'(<g) id="[^"]*"', r"\1", drawing)
    drawing = re.sub(r"font: ([\d.]+px)[^;\"]*", r"font-size: \1", drawing)
    for colour, variable in _VARIABLES.items():
        drawing = drawing.replace(colour, variable)
    size = re.match(r'<svg[^>]*? width="([\d.]+)pt"', drawing)
    width = f' style="max-width: {float(size.group(1)) * 1.33:.0f}px"' if size else ""
    drawing = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", drawing, count=1)
    drawing = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", drawing, count=1)
    return drawing.replace("<svg", f'<svg role="img" aria-label="{_attribute(title)}"{width}', 1)


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def _short(text: str, longest: int = _LONGEST_LABEL) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"
