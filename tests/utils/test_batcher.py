"""One model, many threads: what is asked at the same time is one call, and each thread gets its own replies."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lmms_tasks.utils.batcher import Batcher

THREADS, EACH = 64, 10


def test_threads_that_come_back_are_grouped_again():
    """A thread that has its reply asks anew at once, as a scoring thread does: it must not overtake those that wait."""
    sizes = []

    def compute(questions):
        sizes.append(len(questions))
        time.sleep(0.005)
        return [question * 2 for question in questions]

    ask = Batcher(compute)

    def work(thread):
        return [ask([thread * EACH + number])[0] for number in range(EACH)]

    with ThreadPoolExecutor(THREADS) as pool:
        replies = [reply for found in pool.map(work, range(THREADS)) for reply in found]
    assert replies == [2 * question for question in range(THREADS * EACH)]
    assert sum(sizes) == THREADS * EACH
    # A call for each 64 questions and one for the first that comes back, were threads ideal; single ones were 300.
    assert len(sizes) <= THREADS * EACH / 5


def test_a_call_that_fails_fails_for_all_of_its_threads_and_for_no_other():
    def compute(questions):
        time.sleep(0.01)
        if "bad" in questions:
            raise ValueError("bad")
        return questions

    ask = Batcher(compute, limit=1)
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(ask, [text]) for text in ["good", "bad"] * 4]
    for number, future in enumerate(futures):
        if number % 2:
            with pytest.raises(ValueError, match="bad"):
                future.result()
        else:
            assert future.result() == ["good"]
