"""The eight forms in which boxes are written, and what each takes that its neighbour would not."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_tasks.sgmri_vqa.boxes import Box, assign_default_frame, key_boxes, parse_boxes
from lmms_tasks.sgmri_vqa.coordinates import Scale, resized_size

SIZE = (200, 100)

# Form, text, boxes in an image of 200 × 100 pixels.
FORMS = [
    # 0: shares of the image where all four are at most 1, else pixels; an own frame.
    (0, '{"bboxes": [{"min_x": 0.1, "min_y": 0.2, "max_x": 0.5, "max_y": 0.6, "frame": 3}]}', [Box(20, 20, 80, 40, 3)]),
    (0, '{"bboxes": [{"min_x": 10, "min_y": 20, "max_x": 50, "max_y": 60}]}', [Box(10, 20, 40, 40)]),
    (0, '{"bboxes": [{"min_x": 0.5, "min_y": 0, "max_x": 0.2, "max_y": 1}]}', []),
    # An entry without all four is passed over; an unusable one ends the list and keeps what stood before it.
    (
        0,
        '{"bboxes": ["a", {"label": "b"}, {"min_x": 1, "min_y": 2, "max_x": 5, "max_y": 6}, {"min_x": 3}]}',
        [Box(1, 2, 4, 4)],
    ),
    (
        0,
        '{"bboxes": [{"min_x": 1, "min_y": 2, "max_x": 5, "max_y": 6}, '
        '{"min_x": null, "min_y": 1, "max_x": 9, "max_y": 9}, '
        '{"min_x": 1, "min_y": 1, "max_x": 9, "max_y": 9}]}',
        [Box(1, 2, 4, 4)],
    ),
    # 1: x, y, width, height, whatever their sign or size.
    (1, "<bbx>[10, 20, 30, 40]</bbx>", [Box(10, 20, 30, 40)]),
    (1, "Frame 4: <bbox>[1.5,2,3,4]<\\bbox> then <bbx>[5,6,7,8]</bbx>", [Box(1.5, 2, 3, 4, 4), Box(5, 6, 7, 8, 4)]),
    (1, "<bbx>[-5, 20, 3000, 0]</bbx>", [Box(-5, 20, 3000, 0)]),
    (1, "<bbx>[1, 2, 3]</bbx> [10, 20, 30, 40]", [Box(10, 20, 20, 20)]),
    (1, "on Frame 6 (<bbx>[1, 2, 3, 4]</bbx>)", [Box(1, 2, 3, 4)]),
    # 2: corners per mille.
    (2, "<|box_start|>(100,200),(500,600)<|box_end|>", [Box(20, 20, 80, 40)]),
    (2, "frame 2, <|box_start|>(0,0),(10,10)<|box_end|>", [Box(0, 0, 2, 1, 2)]),
    (2, "<|box_start|>(500,200),(100,600)<|box_end|>", []),
    # 3: corners in pixels, never rescaled.
    (3, "BBox(10, 20, 50, 60)", [Box(10, 20, 40, 40)]),
    (3, "Frame 9 - bbox(100,200,500,600)", [Box(100, 200, 400, 400, 9)]),
    (3, "bbox(50,20,10,60)", []),
    # 4: two points, with or without a comma.
    (4, "(10,20),(50,60)", [Box(10, 20, 40, 40)]),
    (4, "Frame 2 (10,20) (50,60)", [Box(10, 20, 40, 40, 2)]),
    (4, "(10,20,50,60)", []),
    (4, "(100,200),(500,600)", [Box(100, 200, 400, 400)]),
    # 5: corners, per mille only where one exceeds the image; the own frame is not read.
    (5, '[{"bbox_2d": [10, 20, 50, 60], "label": "x", "frame": 7}]', [Box(10, 20, 40, 40)]),
    (5, 'Frame 5: {"bbox_2d": [100, 200, 500, 600]}', [Box(20, 20, 80, 40, 5)]),
    # No corners, so form 7 takes the list inside for a size.
    (5, '{"bbox_2d": [50, 20, 10, 60]}', [Box(50, 20, 10, 60)]),
    # Decided for each box: the second one is left in pixels.
    (5, '{"bbox_2d": [100, 200, 500, 600]} {"bbox_2d": [1, 2, 3, 4]}', [Box(20, 20, 80, 40), Box(1, 2, 2, 2)]),
    # 6: x, y, width, height with an own frame; a cue before it is not read.
    (6, 'Frame 8: {"x": 1, "y": 2, "width": 30, "height": 4}', [Box(1, 2, 30, 4)]),
    (6, '[{"x": 1, "y": 2, "width": 30, "height": 4, "frame": 2}]', [Box(1, 2, 30, 4, 2)]),
    (6, '{"x": 1, "y": 2, "width": 0, "height": 4}', []),
    (6, '{"x": 100, "y": 200, "width": 500, "height": 600}', [Box(100, 200, 500, 600)]),
    # 7: corners if both are larger, else a size; per mille where one of the four converted exceeds the image.
    (7, "[10, 60, 50, 80]", [Box(10, 60, 40, 20)]),
    (7, "[60, 20, 50, 30]", [Box(60, 20, 50, 30)]),
    # A size of w > x and h > y is taken for corners.
    (7, "Frame 3: [10, 20, 30, 40]", [Box(10, 20, 20, 20, 3)]),
    (7, "[100, 200, 500, 600]", [Box(20, 20, 80, 40)]),
    (7, "[60, 20, 50, 0]", []),
    (7, "[60, 20, 50, 10001]", []),
    (7, "[-6, 20, 50, 30]", []),
    # Whole numbers only in forms 2 to 4, and only digits, full stops, commas and blanks in form 7.
    (2, "<|box_start|>( 100,200),(500,600)<|box_end|>", []),
    (3, "bbox(1.5, 20, 50, 60)", []),
    (3, "FRAME 3: BBOX( 10 , 20, 50, 60 )", [Box(10, 20, 40, 40, 3)]),
    (4, "(10.5,20),(50,60)", []),
    (4, "( 10,20),(50,60)", []),
    (7, "[1e1, 60, 50, 80]", []),
    (7, "[60, 20, 50, 30 px]", []),
    (5, '{"bbox_2d": [true, 10, 20, 50, 60]}', []),
    # "Frame7" and "Frames 3-5:" are no cues, and a frame before something else than a box is not inherited.
    (1, "Frame7: <bbx>[1, 2, 3, 4]</bbx>", [Box(1, 2, 3, 4)]),
    (1, "Frame 7: <bbx>[]</bbx> <bbx>[1, 2, 3, 4]</bbx>", [Box(1, 2, 3, 4)]),
    (1, "Frame 7: <bbx>[a, b]</bbx> <bbx>[1, 2, 3, 4]</bbx>", [Box(1, 2, 3, 4, 7)]),
    (1, "<bbx>[ <bbx>[1, 2, 3, 4]</bbx> <bbx>[5, 6, 7, 8]</bbx>", [Box(5, 6, 7, 8)]),
    (5, 'Frame 7: {"label": "x"} {"bbox_2d": [10, 20, 50, 60]}', [Box(10, 20, 40, 40)]),
    (7, "Frame 7: [10 mm] [10, 60, 50, 80]", [Box(10, 60, 40, 20)]),
]


@pytest.mark.parametrize(("form", "text", "boxes"), FORMS)
def test_each_form_reads_its_own_boxes(form, text, boxes):
    assert parse_boxes(text, *SIZE) == boxes


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ('{"bboxes": [{"min_x": 0.1, "min_y": 0.2, "max_x": 0.5, "max_y": 0.6}], "x": "<bbx>[1,2,3,4]</bbx>"}', 20),
        ("<bbx>[5,2,3,4]</bbx> <|box_start|>(1,2),(3,4)<|box_end|>", 5),
        ("<|box_start|>(30,0),(60,40)<|box_end|> bbox(1,2,3,4)", 6),
        ("bbox(7,2,9,4) (1,2),(3,4)", 7),
        ('(8,2),(9,4) {"bbox_2d": [1,2,3,4]}', 8),
        ('{"bbox_2d": [9,2,30,4]} {"x":1,"y":2,"width":3,"height":4}', 9),
        ('{"x":10,"y":2,"width":3,"height":4} [1,2,3,4]', 10),
    ],
)
def test_the_first_form_that_yields_a_box_wins(earlier, later):
    (box,) = parse_boxes(earlier, *SIZE)
    assert box.x == later


def test_a_box_without_cue_inherits_the_last_one_and_has_none_before_any():
    text = "<bbx>[1,1,1,1]</bbx> Frame 2: <bbx>[2,2,2,2]</bbx>, <bbx>[3,3,3,3]</bbx> Frame 7: <bbx>[4,4,4,4]</bbx>"
    assert [box.frame for box in parse_boxes(text)] == [None, 2, 2, 7]


def test_a_frame_in_brackets_before_a_box_is_not_its_frame():
    """The shape of the paper's own example: the second box inherits frame 5 although the text says 6."""
    text = "seen (Frame 5: <bbx>[1,1,1,1]</bbx>) and on Frame 6 (<bbx>[2,2,2,2]</bbx>)"
    assert [box.frame for box in parse_boxes(text)] == [5, 5]


@pytest.mark.parametrize("separator", [":", " -", ",", "", " :  "])
def test_a_cue_may_end_in_colon_hyphen_comma_or_nothing(separator):
    (box,) = parse_boxes(f"frame 12{separator} <bbx>[1,2,3,4]</bbx>")
    assert box.frame == 12


def test_without_an_image_size_nothing_is_rescaled():
    assert parse_boxes("<|box_start|>(100,200),(500,600)<|box_end|>") == [Box(100, 200, 400, 400)]
    assert parse_boxes("[100, 200, 500, 600]") == [Box(100, 200, 400, 400)]


@pytest.mark.parametrize(
    "broken",
    [
        '{"x": null, "y": 2, "width": 3, "height": 4}',
        '{"x": [1], "y": 2, "width": 3, "height": 4}',
        '{"x": 1, "y": 2, "width": 3, "height": 4, "frame": null}',
        '{"x": 1, "y": 2, "width": 3, "height": 4, "frame": "three"}',
        '{"x": NaN, "y": 2, "width": 3, "height": 4}',
        '{"x": 1, "y": 2, "width": Infinity, "height": 4}',
        '{"x": 1e999, "y": 2, "width": 3, "height": 4}',
    ],
)
def test_one_broken_box_is_dropped_and_the_others_stay(broken):
    assert parse_boxes(f'{broken} {{"x": 5, "y": 6, "width": 7, "height": 8}}') == [Box(5, 6, 7, 8)]


@pytest.mark.parametrize("content", ["nan, 1, 2, 3", "1, inf, 2, 3", "1, 2, 3", "a, b, c, d", "", "1, 2, 3, 4, 5"])
def test_tags_around_what_are_no_four_finite_numbers_hold_no_box(content):
    assert parse_boxes(f"<bbx>[{content}]</bbx>") == []


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"bboxes": ' * 20_000, "{" * 50_000, "Frame " + "9" * 5000 + ": [1,2,3,4]"]
)
def test_deep_nesting_and_endless_numbers_end_in_no_frame_and_no_error(text):
    assert all(box.frame is None for box in parse_boxes(text, *SIZE))


NUMBERS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
ENTRIES = st.dictionaries(
    st.sampled_from(["x", "y", "width", "height", "frame", "bbox_2d", "min_x", "min_y", "max_x", "max_y"]),
    NUMBERS | st.lists(NUMBERS, max_size=5),
)


@given(st.text(max_size=60) | st.from_regex(r"(Frame \d+[:,] ?)?[\[(<bx>\d., )\]/{}|]{0,60}") | ENTRIES.map(json.dumps))
def test_no_text_makes_the_parser_raise(text):
    for scale in (Scale(), Scale("per_mille"), Scale("resized"), Scale("pixel")):
        for box in parse_boxes(text, *SIZE, scale):
            assert all(abs(value) < float("inf") for value in (box.x, box.y, box.width, box.height))


@given(st.lists(ENTRIES, max_size=4))
def test_no_json_makes_the_parser_raise(entries):
    parse_boxes(json.dumps({"bboxes": entries}), *SIZE)
    parse_boxes(json.dumps(entries), *SIZE)
    key_boxes(entries)


def test_the_default_frame_stands_in_for_none_and_for_zero():
    boxes = [Box(1, 1, 1, 1), Box(1, 1, 1, 1, 0), Box(1, 1, 1, 1, 4)]
    assert [box.frame for box in assign_default_frame(boxes)] == [1, 1, 4]
    assert [box.frame for box in assign_default_frame(boxes, 2)] == [2, 2, 4]


@pytest.mark.parametrize(
    ("record", "box"),
    [
        ({"x": 1, "y": 2, "width": 3, "height": 4}, Box(1, 2, 3, 4)),
        ({"x": 1, "y": 2, "width": 3, "height": 4, "frame": 5, "slice_num": 6}, Box(1, 2, 3, 4, 5)),
        ({"x": 1, "y": 2, "width": 3, "height": 4, "frame": 0, "slice_num": 6}, Box(1, 2, 3, 4, 6)),
        ({"x": 1, "y": 2, "width": 3, "height": 4, "slice_num": "7"}, Box(1, 2, 3, 4, 7)),
        ({"bbox": [1, 2, 3, 4], "frame": 2}, Box(1, 2, 3, 4, 2)),
        ({"x": 1, "y": 2, "width": 3}, None),
        ({"x": 1, "y": "?", "width": 3, "height": 4}, None),
        (None, None),
    ],
)
def test_key_boxes_have_the_frame_or_the_slice_number(record, box):
    assert key_boxes([record]) == ([box] if box else [])


def test_a_malformed_key_box_shifts_the_frames_behind_it_as_in_the_released_code():
    good = {"x": 1, "y": 2, "width": 3, "height": 4}
    assert [box.frame for box in key_boxes([{"frame": 1}, good | {"frame": 2}, good | {"frame": 3}])] == [1, 2]


@pytest.mark.parametrize(
    ("convention", "text", "x"),
    [
        ("official", "<bbx>[100, 10, 100, 10]</bbx>", 100),
        ("pixel", "<|box_start|>(100,10),(200,20)<|box_end|>", 100),
        ("pixel", "[600, 10, 700, 20]", 600),
        ("per_mille", "<bbx>[100, 10, 100, 10]</bbx>", 20),
        ("per_mille", "[100, 10, 200, 20]", 20),
        ("per_mille", '{"bbox_2d": [100, 10, 200, 20]}', 20),
        # 200 × 100 is enlarged: √(200704 / 20000) = 3.168, 633.6 and 316.8 → 644 × 336; 161 of 644 is a quarter.
        ("resized", "<bbx>[161, 10, 161, 10]</bbx>", 50),
        ("resized", '{"bbox_2d": [161, 10, 322, 20]}', 50),
    ],
)
def test_a_stated_convention_holds_for_every_form(convention, text, x):
    (box,) = parse_boxes(text, *SIZE, Scale(convention))
    assert box.x == pytest.approx(x)


@pytest.mark.parametrize(
    ("size", "limits", "resized"),
    [
        # 320 / 28 = 11.43 → 11 · 28.
        ((320, 320), (1, 10**7), (308, 308)),
        # Too small: √(200704 / 65536) = 1.75, 448 exactly.
        ((256, 256), (256 * 784, 10**7), (448, 448)),
        # Too large: √(2000000 / 500000) = 2, 1000 / 2 → 17 · 28 and 500 → 17 · 28, both rounded down.
        ((1000, 2000), (1, 500_000), (476, 980)),
    ],
)
def test_the_resized_image_has_multiples_of_28_within_its_limits(size, limits, resized):
    assert resized_size(*size, 28, *limits) == resized


@pytest.mark.parametrize("settings", [{"coordinates": "inches"}, {"coordinates": "resized", "min_pixels": 0}])
def test_an_unknown_convention_ends_with_a_sentence(settings):
    with pytest.raises(SystemExit, match="SGMRI-VQA"):
        Scale.from_settings(settings)


@pytest.mark.parametrize(
    "text", ["<bbx>[" * 30_000 + "]", "[1" * 60_000, "[" + "1" * 200_000, "Frame 1" + " " * 200_000]
)
def test_a_long_text_of_unclosed_boxes_is_read_at_once(text):
    started = time.perf_counter()
    assert parse_boxes(text, *SIZE) == []
    assert time.perf_counter() - started < 5
