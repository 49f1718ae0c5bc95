"""A-Score: each rule of the released parsers, with inputs that the rule beside it would have taken."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_tasks.sgmri_vqa import a_score as rules
from lmms_tasks.sgmri_vqa.a_score import a_score

TEXTS = st.text(max_size=80) | st.from_regex(r"[ (A-Da-d)yesno.\d*]{0,60}")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a lesion?</think> Yes", "Yes"),
        ("<think>one</think>Yes<think>two\nlines</think>.", "Yes."),
        ("<think>never closed. Yes", "<think>never closed. Yes"),
        ("lone</think> Yes", "lone</think> Yes"),
        ("<THINK>loud</THINK> Yes", "<THINK>loud</THINK> Yes"),
        ("<think>outer <think>inner</think> rest</think>Yes", "rest</think>Yes"),
    ],
)
def test_the_think_stripper_takes_closed_blocks_in_lower_case_only(text, left):
    assert rules.strip_think(text) == left


@pytest.mark.parametrize(
    ("text", "kind", "answer"),
    [
        ("Steps.\nTherefore, the final answer is: 3.", "open_ended", "3"),
        ("therefore the final answer is:\n  **4 foci**..", "open_ended", "4 foci"),
        ("So 3. Therefore, the final answer is: **Mass.**", "open_ended", "Mass."),
        ("Therefore, the final answer is: one\nTherefore, the final answer is: two", "open_ended", "one"),
        ("THEREFORE, the final answer is: 3", "open_ended", "THEREFORE, the final answer is: 3"),
        ("The final answer is: 3", "open_ended", "The final answer is: 3"),
        # A choice is cut to a leading capital, a closed answer to a leading yes or no.
        ("Therefore, the final answer is: B: a cyst", "single_choice", "B"),
        ("Therefore, the final answer is: A, C", "multiple_choice", "A"),
        ("Therefore, the final answer is: (A), (C)", "multiple_choice", "(A), (C)"),
        ("Therefore, the final answer is: b", "single_choice", "b"),
        ("Therefore, the final answer is: Because", "single_choice", "Because"),
        ("Therefore, the final answer is: A, C", "multi_choice", "A, C"),
        ("Therefore, the final answer is: Yes, a lesion with no edema.", "closed_ended", "Yes"),
        ("Therefore, the final answer is: no; nothing", "closed_ended", "no"),
        ("Therefore, the final answer is: nothing", "closed_ended", "nothing"),
        ("Therefore, the final answer is: A tumour", "closed_ended", "A tumour"),
        ("Therefore, the final answer is: Yes, B", "single_choice", "Yes, B"),
    ],
)
def test_the_final_answer_of_a_volume_is_cut_by_type(text, kind, answer):
    assert rules.cut_final_answer(text, kind) == answer


# Text, the released parser, the parser with word boundaries.
YES_NO = [
    # The first word.
    ("Yes", True, True),
    ("y", True, True),
    ("N.", False, False),
    ("no; not at all, yes?", False, False),
    ("Yes, there is no doubt", True, True),
    # A cue: taken although both words occur.
    ("It is hard to say no, but my answer is: **yes**", True, True),
    ("Some say yes. The answer is no.", False, False),
    ("The answer is: ** No, yes was wrong", False, False),
    ("The answer is nothing", False, None),
    # Anywhere.
    ("I would say yes", True, True),
    ("There is no lesion", False, False),
    ("yesterday", True, None),
    ("Both yes and no", None, None),
    ("Possibly", None, None),
    ("", None, None),
    # "no" inside words: the pitfall behind the word-boundary variant.
    ("An abnormality is seen", False, None),
    ("normal", False, None),
    ("unknown", False, None),
    ("none", False, None),
    ("A nodule", False, None),
    ("**Yes**, there is an abnormality", None, True),
]


@pytest.mark.parametrize(("text", "released", "bounded"), YES_NO)
def test_yes_and_no_by_first_word_then_cue_then_anywhere(text, released, bounded):
    assert rules.parse_yes_no(text) is released
    assert rules.parse_yes_no_word_boundary(text) is bounded


@pytest.mark.parametrize(
    ("text", "number"),
    [
        # The whole text.
        ("3", 3),
        (" +12\n", 12),
        ("1_000", 1000),
        ("٣", 3),
        ("-2", -2),
        # After the cue, although another number follows.
        ("Therefore, the final answer is: 4, on 9 slices", 4),
        ("therefore the final answer is: **5** of 7", 5),
        ("Therefore, the final answer is: none of 6", 6),
        # The last group of digits.
        ("3 foci over 5 slices", 5),
        ("2.0", 0),
        ("7 in T2", 7),
        ("T2", None),
        # Nothing found.
        ("There is no abnormality", 0),
        ("no relevant findings", 0),
        ("None", 0),
        ("zero lesions", 0),
        ("no lesion", None),
        ("no\nfinding", None),
        ("two", None),
        ("", None),
        ("9" * 5000, None),
    ],
)
def test_the_integer_is_the_text_the_cue_the_last_digits_or_nothing_found(text, number):
    assert rules.parse_integer(text) == number


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("(A)", "A"),
        ("(c) and (A)", "AC"),
        ("A or (B)", "B"),
        ("( A )", "A"),
        ("(E)", ""),
        # Letters that stand alone, where none is in brackets.
        ("B", "B"),
        ("a, c", "AC"),
        ("A cyst", "A"),
        ("I'd say so", "D"),
        ("C-shaped", "C"),
        ("Because", ""),
        # Options ruled out.
        ("It is not (A). It is (B).", "B"),
        ("it is not (b) because (C) fits. (D)", "D"),
        # To the end where no full stop follows, whatever blanks stand between the words.
        ("It is not (A) and nothing follows", ""),
        ("It is (B). It is not (A)", "B"),
        ("It  is\nnot (A). It is (C).", "C"),
        ("IT IS NOT (A). (B)", "AB"),
        ("It is not A. (B)", "B"),
        ("(A)+(C) both", "AC"),
    ],
)
def test_letters_in_brackets_win_over_letters_that_stand_alone(text, letters):
    assert rules.parse_letters(text) == set(letters)


@pytest.mark.parametrize(
    ("prediction", "key", "kind", "score"),
    [
        ("Yes, clearly.", "Yes", "closed_ended", 1),
        ("No", "Yes", "closed_ended", 0),
        ("Perhaps", "Yes", "closed_ended", 0),
        ("3 lesions", "3", "closed_ended", 1),
        ("Four", "4", "closed_ended", 0),
        ("2", "3", "closed_ended", 0),
        # A number as key, a text without one: nothing to compare.
        ("Yes", "3", "closed_ended", 0),
        # Keys that are neither: always 0, the right word too.
        ("FLAIR", "FLAIR", "closed_ended", 0),
        # Two different keys that hold "no" read as the same No.
        ("Normal", "Abnormal", "closed_ended", 1),
        ("**Yes**, an abnormality", "Yes", "closed_ended", 0),
        ("An abnormality is seen", "Yes", "closed_ended", 0),
        ("[ERROR: No images found]", "No", "closed_ended", 1),
        ("(B)", "(B)", "single_choice", 1),
        ("(C), (B)", "(B)", "single_choice", 1),
        ("(C), (A)", "(C)", "single_choice", 0),
        ("none", "(A)", "single_choice", 0),
        ("(A), (C)", "(A), (C)", "multiple_choice", 1),
        ("(A)", "(A), (C)", "multiple_choice", 2 / 3),
        ("(A), (B), (C), (D)", "(A), (C)", "multi_choice", 2 / 3),
        ("(B)", "(A), (C)", "multiple_choice", 0),
        ("(B)", "neither", "multiple_choice", 0),
        ("none", "(A)", "multi_choice", 0),
        ("Yes", "Yes", "true_false", 0),
        ("A", "A", "", 0),
        ("Yes", "Yes", "CLOSED_ENDED", 0),
    ],
)
def test_a_score_follows_the_question_type(prediction, key, kind, score):
    assert a_score(prediction, key, kind) == pytest.approx(score)


def test_only_the_word_boundary_variant_counts_a_bold_yes_beside_an_abnormality():
    text = "**Yes**, there is an abnormality."
    assert a_score(text, "Yes", "closed_ended") == 0
    assert a_score(text, "Yes", "closed_ended", parser=rules.parse_yes_no_word_boundary) == 1


@pytest.mark.parametrize(
    ("prediction", "labels", "recall"),
    [
        ("A Mass and edema", ["mass", "Edema"], 1.0),
        ("A mass", ["mass", "edema"], 0.5),
        ("a massive shadow", ["mass"], 1.0),
        # The label's own blank counts.
        ("joint effusion.", ["Joint Effusion "], 0.0),
        ("joint effusion seen", ["Joint Effusion "], 1.0),
        ("anything", [], None),
    ],
)
def test_keyword_recall_is_the_share_of_labels_found_as_they_stand(prediction, labels, recall):
    assert rules.keyword_recall(prediction, labels) == recall


@pytest.mark.parametrize(
    ("prediction", "key", "labels", "similarity", "score"),
    [
        ("a mass", "mass", ["mass"], 0.5, 0.75),
        ("a mass", "mass", [], 0.5, 0.5),
        ("a mass", "mass", ["edema"], None, 0.0),
        ("a mass here", "one mass there here", [], None, 0.5),
        ("a mass", "", [], None, 0.0),
    ],
)
def test_open_ended_is_the_mean_of_what_is_there(prediction, key, labels, similarity, score):
    for kind in rules.OPEN_ENDED:
        assert a_score(prediction, key, kind, labels, similarity) == pytest.approx(score)


@pytest.mark.parametrize(
    ("one", "other", "cosine"),
    [
        # 3·4 + 4·3 = 24 over 5 · 5.
        ([3, 4], [4, 3], 24 / 25),
        ([1, 0], [-1, 0], 0.0),
        ([0, 0], [1, 0], 0.0),
        # The 1e-8 shows on small vectors: 1e-8 / (1e-8 + 1e-8).
        ([1e-4, 0], [1e-4, 0], 0.5),
    ],
)
def test_the_cosine_has_1e_8_in_its_denominator_and_no_negative_values(one, other, cosine):
    assert rules.cosine_similarity(np.array(one), np.array(other)) == pytest.approx(cosine, abs=1e-9)


@given(TEXTS, TEXTS, st.sampled_from(["closed_ended", "single_choice", "multiple_choice", "open_ended", "x"]))
def test_no_text_makes_a_parser_raise_and_every_score_is_in_its_range(prediction, key, kind):
    cut = rules.cut_final_answer(rules.strip_think(prediction), kind)
    assert 0 <= a_score(cut, key, kind, [key]) <= 1
    rules.parse_integer(prediction)
    assert rules.parse_letters(prediction) <= set("ABCD")


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("therefore the final\nanswer is: 3.", "3"),
        ("Therefore,  the  final  answer  is:\n**Yes**", "Yes"),
        ("THEREFORE, the final answer is: 3", "THEREFORE, the final answer is: 3"),
    ],
)
def test_the_words_of_the_conclusion_may_stand_apart_but_not_in_capitals(text, cut):
    assert rules.cut_final_answer(text, "closed_ended") == cut


@pytest.mark.parametrize(
    ("text", "number"),
    [
        # The cue gives 2; without it the last group of digits does, 0 of "2.0".
        ("therefore, the\nfinal answer is: **2.0", 2),
        ("THEREFORE, the final answer is: 2.0", 0),
        ("Therefore, the final answer is: ***2.0", 0),
        ("no sign\nof findings", None),
        ("no sign of findings", 0),
        ("abnormal, no", None),
    ],
)
def test_the_cue_of_a_number_is_the_released_one(text, number):
    assert rules.parse_integer(text) == number


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("<think>a</think> b <think>c</think>d", "b d"),
        ("<think>a <think>b</think> c</think> d", "c</think> d"),
        ("a</think> b", "a</think> b"),
        ("<THINK>a</THINK> b <think>c", "<THINK>a</THINK> b <think>c"),
    ],
)
def test_closed_blocks_go_up_to_their_first_closing_tag(text, stripped):
    assert rules.strip_think(text) == stripped


@pytest.mark.parametrize(
    "text", ["<think>" * 30_000, "no " * 70_000, "the answer is" + " " * 200_000, "Therefore" + " " * 200_000 + "x"]
)
def test_a_long_answer_that_repeats_itself_is_read_at_once(text):
    """Patterns that search the rest again from every start take between 7 s and minutes for these."""
    started = time.perf_counter()
    for parse in (rules.strip_think, rules.parse_yes_no, rules.parse_integer, rules.parse_letters):
        parse(text)
    assert time.perf_counter() - started < 5
