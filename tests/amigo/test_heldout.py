"""Questions of other wordings than `questions.tsv`: what is not wholly understood is Unsure and unmapped, never a lie."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lmms_tasks.amigo.lexicon import SLOTS
from lmms_tasks.amigo.prohibited import PROHIBITED
from lmms_tasks.amigo.question import Predicate
from lmms_tasks.amigo.rules import Guess, parse_guess, parse_reply
from tests.amigo.games import play_all, row, shown

# expected: `asks` (slot and value, `!` for a denial), `unsure` (legal, not understood), or the rule that it breaks.
FILE = Path(__file__).parent / "heldout_questions.tsv"
QUESTIONS = list(csv.DictReader(FILE.open(encoding="utf-8"), delimiter="\t"))


def test_the_file_has_its_size_and_repeats_no_question_of_the_first_file():
    first = csv.DictReader((FILE.parent / "questions.tsv").open(encoding="utf-8"), delimiter="\t")
    asked = {one["question"] for one in QUESTIONS}
    assert len(asked) == len(QUESTIONS) >= 130 and not asked & {one["question"] for one in first}


@pytest.mark.parametrize("one", QUESTIONS, ids=lambda one: one["question"])
def test_a_question_is_asked_unsure_or_skipped_as_expected(one):
    found = parse_reply(one["question"], SLOTS, tuple(PROHIBITED))
    hits = [(hit.rule, hit.reason) for hit in found.hits]
    if one["expected"] in ("asks", "unsure"):
        assert hits == []
        value = one["value"]
        asked = Predicate(one["slot"], tuple(value.lstrip("!").split("|")), value.startswith("!"))
        assert found.predicate == (asked if one["expected"] == "asks" else None)
    else:
        assert one["expected"] in [rule for rule, _ in hits]
        assert one["slot"] == "-" or (one["expected"], one["slot"]) in hits


def test_what_is_not_understood_is_answered_unsure_and_counted():
    table = {"print": "floral", "belt": "yes", "hem_shape": "straight", "hem_length": "midi", "lace": "yes"}
    for one in QUESTIONS:
        if one["expected"] == "unsure":
            played = play_all(row(1, [table, {}]), [one["question"]])
            assert shown(played) == ["Unsure"] and not played["turns"][0]["mapped"], one["question"]


@pytest.mark.parametrize(
    "text",
    [
        "My guess of your favorite dress is dress number 4",
        "My guess of your favorite dress: Image No. 4",
        "My guess of your favorite dress: [4]",
        "My guess of your favorite dress: (#4)",
        "My guess of your favorite dress: #<4>",
        "My guess of your favorite dress - #4",
        "My guess of your favorite dress — #4",
        "My guess for your favorite dress: #4",
        'Final answer: "My guess of your favorite dress: #4".',
    ],
)
def test_a_plain_guess_in_other_words_is_a_guess(text):
    assert parse_guess(text) == Guess(4, False, False)


@pytest.mark.parametrize(
    "text",
    [
        'Next turn I will write "My guess of your favorite dress: #4", but first: does it have a belt?',
        "Before I answer My guess of your favorite dress: #4, is there a belt?",
    ],
)
def test_an_announced_guess_beside_a_question_does_not_end_the_game(text):
    assert parse_guess(text) is None
    assert parse_reply(text, SLOTS, tuple(PROHIBITED)).hits == ()
