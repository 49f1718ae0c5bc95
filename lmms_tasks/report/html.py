"""The report as one HTML file that needs nothing else.

Every text of a run, a row or a judge is untrusted. It enters the page through an escaping template or as JSON inside a
block that no browser runs, and is set by the page's script as text. Should either fail, the page's own policy still
loads nothing and runs no script but the page's.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import lmms_tasks
from lmms_tasks.report import charts, summary
from lmms_tasks.report.across import across_by_model
from lmms_tasks.report.images import ROWS, Album
from lmms_tasks.report.intervals import INTERVALS, Estimate, cluster, interval
from lmms_tasks.report.published import published_rows, reason_against, reason_against_all
from lmms_tasks.report.runs import Runs, TaskRun, finite, ordered_metrics, paper_columns, primary_metric
from lmms_tasks.report.samples import Texts, browser_task, rows_to_illustrate
from lmms_tasks.utils.manifest import without_nan

_FOLDER = Path(__file__).parent


def page(runs: Runs, embed_restricted_images: bool = False) -> str:
    """The whole page."""
    import jinja2

    notes = list(runs.notes)
    tasks = summary.by_benchmark(runs.tasks)
    album = Album(embed_restricted_images)
    data = _browser(tasks, album, notes)
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"metric": metric_text, "finite": lambda value: finite(value) is not None}
    return environment.from_string((_FOLDER / "page.html").read_text(encoding="utf-8")).render(
        style=(_FOLDER / "page.css").read_text(encoding="utf-8"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=json_block(data),
        benchmarks=[
            {
                "title": title,
                "groups": _groups(runs, title),
                "across": across_by_model([run for members in members_of.values() for run in members]),
                "tasks": [_task(name, members) for name, members in members_of.items()],
            }
            for title, members_of in tasks.items()
        ],
        runs=list(dict.fromkeys(run.label for run in runs.tasks)),
        rows=sum(len(run.samples) for run in runs.tasks),
        notes=list(dict.fromkeys(notes)),
        intervals=INTERVALS,
        restricted=album.holds_restricted,
        version=lmms_tasks.__version__,
        made=datetime.now().strftime("%Y-%m-%d %H:%M"),
    )


def json_block(value: Any) -> str:
    """JSON for a script block: nothing in it can end the block or open another."""
    text = json.dumps(without_nan(value), ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def metric_text(value: float | None) -> str:
    """A number for a reader: four digits that count, and NaN said."""
    if value is None or math.isnan(value):
        return "NaN"
    if value == 0:
        return "0"
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if abs(value) < 1000 else 0
    return f"{value:,.{min(digits, 4)}f}"


def _task(name: str, members: Sequence[TaskRun]) -> dict[str, Any]:
    spec = members[0].spec
    primary = primary_metric(spec)
    found = {run.label: summary.estimates(run) for run in members}
    metrics = [m for m in ordered_metrics(spec) if any(m.name in estimates for estimates in found.values())]
    headings = paper_columns(spec)
    own = [metric for metric in metrics if metric.name in headings]
    # A number over a part of the rows is no better or worse than one over more of them.
    most = max(run.rows for run in members)
    rivals = [found[run.label] for run in members if run.rows == most]
    best = {m.name: _best([estimates.get(m.name) for estimates in rivals], m.higher_is_better) for m in metrics}
    return {
        "name": name,
        "primary": primary.name,
        "on_samples": spec.on_samples,
        "headings": headings,
        # The paper's own columns make the first table; without them there is one table.
        "metrics": own or metrics,
        "more": [metric for metric in metrics if own and metric not in own],
        "runs": [
            {
                "label": run.label,
                "estimates": found[run.label],
                "facts": summary.facts(run),
                "part_of_others": run.rows < most,
                "part": f"{summary.rows_told(run)} rows" if run.partial else "",
                "behind": summary.behind(run),
            }
            for run in members
        ],
        "best": best,
        "forest": _forest(members, found, primary.name),
        "breakdowns": _breakdowns(members, primary.name),
        "series": [run.label for run in members[: charts.SERIES]],
        "published": _published(members),
    }


def _best(found: Sequence[Estimate | None], higher: bool) -> float | None:
    """The best of several values, None where there is no contest."""
    known = [one.value for one in found if one is not None and not math.isnan(one.value)]
    if len(known) < 2 or len(set(known)) == 1:
        return None
    return max(known) if higher else min(known)


def _forest(members: Sequence[TaskRun], found: Mapping[str, Mapping[str, Estimate]], metric: str) -> str | None:
    rows = []
    for run in members:
        one = found[run.label].get(metric)
        if one is not None and not math.isnan(one.value):
            rows.append((run.label, charts.Point(one.value, one.low, one.high)))
    return charts.forest(rows, f"{members[0].name}: {metric} of each run with its interval") if rows else None


def _breakdowns(members: Sequence[TaskRun], metric: str) -> list[dict[str, Any]]:
    """A chart and a table for each table of means in the manifests."""
    drawn = []
    names = dict.fromkeys(
        name for run in members for name in (run.manifest.get("breakdowns") or {}) if name.startswith("by_")
    )
    for name in names:
        sizes: dict[str, int] = {}
        series, table = [], []
        for run in members:
            groups = (run.manifest.get("breakdowns") or {}).get(name)
            if not isinstance(groups, Mapping):
                continue
            points = {}
            for group, entry in groups.items():
                if not isinstance(entry, Mapping):
                    continue
                rows = int(entry.get("rows") or entry.get("n") or 0)
                sizes[group] = max(sizes.get(group, 0), rows)
                means = _means(run, entry)
                table.append({"group": group, "label": run.label, "rows": rows, "means": means})
                if (value := finite(means.get(metric, {}).get("mean"))) is not None:
                    low, high = _group_interval(run, name.removeprefix("by_"), group, metric, value)
                    points[group] = charts.Point(value, low, high)
            series.append((run.label, points))
        if not any(points for _, points in series):
            continue
        table.sort(key=lambda line: list(sizes).index(line["group"]))
        columns = list(dict.fromkeys(column for line in table for column in line["means"]))
        title = f"{members[0].name}: {metric} {name.replace('_', ' ')}"
        drawn.append(
            {
                "name": name.replace("_", " "),
                "chart": charts.breakdown(sizes, series[: charts.SERIES], title) if len(sizes) > 1 else None,
                "columns": columns,
                "table": table,
                "more": max(0, len(series) - charts.SERIES),
            }
        )
    return drawn


def _means(run: TaskRun, entry: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """A group's means by metric, the paper's own first; a benchmark may write `{"mean", "n"}` or the number alone."""
    cells = {m.name: entry[m.name] for m in ordered_metrics(run.spec) if m.name in entry}
    return {
        name: cell if isinstance(cell, Mapping) else {"mean": cell}
        for name, cell in cells.items()
        if not isinstance(cell, Mapping) or "mean" in cell
    }


def _group_interval(run: TaskRun, key: str, group: str, metric: str, value: float) -> tuple[float | None, float | None]:
    """The interval of a group's mean, where the rows' records say which rows are in the group."""
    inside = [s for s in run.samples if str(s.record.get(key)) == group and s.score(metric) is not None]
    values = [sample.score(metric) for sample in inside]
    if len(values) < 2 or not math.isclose(math.fsum(values) / len(values), value, rel_tol=1e-9, abs_tol=1e-9):
        return None, None
    return interval(values, [cluster(sample, position) for position, sample in enumerate(inside)])


def _published(members: Sequence[TaskRun]) -> dict[str, Any] | None:
    """The second table, or the reason why it is not there; None where nothing was published."""
    if sentence := reason_against_all(members[0]):
        return {"rows": [], "sentence": sentence, "reasons": {}}
    rows = published_rows(members[0])
    if not rows:
        return None
    reasons = {run.label: reason_against(run, rows[0]["rows"]) for run in members}
    if all(reasons.values()):
        return {"rows": [], "sentence": None, "reasons": reasons}
    metrics = list(dict.fromkeys(metric for row in rows for metric in row["metrics"]))
    return {
        "rows": rows,
        "sentence": None,
        "metrics": metrics,
        "source": rows[0]["source"],
        "reasons": {label: reason for label, reason in reasons.items() if reason},
    }


def _groups(runs: Runs, title: str) -> list[dict[str, Any]]:
    return [
        {"name": group.name, "label": group.label, "metric": metric, "value": value}
        for group in runs.groups
        if group.benchmark == title
        for metric, value in group.values.items()
    ]


def _browser(tasks: Mapping[str, Mapping[str, list[TaskRun]]], album: Album, notes: list[str]) -> dict[str, Any]:
    texts = Texts()
    members_of = [members for by_task in tasks.values() for members in by_task.values()]
    shown = [members for members in members_of if any(run.samples for run in members)]
    browsed = []
    for members in shown:
        doc_ids = sorted({s.doc_id for run in members for s in run.samples if s.doc_id is not None})
        embedded = rows_to_illustrate(members, max(1, ROWS // len(shown)))
        fingerprints = [(run.manifest.get("data") or {}).get("fingerprint") for run in members]
        images, here, note = album.add(members[0].spec, set(fingerprints), doc_ids, embedded)
        if note:
            notes.append(note)
        illustrated = [number for number, fingerprint in enumerate(fingerprints) if here and fingerprint == here]
        browsed.append({**browser_task(members, texts), "images": images, "illustrated": illustrated})
    return {"texts": texts.cut(), "tasks": browsed}
