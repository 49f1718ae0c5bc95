"""What judges are told: every field with its range and its direction."""

from __future__ import annotations

import re

import pytest

from lmms_tasks.mmdeepresearch_bench.verdicts import FIGURE_YES_NO, NAMES, rubrics_for

RUBRICS = rubrics_for("logprobs")


@pytest.mark.parametrize("name", NAMES)
def test_every_field_has_its_range_and_its_direction(name):
    rubric = RUBRICS[name]
    told = rubric.messages(dict.fromkeys(rubric.placeholders, "x"))[0]["content"]
    for field in rubric.fields:
        if rubric.form == "object":
            (line,) = re.findall(rf'^- "{field.name}": .*$', told, re.MULTILINE)
        else:
            line = told
        if field.kind == "integer":
            assert f"a whole number from {field.low} to {field.high}." in line
        else:
            assert all(f'"{choice}"' in line for choice in field.choices)
        assert re.search(
            r"(?:[Hh]igher|[Ll]ower|\"Yes\"|\"No\") is better|Neither end is better|No kind is better|is best", line
        )


def test_which_rubrics_show_images_and_which_is_read_by_its_first_token():
    assert [name.rpartition(".")[2] for name, rubric in RUBRICS.items() if rubric.images] == [
        "visual_fidelity",
        "figure",
        "figure_yes_no",
    ]
    assert [rubric for rubric in RUBRICS.values() if rubric.form == "word"] == [FIGURE_YES_NO]
    assert FIGURE_YES_NO.name not in rubrics_for("verdict") and len(rubrics_for("verdict")) == 5
