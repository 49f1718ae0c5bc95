"""Which answers name the entity, and which only seem to."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_tasks.mirage.identification import (
    accepted_names,
    identification_accuracy,
    identification_accuracy_exact,
    normalise,
    parse_common_names,
    searched_text,
)

GOLDENROD = accepted_names(
    {
        "entity_name": "canada goldenrod",
        "entity_scientific_name": "Solidago canadensis L., 1753",
        "entity_common_names": ["Giant goldenrod", "加拿大一枝黄花"],
    }
)

NAMED = {
    "entity name": "This is Canada goldenrod.",
    "upper case": "CANADA GOLDENROD",
    "binomial without author and year": "It must be Solidago canadensis, a native perennial.",
    "binomial with author and year": "Solidago canadensis L., 1753",
    "common name": "A patch of giant goldenrod.",
    "hyphen inside the name": "Most likely Canada-goldenrod.",
    "non-breaking hyphen and space": "Canada\u2011goldenrod or giant\u00a0goldenrod",
    "white space inside the name": "Canada   \n goldenrod",
    "soft hyphen inside a word": "Canada golden\u00adrod",
    "Markdown bold": "**Canada goldenrod**",
    "Markdown italics with underscores": "_Solidago canadensis_ is common here.",
    "possessive": "Canada goldenrod's leaves are serrated.",
    "full-width letters": "Ｓｏｌｉｄａｇｏ　ｃａｎａｄｅｎｓｉｓ",
    "bold label with colon inside": "It is no ragweed. **Identification:** Canada goldenrod",
    "bold label with colon outside": "**Final answer**: Canada goldenrod.",
    "heading and name on the next line": "## Identification:\n\n**Canada goldenrod**\n\nWater it well.",
    "numbered line below the label": "Final answer:\n1. Canada goldenrod",
    "label with a dash": "Answer – Canada goldenrod",
    "label with a spaced hyphen": "Conclusion - Canada goldenrod",
    "label with is": "The answer is Canada goldenrod.",
    "identified as": "The plant can be identified as *Solidago canadensis*.",
    "hard-wrapped line behind a label": "This can be identified as Canada\ngoldenrod.",
    "abbreviated rank before the name": "Identification: Solidago altissima var. altissima or Canada goldenrod.",
    "author before the name": "Identified as S. canadensis L. or Canada goldenrod.",
    "author with a longer abbreviation": "Identified as Solidago gigantea Ait. or else Canada goldenrod.",
    "author of one letter before the name": "Identified as Solidago L. (Canada goldenrod)",
    "abbreviated author before a comma": "Identified as Solidago gigantea Ait., Canada goldenrod or ragweed.",
    "abbreviated author in parentheses": "Identified as Solidago gigantea (Ait.) or Canada goldenrod.",
    "dots inside the sentence": "Identified as some relative ... let me say Canada goldenrod.",
    "cf. before the name": "Identified as Solidago cf. canadensis, that is Canada goldenrod.",
    "sp. before the name": "Identified as Solidago sp. which I take for Canada goldenrod.",
    "decimal before the name": "Identification: with leaves of 3.5 cm this is Canada goldenrod.",
    "label without anything behind it": "This is Canada goldenrod. Conclusion:",
    "list of candidates": "It could be ragweed, Canada goldenrod or mugwort.",
    "denied once, affirmed later": "At first sight it is not Canada goldenrod. Yet it is Canada goldenrod.",
    "denial behind the name": "Canada goldenrod, not ragweed.",
    "rather than behind the name": "Canada goldenrod rather than ragweed.",
    "denial ends at a comma": "This is not ragweed, it is Canada goldenrod.",
    "denial ends at a semicolon": "not ragweed; Canada goldenrod",
    "denial ends at a colon": "It is not what you fear: Canada goldenrod.",
    "denial ends at a full stop": "It is not ragweed. It is Canada goldenrod.",
    "denial ends at a dash": "It's not ragweed — it's Canada goldenrod",
    "denial ends at a horizontal bar": "It's not ragweed ― it's Canada goldenrod",
    "denial ends at a double hyphen": "It's not ragweed--it's Canada goldenrod",
    "denial ends at a parenthesis": "It is not the ragweed (Ambrosia) that you suspect (Canada goldenrod).",
    "denial ends at but": "This isn't ragweed but Canada goldenrod.",
    "denial ends at however": "It is not ragweed however similar Canada goldenrod may look.",
    "denial ends at instead": "I would not say ragweed instead Canada goldenrod.",
    "unlikely is not unlike": "Although unlikely at first this is Canada goldenrod.",
    "knot holds no not": "A knot of Canada goldenrod.",
    "hyphenated not is part of a flower's name": "Beside the forget-me-not grows Canada goldenrod.",
    "Chinese name inside a sentence": "这株植物是加拿大一枝黄花，一种菊科植物。",
    "Chinese stop ends the denial": "It is not ragweed。加拿大一枝黄花",
    "Latin name between Chinese characters": "这是Solidago canadensis的叶子。",
    "Chinese answer with label": "Answer：加拿大一枝黄花。",
    "last label wins": "Identification: ragweed.\nFinal answer: Canada goldenrod.",
    "candidate list behind a label": "Identified as either ragweed or Canada goldenrod",
}

NOT_NAMED = {
    "empty": "",
    "white space": " \n\t",
    "punctuation": "...?!",
    "another plant": "This is common ragweed.",
    "plural": "These are Canada goldenrods.",
    "prefix of a longer word": "Canada goldenrodlike leaves",
    "suffix of a longer word": "pre1Canada goldenrod",
    "genus only": "Some Solidago.",
    "half of the name": "A goldenrod from Canada.",
    "words across a sentence": "It grows in Canada. Goldenrod is another plant.",
    "denied with not": "This is not Canada goldenrod.",
    "denied with a contraction": "This isn't Canada goldenrod.",
    "denied with a typographic contraction": "This can’t be Canada goldenrod.",
    "denied with a contraction that lost its apostrophe": "This isnt Canada goldenrod.",
    "denied with cannot": "It cannot be Canada goldenrod.",
    "denied with rather than": "Ragweed rather than Canada goldenrod.",
    "denied with unlike": "Unlike Canada goldenrod it has no rhizomes.",
    "denied with ruled out": "We ruled out Canada goldenrod.",
    "denied in bold": "This is **not** Canada goldenrod.",
    "denied over an abbreviation": "This is not Solidago cf. canadensis or Canada goldenrod.",
    "denied over an abbreviated saint": "This is not St. John's wort or Canada goldenrod.",
    "denied over a hard-wrapped line": "This is not\ncanada goldenrod.",
    "denied over a comma inside a number": "Not one of these 1,000 plants is Canada goldenrod.",
    "denied over a range": "Not one plant with leaves of 2–3 cm is Canada goldenrod.",
    "denied before the label": "The plant was not identified as Canada goldenrod.",
    "denied behind the label": "Final answer: not Canada goldenrod",
    "denied with its scientific name in parentheses": "This is not Canada goldenrod (*Solidago canadensis*).",
    "every mention denied": "It isn't giant goldenrod, nor can it be said that it's not Canada goldenrod.",
    "named before the last label only": "It resembles Canada goldenrod. Final answer: ragweed.",
    "named behind the labelled sentence": "Identified as ragweed. Canada goldenrod has other leaves.",
    "named on the line below the labelled sentence": "Answer: ragweed\nCanada goldenrod has other leaves.",
    "named behind a Chinese stop": "Answer：豚草。加拿大一枝黄花",
    "another Chinese plant": "这是豚草。",
}


@pytest.mark.parametrize("answer", NAMED.values(), ids=NAMED)
def test_an_answer_that_names_the_entity_counts(answer):
    assert identification_accuracy(answer, GOLDENROD) == 1.0


@pytest.mark.parametrize("answer", NOT_NAMED.values(), ids=NOT_NAMED)
def test_an_answer_that_does_not_name_the_entity_does_not_count(answer):
    assert identification_accuracy(answer, GOLDENROD) == 0.0


def test_a_name_inside_another_word_does_not_count():
    assert identification_accuracy("Plain prose about a primrose.", ["rose"]) == 0.0
    assert identification_accuracy("A rose.", ["rose"]) == 1.0


def test_a_mark_of_an_indic_script_belongs_to_its_word():
    assert normalise("गुलाब") == "गुलाब"
    assert identification_accuracy("यह गुलाब है।", ["गुलाब"]) == 1.0
    assert identification_accuracy("यह गुलाबी है।", ["गुलाब"]) == 0.0


def test_what_no_reader_sees_is_no_part_of_a_word():
    assert normalise("golden\u200brod ✔\ufe0f") == "goldenrod"


def test_a_chinese_name_of_two_characters_counts_and_one_of_one_does_not():
    assert identification_accuracy("这是玫瑰花。", ["玫瑰"]) == 1.0
    assert identification_accuracy("这是樱桃。", ["桃"]) == 0.0


@pytest.mark.parametrize("name", ["plant", "Insect", "DISEASE", "weed", "iv", "a b", "", "--"])
def test_a_name_that_says_nothing_never_matches(name):
    answer = f"It is a {name}."
    assert accepted_names({"entity_name": name}) == ()
    assert identification_accuracy(answer, [name]) == 0.0
    assert identification_accuracy_exact(name, [name]) == 0.0


def test_a_row_without_names_is_never_matched():
    names = accepted_names({"entity_name": "", "entity_scientific_name": None, "entity_common_names": []})
    assert names == ()
    assert identification_accuracy("", names) == identification_accuracy_exact("", names) == 0.0


@pytest.mark.parametrize(
    ("scientific", "names"),
    [
        ("Solidago canadensis L., 1753", ("solidago canadensis l 1753", "solidago canadensis")),
        ("Gynaikothrips uzeli (Zimmermann, 1900)", ("gynaikothrips uzeli zimmermann 1900", "gynaikothrips uzeli")),
        ("Poa annua var. annua", ("poa annua var annua", "poa annua")),
        ("Fusarium oxysporum f.sp. lycopersici", ("fusarium oxysporum f sp lycopersici", "fusarium oxysporum")),
        ("Apis mellifera ligustica Spinola, 1806", ("apis mellifera ligustica spinola 1806", "apis mellifera")),
        ("Aedes (Stegomyia) aegypti (L.)", ("aedes stegomyia aegypti l", "aedes aegypti")),
        ("Solidago cf. canadensis", ("solidago cf canadensis", "solidago canadensis")),
        ("Capsella bursa-pastoris (L.) Medik.", ("capsella bursa pastoris l medik", "capsella bursa pastoris")),
        ("Candidatus Liberibacter asiaticus", ("candidatus liberibacter asiaticus", "liberibacter asiaticus")),
        ("Mentha × piperita", ("mentha piperita", "mentha x piperita")),
        (
            "Mentha x piperita L.",
            ("mentha piperita l", "mentha x piperita l", "mentha piperita", "mentha x piperita"),
        ),
        ("×Cuprocyparis leylandii", ("cuprocyparis leylandii", "x cuprocyparis leylandii")),
        ("Salix alba × Salix fragilis", ("salix alba salix fragilis", "salix alba x salix fragilis")),
        ("Dahlia mosaic virus", ("dahlia mosaic virus",)),
        ("Tomato mosaic virus (ToMV)", ("tomato mosaic virus tomv",)),
        ("Tomato spotted wilt orthotospovirus", ("tomato spotted wilt orthotospovirus",)),
        ("Solidago sp.", ("solidago sp",)),
        ("Aphis spp", ("aphis spp",)),
        ("Aphis species (green)", ("aphis species green",)),
        ("Solidago L., 1753", ("solidago l 1753",)),
        ("Bacterial leaf spot", ("bacterial leaf spot",)),
        ("Several species of aphids", ("several species of aphids",)),
    ],
)
def test_the_binomial_is_taken_from_a_scientific_name_where_there_is_one(scientific, names):
    assert accepted_names({"entity_scientific_name": scientific}) == names


def test_names_come_in_the_order_of_the_columns_and_each_once():
    row = {
        "entity_name": "Hairy willow-herb",
        "entity_scientific_name": "Epilobium hirsutum",
        "entity_common_names": '["hairy willow herb", "Codlins-and-cream", ""]',
    }
    assert accepted_names(row) == ("hairy willow herb", "epilobium hirsutum", "codlins and cream")


def test_a_hybrid_is_found_however_its_sign_is_written():
    names = accepted_names({"entity_scientific_name": "Mentha × piperita L."})
    for answer in ("Mentha × piperita", "Mentha x piperita", "Mentha ×piperita", "Mentha piperita"):
        assert identification_accuracy(answer, names) == 1.0


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (["a rose", " b "], ["a rose", "b"]),
        (("a", None, 3, ""), ["a"]),
        ('["a rose", "b"]', ["a rose", "b"]),
        ("['St. John\\'s wort', 'b']", ["St. John's wort", "b"]),
        ("('a', 'b')", ["a", "b"]),
        ('"a rose"', ["a rose"]),
        ("tall goldenrod, late goldenrod ,", ["tall goldenrod", "late goldenrod"]),
        ("[tall goldenrod, 'late goldenrod']", ["tall goldenrod", "late goldenrod"]),
        ("[]", []),
        ("None", []),
        ("", []),
        (None, []),
        (float("nan"), []),
        ({"a": 1}, []),
    ],
)
def test_common_names_are_read_from_every_form_in_which_sources_give_them(value, names):
    assert parse_common_names(value) == names


def test_common_names_are_read_from_an_array():
    numpy = pytest.importorskip("numpy")
    assert parse_common_names(numpy.array(["rose", "briar"], dtype=object)) == ["rose", "briar"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("No label here. Two sentences.", "No label here. Two sentences."),
        ("Bla. **Identification:** A rose. More.", "Identification:** A rose."),
        ("The final answer is a rose! More.", "final answer is a rose!"),
        ("Conclusion:\n\nA rose\nMore", "Conclusion:\n\nA rose"),
        ("It is identified as Rosa sp. L. in 3.5 cm. More.", "identified as Rosa sp. L. in 3.5 cm."),
        ("Misidentified as a rose.", "Misidentified as a rose."),
        ("Question-and-answer: a rose. More", "answer: a rose."),
        ("An answer-based identification of it.", "An answer-based identification of it."),
        ("My answer, a rose. More.", "My answer, a rose. More."),
        ("", ""),
        (None, ""),
    ],
)
def test_the_searched_text_reaches_from_the_last_label_to_the_end_of_its_sentence(answer, text):
    assert searched_text(answer) == text


def test_the_exact_measure_compares_the_whole_answer():
    assert identification_accuracy_exact(" **Canada Goldenrod.** ", GOLDENROD) == 1.0
    assert identification_accuracy_exact("加拿大一枝黄花。", GOLDENROD) == 1.0
    assert identification_accuracy_exact("It is Canada goldenrod", GOLDENROD) == 0.0
    assert identification_accuracy_exact("Canada goldenrods", GOLDENROD) == 0.0


def test_an_empty_answer_does_not_equal_an_empty_name():
    """The task card's `pred in [name, sci_name, common]` gives 1.0 here."""
    assert identification_accuracy_exact("", ["", "canada goldenrod"]) == 0.0


@pytest.mark.parametrize("character", ["a", "n", "-", "*", ".", " ", "\n", "哈"])
def test_a_long_run_of_one_character_is_read_at_once(character):
    """A model caught in a loop writes such answers; over this one a pattern that backtracks is busy for minutes."""
    started = time.process_time()
    assert identification_accuracy(character * 200_000, GOLDENROD) == 0.0
    assert time.process_time() - started < 10


# Text that hits the rules more often than random characters do.
PIECES = st.sampled_from(
    [
        "not ",
        "but ",
        "identified as ",
        "Answer: ",
        "**",
        "canada goldenrod",
        "(",
        ")",
        ". ",
        "\n",
        "cf.",
        "玫瑰",
        "n't ",
    ]
)
ANSWERS = st.text() | st.lists(PIECES | st.text(max_size=3)).map("".join)


@given(ANSWERS, st.lists(st.text() | st.just("canada goldenrod") | st.just("玫瑰")))
def test_any_answer_gets_zero_or_one(answer, names):
    assert identification_accuracy(answer, names) in (0.0, 1.0)
    assert identification_accuracy_exact(answer, names) in (0.0, 1.0)


@given(st.lists(st.text()), st.sampled_from(["", " ", "\n", "\u200b", "**", None]))
def test_an_empty_answer_never_counts(names, answer):
    assert identification_accuracy(answer, names) == identification_accuracy_exact(answer, names) == 0.0


@given(st.text(), st.text(), st.none() | st.text() | st.lists(st.text()))
def test_the_names_of_any_row_are_normalised_and_distinct(name, scientific, common):
    names = accepted_names({"entity_name": name, "entity_scientific_name": scientific, "entity_common_names": common})
    assert len(set(names)) == len(names)
    assert all(normalise(accepted) == accepted for accepted in names)


@given(st.sampled_from(["It may well be {}.", "Final answer: {}", "{}", "Not ragweed, {}"]), st.sampled_from(GOLDENROD))
def test_every_accepted_name_is_found_where_it_stands_undenied(frame, name):
    assert identification_accuracy(frame.format(name), GOLDENROD) == 1.0


def test_the_official_samples_are_all_zero_as_the_recorded_judge_says(shared_data: Path):
    """Three answers of gpt-4o-mini; judge, card recipe and our two measures agree on 0 of 3 (aggregates.json)."""
    samples = shared_data / "mirage" / "samples" / "sample_standard_benchmark_ID_gpt-4o-mini.json"
    if not samples.is_file():
        pytest.skip(f"needs {samples}")
    rows = json.loads(samples.read_text(encoding="utf-8"))
    assert len(rows) == 3
    for row in rows:
        names = accepted_names(row)
        assert names
        assert identification_accuracy(row["gpt-4o-mini"], names) == 0.0
        assert identification_accuracy_exact(row["gpt-4o-mini"], names) == 0.0
        # The expert's own answer names the entity: the zeros above are the answers', not the names'.
        assert identification_accuracy(row["answer"], names) == 1.0
