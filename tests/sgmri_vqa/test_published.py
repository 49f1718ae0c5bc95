"""All 24 published averages from their six columns.

Source: README of lamawmouk/SGMRI-VQA at a37aa3dd and its later version (the dossier's tables), in per cent.
"""

from __future__ import annotations

import csv

import pytest

from lmms_tasks.sgmri_vqa.columns import COLUMNS, image_average, volume_average

# Three rows here, so that the arithmetic is tested without the tables beside the checkout.
ROWS = {
    ("image", "GPT-4o"): (50.74, 52.49, 44.71, 3.41, 26.22, 16.90, 32.41),
    ("image", "Ours (Qwen3-VL-8B SFT)"): (95.11, 97.56, 94.50, 15.51, 28.99, 25.05, 59.45),
    ("volume", "Ours"): (99.18, 37.77, 97.70, 5.97, 28.24, 26.54, 49.23),
}
TOLERANCE = 0.011


def check(level: str, row: tuple[float, ...]) -> None:
    *columns, printed = row
    items = [{"columns": {name: {"score": v / 100}}} for name, v in zip(COLUMNS[level], columns, strict=True)]
    aggregate = {"image": image_average, "volume": volume_average}[level]
    assert 100 * aggregate(items) == pytest.approx(printed, abs=TOLERANCE)


@pytest.mark.parametrize(("key", "row"), ROWS.items())
def test_an_average_is_the_plain_mean_of_six_columns(key, row):
    check(key[0], row)


def test_all_published_averages_follow_from_their_columns(shared_data):
    seen = 0
    for level in COLUMNS:
        table = shared_data / "published" / f"sgmri_vqa_{level}.csv"
        if not table.is_file():
            pytest.skip(f"needs {table}")
        with table.open(encoding="utf-8", newline="") as lines:
            for line in csv.DictReader(lines):
                model, *row = line.values()
                row = tuple(map(float, row))
                assert ROWS.get((level, model), row) == row
                check(level, row)
                seen += 1
    assert seen == 24


def test_each_column_is_the_mean_over_its_own_rows_and_a_missing_one_leaves_no_average():
    columns = COLUMNS["image"]
    items = [{"columns": {name: {"score": 0.5}}} for name in columns]
    # Two more detections: their mean is 2 / 3, and the column still weighs one sixth.
    items += [{"columns": {"detection": {"score": score}}} for score in (1.0, 0.5)]
    assert image_average(items) == pytest.approx((2 / 3 + 5 * 0.5) / 6)
    assert image_average(items[1:]) == pytest.approx((0.75 + 5 * 0.5) / 6)
    assert image_average([item for item in items if "captioning" not in item["columns"]]) != image_average(items)
    unscored = [item for item in items if "captioning" not in item["columns"]]
    unscored.append({"columns": {"captioning": {"status": "no_bertscore"}}})
    assert image_average(unscored) != image_average(unscored)  # NaN
