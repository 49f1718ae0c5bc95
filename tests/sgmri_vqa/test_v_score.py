"""V-Score: IoU, frames, matching, and what surplus boxes do not cost."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_tasks.sgmri_vqa.boxes import Box, assign_default_frame, parse_boxes
from lmms_tasks.sgmri_vqa.v_score import box_iou, frame_aware_ious, match_boxes, v_score

SQUARE = Box(0, 0, 10, 10)
COORDINATES = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-50, 50).map(float)
BOXES = st.builds(Box, COORDINATES, COORDINATES, COORDINATES, COORDINATES, st.none() | st.integers(0, 3))
SMALL = st.builds(
    Box, st.integers(0, 20), st.integers(0, 20), st.integers(1, 20), st.integers(1, 20), st.none() | st.integers(1, 3)
)


@pytest.mark.parametrize(
    ("other", "iou"),
    [
        (Box(0, 0, 10, 10), 1.0),
        # 5 × 10 in common; 100 + 100 − 50.
        (Box(5, 0, 10, 10), 50 / 150),
        # 2 × 2 in common; 100 + 4 − 4.
        (Box(4, 4, 2, 2), 4 / 100),
        # Touching edges share nothing: boxes are continuous, without the "+ 1" of pixel counts.
        (Box(10, 0, 10, 10), 0.0),
        (Box(20, 20, 5, 5), 0.0),
        # Without area, or with a negative side.
        (Box(3, 3, 0, 5), 0.0),
        (Box(8, 8, -5, 5), 0.0),
        (Box(8, 8, -5, -5), 0.0),
    ],
)
def test_iou_of_a_square_of_ten(other, iou):
    assert box_iou(SQUARE, other) == pytest.approx(iou)


def test_two_boxes_without_area_have_no_union_and_score_zero():
    assert box_iou(Box(1, 1, 0, 0), Box(1, 1, 0, 0)) == 0.0


@given(BOXES, BOXES)
def test_iou_is_symmetric_and_in_the_unit_interval(one, other):
    assert box_iou(one, other) == box_iou(other, one)
    assert 0 <= box_iou(one, other) <= 1


@pytest.mark.parametrize(
    ("key_frame", "frame", "score"),
    [
        (3, 3, 1.0),
        (3, 4, 0.0),
        (3, None, 1.0),
        (3, 0, 1.0),
        (None, 4, 1.0),
        (None, None, 1.0),
    ],
)
def test_two_known_frames_must_agree_and_an_unknown_one_matches_any(key_frame, frame, score):
    assert v_score([Box(0, 0, 10, 10, key_frame)], [Box(0, 0, 10, 10, frame)]) == score


def test_a_key_box_without_frame_stays_a_wild_card_beside_one_with_a_frame():
    keys = [Box(0, 0, 10, 10, 3), Box(50, 50, 10, 10)]
    assert v_score(keys, [Box(50, 50, 10, 10, 7), Box(0, 0, 10, 10, 3)]) == 1.0


@pytest.mark.parametrize(("frame", "score"), [(1, 1.0), (5, 0.0)])
def test_the_pipeline_puts_a_frameless_prediction_on_frame_one_where_the_function_lets_it_match(frame, score):
    keys, predicted = [Box(0, 0, 10, 10, frame)], parse_boxes("<bbx>[0, 0, 10, 10]</bbx>")
    assert v_score(keys, predicted) == 1.0
    assert v_score(keys, assign_default_frame(predicted)) == score


@pytest.mark.parametrize(
    ("keys", "predicted", "score", "f1", "count"),
    [
        # No key box: the row is left out.
        ([], [SQUARE], None, None, None),
        # No prediction.
        ([SQUARE], [], 0.0, 0.0, 0),
        ([SQUARE, Box(50, 50, 10, 10)], [SQUARE], 0.5, 2 / 3, 1),
        # Thirty guesses cost nothing in V-Score; F1 = 2 · 1 / (1 + 31).
        ([SQUARE], [SQUARE, *[Box(40 + n, 40, 5, 5) for n in range(30)]], 1.0, 2 / 32, 31),
        # One prediction covers two keys and counts for the better one only: 100 / 110.
        ([Box(0, 0, 10, 10), Box(0, 0, 10, 11)], [Box(0, 0, 10, 11)], 0.5, 2 / 3, 1),
        # IoU 1/3: in the mean, yet no hit.
        ([SQUARE], [Box(5, 0, 10, 10)], 1 / 3, 0.0, 1),
        # IoU of exactly 0.5 is a hit: 50 / 100.
        ([SQUARE], [Box(0, 0, 5, 10)], 0.5, 1.0, 1),
    ],
)
def test_the_sum_of_ious_is_divided_by_the_number_of_key_boxes(keys, predicted, score, f1, count):
    matching = match_boxes(keys, predicted)
    assert v_score(keys, predicted) == (None if score is None else pytest.approx(score))
    if matching is not None:
        assert matching.f1() == pytest.approx(f1)
        assert matching.n_predicted == count


def test_the_best_single_pair_is_given_up_for_the_best_sum():
    """Greedy would take 0.9 and be left with 0: 0.9 < 0.8 + 0.7."""
    keys = [Box(0, 0, 100, 10), Box(0, 0, 80, 10)]
    predicted = [Box(0, 0, 90, 10), Box(0, 0, 100, 10)]
    ious = frame_aware_ious(keys, predicted)
    assert v_score(keys, predicted) == pytest.approx((ious[0, 1] + ious[1, 0]) / 2)


@settings(max_examples=60, deadline=None)
@given(st.lists(SMALL, min_size=1, max_size=6), st.lists(SMALL, min_size=1, max_size=6))
def test_the_assignment_is_the_best_of_all_assignments(keys, predicted):
    ious = frame_aware_ious(keys, predicted)
    short, long = (ious, ious.T)[len(keys) > len(predicted)].shape
    table = ious if len(keys) <= len(predicted) else ious.T
    best = max(
        sum(table[row, column] for row, column in enumerate(order))
        for order in itertools.permutations(range(long), short)
    )
    assert v_score(keys, predicted) == pytest.approx(best / len(keys), abs=1e-12)


@given(st.lists(BOXES, min_size=1, max_size=8), st.lists(BOXES, max_size=8), st.randoms())
def test_the_order_of_boxes_does_not_matter(keys, predicted, rng: random.Random):
    shuffled_keys, shuffled = rng.sample(keys, len(keys)), rng.sample(predicted, len(predicted))
    assert v_score(shuffled_keys, shuffled) == pytest.approx(v_score(keys, predicted), abs=1e-9)
