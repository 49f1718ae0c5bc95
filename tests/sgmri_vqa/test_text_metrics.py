"""The coordinate stripper, BLEU and ROUGE-L."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_tasks.sgmri_vqa.text_metrics import bleu, longest_common_subsequence, rouge_l, strip_coordinates_and_frames

WORDS = st.lists(st.sampled_from(["the", "lesions", "lesion", "grow", "growing", "Left", "7", "(left)"]), max_size=12)


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        # 1: tagged boxes of digits, commas and blanks.
        ("Tear <bbx>[1, 2, 3, 4]</bbx> medially", "Tear medially"),
        ("Tear <bbx>[1,2]</bbx>", "Tear"),
        ("Tear <bbx>[1.5, 2, 3, 4]</bbx>", "Tear <bbx>[1.5, 2, 3, 4]</bbx>"),
        ("Tear <bbox>[1, 2, 3, 4]</bbox>", "Tear <bbox></bbox>"),
        # 2: bare lists of four whole numbers.
        ("Tear [1, 2,3, 4] medially", "Tear medially"),
        ("Tear [1, 2, 3]", "Tear [1, 2, 3]"),
        ("Tear [-1, 2, 3, 4]", "Tear [-1, 2, 3, 4]"),
        # 3: "on Frame(s)" with its numbers.
        ("A tear on Frame 3: medially", "A tear medially"),
        ("A tear on Frames 3-5, 7 is seen", "A tear is seen"),
        ("A tear on Frames 3–5", "A tear"),
        ("A tear on frame 3", "A tear on frame 3"),
        # 4: "Frame n:".
        ("Frame 12: a tear", "a tear"),
        ("Frame 12 a tear", "Frame 12 a tear"),
        ("Frames 3-5: a tear", "Frames 3-5: a tear"),
        # 5 finds nothing, since 3 ran first: the verb stays.
        ("A tear seen on Frame 3", "A tear seen"),
        ("A tear appears on Frames 3, 4 and 5", "A tear appears and 5"),
        ("A tear observed on Frames 3 and 9", "A tear observed and 9"),
        # Clean-up.
        ("tear, [1,2,3,4], [5,6,7,8], cyst", "tear, cyst"),
        ("tear, and [1,2,3,4].", "tear"),
        ("A tear [1,2,3,4] . Then more", "A tear. Then more"),
        ("tear,  [1,2,3,4] . ", "tear"),
        ("tear; ,. ,", "tear;"),
        ("[1,2,3,4]", ""),
        ("", ""),
    ],
)
def test_coordinates_and_frames_are_stripped_in_the_released_order(text, stripped):
    assert strip_coordinates_and_frames(text) == stripped


@given(st.text(max_size=80) | st.from_regex(r"[ ,.\[\]0-9a-z]*(on Frames? [0-9,\- ]+)?[ ,.]*"))
def test_the_stripper_never_raises_and_leaves_no_trailing_comma(text):
    stripped = strip_coordinates_and_frames(text)
    assert not stripped.endswith((",", ".", " "))


@pytest.mark.parametrize(
    ("candidate", "reference", "score"),
    [
        ("the left knee shows fluid", "The left knee shows FLUID", 1.0),
        # 3 of 4 words, 2 of 3 pairs, 1 of 2 triples, none of 1 quadruple (0.1 by method 1), no brevity penalty:
        # (3/4 · 2/3 · 1/2 · 0.1)^(1/4) = 0.025^(1/4).
        ("a b c x", "a b c d", 0.025**0.25),
        # All words and pairs match and the order of 3 and 4 does not exist: nltk counts 0.1 / 1 each; penalty
        # exp(1 − 4/2).
        ("a b", "a b c d", (1 * 1 * 0.1 * 0.1) ** 0.25 * 2.718281828459045 ** (1 - 4 / 2)),
        # Not one word in common: 0 whatever the smoothing.
        ("x y", "a b", 0.0),
        ("", "a b", 0.0),
    ],
)
def test_bleu_by_hand(candidate, reference, score):
    assert bleu(candidate, reference) == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("candidate", "reference", "score"),
    [
        # Stems agree: "lesions grow" and "lesion growing".
        ("Lesions grow", "the lesion growing", 2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3)),
        # Longest common subsequence of a b c and c a b: two words.
        ("aa bb cc", "cc aa bb", 2 / 3),
        ("one", "two", 0.0),
        ("", "two", 0.0),
        # The package's words are ASCII: identical Chinese texts have none.
        ("左膝积液", "左膝积液", 0.0),
    ],
)
def test_rouge_l_by_hand(candidate, reference, score):
    assert rouge_l(candidate, reference) == pytest.approx(score, abs=1e-12)


@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_rouge_l_is_that_of_the_package(candidate, reference):
    from rouge_score.rouge_scorer import RougeScorer

    package = RougeScorer(["rougeL"], use_stemmer=True).score(reference, candidate)["rougeL"].fmeasure
    assert rouge_l(candidate, reference) == package


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_the_common_subsequence_is_the_textbook_one(one, other):
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    assert longest_common_subsequence(one, other) == table[-1][-1]


def test_ten_thousand_words_take_no_time_to_speak_of():
    words = [f"w{n % 97}" for n in range(10_000)]
    assert rouge_l(" ".join(words), " ".join(words)) == 1.0
    assert longest_common_subsequence(words, words[:5000]) == 5000


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        # Tags that hold blanks around their list keep their shells; tags around nothing stay.
        ("left <bbx> [1,2,3,4] </bbx> lobe", "left <bbx> </bbx> lobe"),
        ("left <bbx>[]</bbx> lobe", "left <bbx>[]</bbx> lobe"),
        ("left <bbx>[1, 2]</bbx> lobe", "left lobe"),
        ("Mass on  Frame\n7: left", "Mass left"),
        ("Mass on Frame7: left", "Mass on Frame7: left"),
        ("Frame  7: left", "left"),
        # "on Frame" has gone before "seen on Frame" is looked for, and full stops at the end go.
        ("left, seen on Frame 7.", "left, seen"),
        ("left , and . right", "left. right"),
        ("left , . right", "left. right"),
    ],
)
def test_the_stripper_takes_what_the_released_one_takes(text, stripped):
    assert strip_coordinates_and_frames(text) == stripped


def test_a_long_run_of_blanks_is_stripped_at_once():
    started = time.perf_counter()
    assert strip_coordinates_and_frames("a" + " " * 200_000 + "b") == "a b"
    assert time.perf_counter() - started < 5
