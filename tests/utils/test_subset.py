import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_tasks.utils.subset import allocate, choose


def test_shares_are_proportional_with_the_largest_remainders_rounded_up():
    # 10 of 100: 5.5, 3.3, 1.2 → 5, 3, 1, and the one that is left goes to the remainder .5.
    assert allocate({"a": 55, "b": 33, "c": 12}, 10) == {"a": 6, "b": 3, "c": 1}


def test_equal_remainders_go_to_the_first_name_whatever_the_order():
    assert allocate({"b": 1, "a": 1}, 1) == allocate({"a": 1, "b": 1}, 1) == {"a": 1, "b": 0}


def test_a_subset_larger_than_the_data_is_all_of_it():
    assert allocate({"a": 2, "b": 1}, 400) == {"a": 2, "b": 1}


def test_the_published_category_counts_of_mmst_standard_give_400_rows():
    """Counts from the project site's statistics (dossier §2.1); 400 · 4,324 / 8,184 = 211.3 identification rows."""
    identification = {"Plant": 2600, "Insect": 1146, "Disease": 578}
    management = {"Care": 1609, "Disease Management": 1047, "Insect Management": 725, "Weeds": 479}
    taken = allocate({**identification, **management}, 400)
    assert sum(taken.values()) == 400
    assert sum(taken[name] for name in identification) == 211
    assert taken["Plant"] == 127  # 127.08


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 50), max_size=6), st.integers(0, 200))
def test_an_allocation_never_exceeds_a_stratum_and_always_fills_the_total(counts, total):
    taken = allocate(counts, total)
    assert all(0 <= taken[stratum] <= count for stratum, count in counts.items())
    assert sum(taken.values()) == min(total, sum(counts.values()))


def test_the_smallest_digests_of_each_stratum_are_chosen():
    strata = ["a"] * 10 + ["b"] * 10
    questions = [f"Question {number}?" for number in range(20)]

    def digest(position):
        return hashlib.sha256(f"1\n{position}\n{questions[position]}".encode()).hexdigest()

    expected = sorted(sorted(range(10), key=digest)[:2] + sorted(range(10, 20), key=digest)[:2])
    assert choose(strata, questions, 4, "1") == expected


def test_another_version_chooses_other_rows_and_the_same_version_the_same():
    strata, questions = ["a"] * 200, [f"Question {number}?" for number in range(200)]
    first = choose(strata, questions, 20, "1")
    assert first == choose(strata, questions, 20, "1") != choose(strata, questions, 20, "2")


@pytest.mark.parametrize("total", [0, 3])
def test_a_choice_has_the_size_that_was_asked_for(total):
    assert len(choose(["a", "b", "a"], ["x", "y", "z"], total, "1")) == total
