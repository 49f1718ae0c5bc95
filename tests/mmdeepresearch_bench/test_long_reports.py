"""Reports of megabytes: what a model that repeats itself costs, and what is said where a report is cut."""

from __future__ import annotations

import pytest

from lmms_tasks.mmdeepresearch_bench import citations, claims, document, hooks, pipeline
from lmms_tasks.mmdeepresearch_bench.citations import clean_url, split_references
from lmms_tasks.mmdeepresearch_bench.claims import claims_of, official_pairs
from lmms_tasks.mmdeepresearch_bench.document import read_document
from tests.mmdeepresearch_bench.judge_script import script

REPEATED = "More text here [1]. " * 50_000  # a megabyte
LIST = "\n\nReferences:\n[1] https://www.iea.org/reports/solar\n"


def counted(monkeypatch, module, name) -> list[int]:
    """Replaces a function by one that notes the length of each text that it is called with."""
    lengths: list[int] = []
    original = getattr(module, name)

    def noting(text, *others):
        lengths.append(len(text))
        return original(text, *others)

    monkeypatch.setattr(module, name, noting)
    return lengths


def test_a_megabyte_of_one_sentence_is_read_piece_by_piece_and_gives_one_claim(monkeypatch):
    lengths = counted(monkeypatch, document, "_sentence")
    read = read_document(REPEATED + LIST)
    assert len(read.sentences) == len(lengths) == 50_000
    assert sum(lengths) <= len(REPEATED)
    assert [(claim.text, claim.url) for claim in claims_of(read)] == [
        ("More text here.", "https://www.iea.org/reports/solar")
    ]


@pytest.mark.parametrize("extract", [lambda text: claims_of(read_document(text)), official_pairs])
def test_no_more_claims_are_made_than_are_judged(monkeypatch, extract):
    made = []
    original = claims.Claim
    monkeypatch.setattr(claims, "Claim", lambda *given, **named: made.append(given) or original(*given, **named))
    text = "".join(f"Text number {n} is here [1]. " for n in range(2_000)) + LIST
    assert len(extract(text)) == claims.MOST_CLAIMS == 40
    assert len(made) == 40


def test_lines_that_could_head_a_reference_list_are_looked_at_twenty_times_at_most(monkeypatch):
    looked = counted(monkeypatch, citations, "_entries")
    text = "Text [1].\n" + LIST + "\n# Notes\n" + "References\n" * 15
    assert split_references(text)[1][1].url == "https://www.iea.org/reports/solar" and len(looked) == 16
    looked.clear()
    split_references("Text [1].\n" + "References\n" * 50_000)
    assert len(looked) == 20


def test_a_wrapped_entry_is_looked_through_once(monkeypatch):
    searched = []
    original = citations.URL

    class Noting:
        def __getattr__(self, name):
            return lambda *given: searched.append(len(given[-1])) or getattr(original, name)(*given)

    monkeypatch.setattr(citations, "URL", Noting())
    block = "[1] A title\n" + "and its words\n" * 1_000 + "https://a.org/x\nmore prose"
    entries, prose = citations._entries(block)
    assert [entry.url for entry in entries] == ["https://a.org/x"] and prose == "more prose"
    assert sum(searched) < 6 * len(block)  # each line a few times, not each line before each other


def test_an_address_with_many_brackets_is_cleaned_in_one_pass():
    assert clean_url("https://a.org/x" + ")" * 1_000_000) == "https://a.org/x"
    assert clean_url("https://a.org/x_(y)]).,)") == "https://a.org/x_(y)"


def test_a_megabyte_of_full_stops_or_brackets_ends():
    for text in ("." * 1_000_000, "\n" * 1_000_000, "[" * 50_000):
        assert official_pairs(text) == [] == claims_of(read_document(text))


def test_a_report_that_is_cut_is_told_by_its_task_and_in_its_record(judged_by, sample_rows, monkeypatch, warned):
    judged_by(script())
    monkeypatch.setattr(pipeline, "READ_CHARACTERS", 3_000)
    monkeypatch.setattr(hooks, "READ_CHARACTERS", 3_000)
    row = sample_rows["0"]
    beginning = row["report"].ljust(3_000, ".")[:3_000]
    whole = hooks.sample_process_results(row, [beginning])["judged_coverage"]
    cut = hooks.sample_process_results(row, [beginning + REPEATED])["judged_coverage"]
    assert (whole["counts"][0]["reports_cut"], cut["counts"][0]["reports_cut"]) == (False, True)
    # Without the blank at its end, which no answer keeps.
    assert warned == ["Q0: of a report of 1,002,999 characters the first 3,000 are scored."]
    assert cut["columns"] == whole["columns"]
