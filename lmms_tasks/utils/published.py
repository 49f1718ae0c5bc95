"""Published tables, kept as CSV files beside a benchmark's code, as rows that a report may show beside a whole run."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# How many rows the published numbers are over: their number, or the least and the most where it is not told.
Rows = int | tuple[int, int]


def read_published(
    table: Path, source: str, rows: Rows, columns: Mapping[str, tuple[str, float]]
) -> list[dict[str, Any]]:
    """The table's rows: `model`, `source`, `rows`, and `metrics` in our units.

    Args:
        table: a CSV file with a column `model`; an empty cell is no number.
        source: where the numbers were published, for a reader.
        rows: the size of the split that they are over.
        columns: the table's column of each of our metrics, and by what it is divided to have our unit.
    """
    with table.open(encoding="utf-8", newline="") as file:
        return [
            {
                "model": line["model"],
                "source": source,
                "rows": rows,
                "metrics": {
                    metric: float(line[column]) / unit for metric, (column, unit) in columns.items() if line[column]
                },
            }
            for line in csv.DictReader(file)
        ]
