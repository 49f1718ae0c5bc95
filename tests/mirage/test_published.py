"""The leaderboard of the project's site, re-computed from its own components.

Source of the rows: `leaderboards/MMST_Standard.json` of the MIRAGE project site, 2025-06-06, means over
DeepSeek-R1-Distill-Llama-70B, Qwen3-32B and Phi-4-reasoning. Printed numbers have one decimal, so a re-computed one
may lie half of it away, plus what the rounded components leave open.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lmms_tasks.mirage.w_sum import id_weighted_score, mg_weighted_score, overall, w_sum

TOLERANCE = 0.051

# Model: identification accuracy in per cent, reasoning, ID-WS; accuracy, relevance, completeness, parsimony, MG-WS;
# Overall.
ROWS = {
    "GPT-4.1": (43.9, 3.01, 54.4, 3.24, 3.60, 3.22, 3.01, 81.6, 68.0),
    "LLaVA-v1.6-Mistral-7B": (7.1, 1.34, 15.9, 2.20, 2.50, 1.86, 2.20, 54.8, 35.4),
    "Qwen2.5-VL-72B": (29.8, 2.47, 40.5, 2.72, 3.09, 2.56, 2.61, 68.5, 54.5),
}


def check(row: tuple[float, ...]) -> None:
    """Both weighted columns from their components, Overall from the two printed weighted columns."""
    accuracy, reasoning, id_weighted, *facets, mg_weighted, printed_overall = row
    assert id_weighted_score(accuracy / 100, reasoning) == pytest.approx(id_weighted, abs=TOLERANCE)
    assert mg_weighted_score(w_sum(*facets)) == pytest.approx(mg_weighted, abs=TOLERANCE)
    assert overall(id_weighted, mg_weighted) == pytest.approx(printed_overall, abs=TOLERANCE)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_published_row_follows_from_its_components(row):
    check(row)


def test_all_published_rows_follow_from_their_components(shared_data: Path):
    table = shared_data / "published" / "mirage_mmst_standard.csv"
    if not table.is_file():
        pytest.skip(f"needs {table}")
    with table.open(encoding="utf-8", newline="") as lines:
        published = {row.pop("model"): tuple(map(float, row.values())) for row in csv.DictReader(lines)}
    assert len(published) == 22
    assert {name: published[name] for name in ROWS} == ROWS
    for row in published.values():
        check(row)
