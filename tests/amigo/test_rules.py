"""Reading questions and guesses: the file of questions (written before the lexicon), each rule, the parser's table."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import pytest

from lmms_tasks.amigo.lexicon import SLOTS
from lmms_tasks.amigo.prohibited import PROHIBITED
from lmms_tasks.amigo.question import Predicate
from lmms_tasks.amigo.rules import RULES, Guess, parse_guess, parse_reply, rule_texts
from lmms_tasks.amigo.tables import slots_for

FILE = Path(__file__).parent / "questions.tsv"
QUESTIONS = list(csv.DictReader(FILE.open(encoding="utf-8"), delimiter="\t"))
LEGAL = [row for row in QUESTIONS if row["rule"] == "legal"]
BROKEN = [row for row in QUESTIONS if row["rule"] != "legal"]
DEFAULT = tuple(PROHIBITED)


def parse(text, slots=SLOTS, prohibited=DEFAULT):
    return parse_reply(text, slots, prohibited)


def rules_of(text, **options):
    return [hit.rule for hit in parse(text, **options).hits]


def test_the_file_has_the_size_and_the_variety_that_was_asked_for():
    assert len(QUESTIONS) >= 150 and len(LEGAL) >= 100
    assert len({row["question"] for row in QUESTIONS}) == len(QUESTIONS)
    assert sum(row["value"].startswith("!") for row in LEGAL) >= 15  # negations
    assert {row["rule"] for row in BROKEN} == {"R2", "R3", "R4", "R5", "R7"}


def test_the_questions_are_those_that_were_written_before_the_lexicon():
    # A question that the lexicon fails on must not be changed to fit it; new ones go to the tests below.
    digest = hashlib.sha256(FILE.read_bytes()).hexdigest()
    assert digest == "e433267eec9b7629d92662c7ab03b58f9f7653f281e9770bbbc08ed7187e35d3"


@pytest.mark.parametrize("row", LEGAL, ids=lambda row: row["question"])
def test_no_legal_question_is_skipped(row):
    assert rules_of(row["question"]) == []


def test_at_most_a_tenth_of_the_legal_questions_is_unmapped_and_none_is_mapped_wrongly():
    unmapped = 0
    for row in LEGAL:
        found = parse(row["question"]).predicate
        if found is None:
            unmapped += 1
            continue
        value = row["value"]
        expected = Predicate(row["slot"], (value.lstrip("!"),), value.startswith("!"))
        assert found == expected, row["question"]
    assert unmapped == 4  # of 126: shoulder pads, peplum, train, seams
    assert unmapped / len(LEGAL) <= 0.10


@pytest.mark.parametrize("row", BROKEN, ids=lambda row: row["question"])
def test_a_question_that_breaks_a_rule_is_skipped_for_that_rule(row):
    hits = [(hit.rule, hit.reason) for hit in parse(row["question"]).hits]
    assert row["rule"] in [rule for rule, _ in hits]
    if row["slot"] != "-":
        assert (row["rule"], row["slot"]) in hits


@pytest.mark.parametrize(
    ("near_miss", "slot"),
    [
        ("Does it have puff sleeves?", "sleeve_shape"),  # R5: shape, not length
        ("Is there a print on the dress?", "print"),  # R5: print, not color
        ("Is it a solid color?", "print"),
        ("Does the hem reach the floor?", "hem_length"),  # R5: not the background
        ("Is it a long dress?", "hem_length"),
        ("Is the dress one-shoulder?", "neckline"),  # R7: no number of an image
        ("Does it have a button?", "closure"),
        ("Can you see whether it has pockets?", "pockets"),  # R3
        ("Could you tell me if it has a belt?", "belt"),
        ("Would you say it is fitted?", "silhouette"),  # R4: no taste
        ("Is the model wearing a belted dress?", "belt"),  # R4: about the dress
        ("Thank you. Does it have a slit?", "slit"),  # R2: one question
        ("Is it a loose, straight shift dress?", "silhouette"),
        ("Is it mini or midi?", "hem_length"),  # R2: one attribute
    ],
)
def test_a_near_miss_is_legal_and_understood(near_miss, slot):
    found = parse(near_miss)
    assert found.hits == () and found.predicate.slot == slot


def test_or_within_one_attribute_asks_for_either_value():
    assert parse("Is it mini or midi?").predicate == Predicate("hem_length", ("midi", "mini"))


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("Is it belted?", False),
        ("Isn't it belted?", False),  # asks for the same
        ("Is it not belted?", True),
        ("Is it unbelted?", True),
        ("Is it not without a belt?", False),  # two denials
        ("The dress has no belt, does it?", True),
        ("Does it have a belt or not?", False),
        ("Is it lacking a belt?", True),
    ],
)
def test_denials_are_counted(text, negated):
    assert parse(text).predicate == Predicate("belt", ("yes",), negated)


def test_the_answer_to_a_denied_question_is_the_opposite():
    asked, denied = Predicate("print", ("floral",)), Predicate("print", ("floral",), negated=True)
    for table, answer, opposite in [
        ({"print": "floral"}, "Yes", "No"),
        ({"print": ["dotted", "floral"]}, "Yes", "No"),
        ({"print": "plain"}, "No", "Yes"),
        ({"print": "unsure"}, "Unsure", "Unsure"),
        ({}, None, None),
    ]:
        assert (asked.answer(table), denied.answer(table)) == (answer, opposite)


GUESSES = [
    ("My guess of your favorite dress: #7", Guess(7, True, False)),
    ("My guess of your favorite dress: #12\n", Guess(12, True, False)),
    ("my guess of your favourite dress is #7", Guess(7, False, False)),
    ("My guess of your favorite dress: 7", Guess(7, False, False)),
    ("My guess of your favorite dress: #7.", Guess(7, False, False)),
    ("**My guess of your favorite dress: #7**", Guess(7, False, False)),
    ("My guess of your favorite dress: No. 7", Guess(7, False, False)),
    ("My guess of your favorite dress: image #7", Guess(7, False, False)),
    ("Ｍy guess of your favorite dress： ＃７", Guess(7, False, False)),
    ("My guess of your favorite dress: #3\nMy guess of your favorite dress: #4", Guess(4, False, False)),
    ("Is it belted? My guess of your favorite dress: #7", Guess(7, False, True)),
    ("My guess of your favorite dress: #0", Guess(0, True, False)),
    ("I think it's #4", None),
    ("My guess is 4", None),
    ("My guess of your favorite dress: #", None),
    ("My guess of your favorite dress: #12345", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "guess"), GUESSES)
def test_the_guess_parser_reads_its_table(text, guess):
    assert parse_guess(text) == guess


def test_something_like_a_guess_is_skipped_as_a_malformed_one():
    assert rules_of("I think it's #4")[0] == "R10"
    assert rules_of("My guess is 4")[0] == "R10"


@pytest.mark.parametrize(
    "text", ["", "   ", "😀", "a" * 10_000, '{"question": "belt"}', "Je pense que oui.", "belt" * 2500]
)
def test_what_is_no_question_is_skipped_for_its_form(text):
    assert rules_of(text)[0] == "R2"


@pytest.mark.parametrize("text", ["¿Tiene cinturón?", "它有腰带吗？", "Besitzt das Kleid einen Gürtel?"])
def test_a_question_in_another_language_is_legal_and_not_understood(text):
    assert parse(text).hits == () and parse(text).predicate is None


def test_the_prohibited_attributes_can_be_extended_and_emptied():
    assert rules_of("Is it belted?", prohibited=("belt",)) == ["R5"]
    assert rules_of("Does it have a zigzag yoke style?", prohibited=("yoke_style",)) == ["R5"]
    assert rules_of("Is the dress red?", prohibited=()) == []


def test_every_question_that_a_baseline_asks_is_read_as_it_is_meant():
    for slot in SLOTS:
        for value, (words, _) in slot.values.items():
            found = parse(slot.question.format(words))
            assert found.hits == () and found.predicate == Predicate(slot.name, (value,)), words


def test_slots_and_values_of_the_users_own_tables_can_be_asked_for():
    slots = slots_for([{"yoke_style": "western", "neckline": "keyhole", "peplum": True}, {"yoke_style": "none"}])
    asked = {
        "Does the dress have a western yoke style?": Predicate("yoke_style", ("western",)),
        "Is there a keyhole neckline?": Predicate("neckline", ("keyhole",)),
        "Is there a peplum?": Predicate("peplum", ("yes",)),
    }
    for text, predicate in asked.items():
        assert parse(text, slots=slots).predicate == predicate


def test_the_rule_texts_have_a_version_and_all_ten_rules():
    texts = rule_texts()
    assert texts.version.isdigit()
    assert tuple(texts.rules) == RULES and all(len(text) > 30 for text in texts.rules.values())
