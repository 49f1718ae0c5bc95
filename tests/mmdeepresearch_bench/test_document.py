"""Reports as parts and as claims: the synthetic one, and every form of citation that reports are seen to use."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_tasks.mmdeepresearch_bench.citations import clean_url, split_references
from lmms_tasks.mmdeepresearch_bench.claims import Claim, claims_of, official_pairs
from lmms_tasks.mmdeepresearch_bench.document import read_document, split_sentences
from tests.mmdeepresearch_bench.reports import SOLAR

GROWTH = "https://img.example.org/growth.png"
LIST = "\n\nReferences:\n[1] https://a.org/one\n[2] https://b.org/two\n[3] https://c.org/three\n"


def cited(report: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(sentence.text, sentence.labels) for sentence in read_document(report).sentences]


def test_the_synthetic_report_has_four_clean_pairs():
    first = "Solar output rose 12% in 2024 because panel prices fell sharply across Europe."
    assert [(claim.text, claim.url) for claim in claims_of(read_document(SOLAR))] == [
        (first, "https://www.iea.org/reports/solar"),
        (first, "https://reddit.com/r/solar"),
        ("Figure 1: Growth of capacity", GROWTH),
        ("The chart shows a steady increase from 2019 to 2024.", GROWTH),
    ]


def test_the_official_extractor_finds_twelve_pairs_in_it():
    pairs = official_pairs(SOLAR)
    assert len(pairs) == 12
    assert sum(pair.text.startswith("References:") for pair in pairs) == 3  # the list, read as a sentence
    assert [pair.text for pair in pairs[-3:]] == ["[1]", "[2]", "[3]"]  # its lines, read as claims


def test_a_pair_that_comes_again_keeps_its_first_place_among_forty():
    many = " ".join(f"Output {number} rose [1]." for number in range(45))
    pairs = official_pairs(f"Prices fell [1].\n\n{many}\n\nPrices fell [1].\n\nReferences:\n[1] https://a.org/one\n")
    assert len(pairs) == 40 and pairs[0].text.startswith("Prices fell")


def test_headings_figures_and_references_of_the_synthetic_report():
    document = read_document(SOLAR)
    assert document.headings == ("Executive Summary", "Analysis & Evidence", "Conclusion")
    (figure,) = document.figures
    assert (figure.url, figure.alt, figure.caption) == (GROWTH, "Figure 1", "Figure 1: Growth of capacity")
    assert sorted(document.references) == [1, 2, 3] and document.unresolved() == ()


@pytest.mark.parametrize(
    "mark, numbers",
    [
        ("[1]", (1,)),
        ("[1][2]", (1, 2)),
        ("[1, 2]", (1, 2)),
        ("[1-3]", (1, 2, 3)),
        ("[1–3]", (1, 2, 3)),
        ("[1, 2-3]", (1, 2, 3)),
        ("[^1]", (1,)),
        ("【1】", (1,)),
        ("【1†source】", (1,)),
        ("［2］", (2,)),
        ("[1；2]", (1, 2)),
    ],
)
@pytest.mark.parametrize("sentence", ["Output rose {}.", "Output rose. {}", "Output rose.{}"])
def test_every_form_of_mark_cites_and_leaves_the_sentence_clean(mark, numbers, sentence):
    assert cited(sentence.format(mark) + LIST) == [("Output rose.", numbers)]


@pytest.mark.parametrize(
    "line, url, snippet",
    [
        ("[1] https://a.org/x", "https://a.org/x", ""),
        ("1. https://a.org/x", "https://a.org/x", ""),
        ("1: https://a.org/x", "https://a.org/x", ""),
        ("- [1] https://a.org/x", "https://a.org/x", ""),
        ("[1]: https://a.org/x", "https://a.org/x", ""),
        ("[^1]: https://a.org/x", "https://a.org/x", ""),
        ("【1】https://a.org/x", "https://a.org/x", ""),
        ("1. [Solar in 2024](https://a.org/x)", "https://a.org/x", "Solar in 2024"),
        (
            "[1] [Solar in 2024](https://a.org/x) – panel prices fell",
            "https://a.org/x",
            "Solar in 2024 – panel prices fell",
        ),
        ("[1] IEA. Solar in 2024. https://a.org/x.", "https://a.org/x", "IEA. Solar in 2024."),
        ("[1] <https://a.org/x>", "https://a.org/x", ""),
        ('[1] "Prices fell by half."\n    https://a.org/x', "https://a.org/x", '"Prices fell by half."'),
        ("[1] https://en.wikipedia.org/wiki/Sun_(star).", "https://en.wikipedia.org/wiki/Sun_(star)", ""),
    ],
)
def test_every_form_of_reference_line_is_read_with_its_snippet(line, url, snippet):
    document = read_document(f"Output rose [1].\n\n## References\n\n{line}\n")
    assert (document.references[1].url, document.references[1].snippet) == (url, snippet)
    assert [(claim.url, claim.snippet) for claim in claims_of(document)] == [(url, snippet)]


@pytest.mark.parametrize(
    "heading",
    [
        "References:",
        "# References",
        "**References**",
        "## 7. References",
        "参考文献：",
        "## 参考资料",
        "Sources",
        "**Quellen:**",
    ],
)
def test_the_list_begins_at_a_line_that_is_its_heading(heading):
    document = read_document(f"Many references exist to this source [1].\n\n{heading}\n\n1. https://a.org/x\n")
    assert len(claims_of(document)) == 1 and document.references[1].url == "https://a.org/x"


def test_the_last_such_heading_counts_and_a_section_after_the_list_is_prose():
    report = "## Sources\n\nFew exist.\n\n## References\n[1] https://a.org/x\n\n## Appendix\n\nMore on that [1].\n"
    assert cited(report) == [("Few exist.", ()), ("More on that.", (1,))]


def test_a_list_without_heading_is_a_list_all_the_same():
    document = read_document("Output rose [1].\n\n[1] IEA https://a.org/x\n[2] https://b.org/y\n")
    assert sorted(document.references) == [1, 2]
    assert [claim.text for claim in claims_of(document)] == ["Output rose."]


def test_citations_without_a_reference_are_counted_and_make_no_claim():
    document = read_document("Output rose [1][7]. Prices fell [9]." + LIST)
    assert document.unresolved() == (7, 9) and document.unresolved(range(9, 10)) == (7,)
    assert [claim.url for claim in claims_of(document)] == ["https://a.org/one"]


def test_links_and_written_addresses_are_citations_and_their_numbers_are_no_words():
    report = "Output [rose](https://a.org/x). Prices fell [[2]](https://b.org/y) and [3](https://c.org/z). See https://d.org/w."
    found = [(claim.text, claim.url) for claim in claims_of(read_document(report))]
    assert found == [
        ("Output rose.", "https://a.org/x"),
        ("Prices fell and.", "https://b.org/y"),
        ("Prices fell and.", "https://c.org/z"),
        ("See", "https://d.org/w"),
    ]


def test_a_line_of_addresses_alone_is_no_claim():
    assert claims_of(read_document("https://a.org/x\n\n[1] [2]" + LIST)) == []


def test_code_is_no_prose_and_a_table_row_is_one_sentence():
    report = "```\nx = a[1]\n```\n\nUse `a[1]` here.\n\n| Year | GW |\n|---|---|\n| 2024 | 12 [1] |\n" + LIST
    assert cited(report) == [("Use a(1) here.", ()), ("Year | GW", ()), ("2024 | 12", (1,))]


def test_abbreviations_and_decimals_end_no_sentence():
    text = "Dr. Smith et al. found 3.5 % (e.g. in the U.S. market). It fell."
    assert split_sentences(text) == ["Dr. Smith et al. found 3.5 % (e.g. in the U.S. market).", "It fell."]


def test_chinese_sentences_end_without_a_blank():
    assert cited("产量上升【1】。价格下降。[2]成本仍高！" + LIST) == [
        ("产量上升。", (1,)),
        ("价格下降。", (2,)),
        ("成本仍高！", ()),
    ]


def test_the_tasks_own_images_are_meant_by_position_and_never_by_a_path():
    report = "The photo shows a bridge [901]. So does this [905].\n\nReferences:\n[901] file:///etc/passwd\n"
    (claim,) = claims_of(read_document(report), n_images=2)
    assert (claim.image, claim.url) == (0, "")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("As the table shows, output rose.", True),
        ("Figure 2 gives the growth.", True),
        ("如图2所示，产量上升。", True),
        ("The next paragraph describes a suitable and stable photographer's market.", False),
        ("世界地图试图说明分布。", False),
        ("我们意图在于比较。", False),
    ],
)
def test_a_claim_is_about_a_figure_by_whole_words(text, expected):
    assert Claim(text, "https://a.org").on_image is expected


def test_weights_and_key_claims_follow_the_official_rules():
    plain = Claim("It is cheap.", "https://a.org")
    assert (plain.weight, plain.key) == (1.0, False)
    assert Claim("It was 12 % in the year 2024.", "https://a.org").key  # 25 characters and a digit
    long = Claim("Output rose by 12 % because panel prices fell, " + "and so on " * 8, "https://a.org")
    assert long.weight == pytest.approx(1.7)  # 120 characters, a digit, a cause
    assert Claim("成本因此下降", "https://a.org").weight == pytest.approx(1.2)


def test_at_most_forty_claims_and_each_sentence_once_with_each_source():
    repeated = "Output rose [1]. Output rose [1]. Output rose [2]." + LIST
    assert [claim.url for claim in claims_of(read_document(repeated))] == ["https://a.org/one", "https://b.org/two"]
    many = " ".join(f"Output {number} rose [1]." for number in range(60)) + LIST
    assert len(claims_of(read_document(many))) == 40


def test_punctuation_around_an_address_goes_and_its_own_brackets_stay():
    assert clean_url("https://a.org/x_(y)).") == "https://a.org/x_(y)"
    assert clean_url("https://a.org/?q=1*") == "https://a.org/?q=1"


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=string.ascii_letters + " .[]()0123456789\n#*:/-。【】|`!", max_size=300))
def test_any_text_is_read_without_an_error(text):
    document = read_document(text)
    assert len(claims_of(document)) <= 40
    split_references(text)
    official_pairs(text)


@pytest.mark.parametrize(
    "piece", ["[", "[1", "[1,", "References" + " " * 50, "A.", "![", "](http://a", "【1†", "* ", "> ", "|"]
)
def test_a_hostile_report_costs_seconds_not_minutes(piece):
    began = time.monotonic()
    read_document((piece * 40000)[:40000])
    assert time.monotonic() - began < 10
