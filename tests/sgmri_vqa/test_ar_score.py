"""AR-Score's arithmetic: weights, missing parts, clamping, the reference's own mark."""

from __future__ import annotations

import pytest

from lmms_tasks.sgmri_vqa.ar_score import ReasoningVerdict, ar_score, combine, judge_mark, relative_mark
from lmms_tasks.sgmri_vqa.hooks import AR_RUBRIC


@pytest.mark.parametrize(
    ("judge", "texts", "score"),
    [
        # All parts: 0.4 · 0.5 + 0.2 · (0.1 + 0.2 + 0.3).
        (0.5, (0.1, 0.2, 0.3), 0.32),
        # One text metric is missing: 0.3 for each of the others.
        (0.5, (None, 0.2, 0.3), 0.4 * 0.5 + 0.3 * 0.5),
        (0.5, (None, None, 0.3), 0.4 * 0.5 + 0.6 * 0.3),
        # The judge alone stays × 0.4.
        (0.5, (None, None, None), 0.2),
        # No judge: equal parts.
        (None, (0.1, 0.2, 0.3), 0.2),
        (None, (None, 0.2, 0.3), 0.25),
        (None, (None, None, None), 0.0),
        # Present with the value 0 is not absent.
        (0.0, (0.1, 0.2, 0.3), 0.12),
        (0.5, (0.0, 0.2, 0.3), 0.3),
        # Not clamped.
        (0.1, (-4.93, 0.0, 0.0), 0.04 - 0.986),
    ],
)
def test_the_weights_follow_what_is_present(judge, texts, score):
    assert combine(judge, texts) == pytest.approx(score)


@pytest.mark.parametrize(
    ("parts", "score"),
    [
        ((0.5, 0.1, 0.2, 0.3), 0.32),
        ((0.1, -4.93, 0.0, 0.0), 0.0),
        ((1.0, 1.0, 1.0, 1.0), 1.0),
        ((None, 0.3, 0, 0), 0.1),
    ],
)
def test_the_cards_score_is_clamped(parts, score):
    assert ar_score(*parts) == pytest.approx(score)


@pytest.mark.parametrize(
    ("mark", "own", "relative"),
    [(0.6, 0.8, 0.75), (0.9, 0.8, 1.0), (0.6, 0.0, 0.6), (0.6, None, 0.6), (0.6, 1.0, 0.6)],
)
def test_a_mark_is_divided_by_the_references_own_and_capped(mark, own, relative):
    assert relative_mark(mark, own) == pytest.approx(relative)


def test_a_mark_is_the_mean_of_three_over_ten():
    assert judge_mark({"accuracy": 10, "relevance": 7, "helpfulness": 4}) == pytest.approx(0.7)
    assert judge_mark(dict.fromkeys(ReasoningVerdict.model_fields, 1)) == pytest.approx(0.1)


def test_the_rubric_shows_reference_and_answer_and_neither_question_nor_image():
    assert AR_RUBRIC.placeholders == {"reference", "answer"}
    assert [(field.name, field.low, field.high) for field in AR_RUBRIC.fields] == [
        ("accuracy", 1, 10),
        ("relevance", 1, 10),
        ("helpfulness", 1, 10),
    ]
