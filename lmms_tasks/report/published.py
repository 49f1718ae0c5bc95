"""When a published row may stand under ours: only where the run is as complete as the published one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmms_tasks.report.runs import RECORD, TaskRun
from lmms_tasks.report.summary import rows_told
from lmms_tasks.utils.published import Rows
from lmms_tasks.utils.statistics import MINIMUM_COVERAGE


def published_rows(run: TaskRun) -> list[Mapping[str, Any]]:
    """The benchmark's published rows for a task: mappings of `model`, `source`, `rows` and `metrics`."""
    declared = run.spec.benchmark.published(run.spec)
    return [] if isinstance(declared, str) else list(declared)


def reason_against_all(run: TaskRun) -> str | None:
    """Why no published number compares with any run of the task, None where the benchmark does not say so."""
    declared = run.spec.benchmark.published(run.spec)
    return declared if isinstance(declared, str) else None


def reason_against(run: TaskRun, rows: Rows) -> str | None:
    """Why published rows do not stand beside this run, None where they do.

    Args:
        rows: the number of rows that the published numbers are over, or its bounds.
    """
    panel, judges = run.manifest.get("panel") or {}, run.manifest.get("judges") or {}
    least, most = (rows, rows) if isinstance(rows, int) else rows
    if run.spec.on_samples or run.limited or run.partial or not least <= run.rows <= most:
        whole = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        return f"it is over {rows_told(run)} rows and not the full split of {whole}"
    if not run.values.get(RECORD, 0.0) >= MINIMUM_COVERAGE:
        return f"fewer than {MINIMUM_COVERAGE:.0%} of its rows are judged"
    if panel.get("profile") != "paper":
        return f"its judges are the profile {panel.get('profile') or 'none'} and not paper"
    silent = [
        j["name"] for j in panel.get("judges", ()) if not judges.get(j["name"], {}).get("verdicts", {}).get("valid")
    ]
    if silent:
        return f"the judge {silent[0]} gave no verdict"
    return None
