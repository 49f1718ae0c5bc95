"""What judging one report costs at the most, before there is a report to count in."""

from __future__ import annotations

from typing import Any

from lmms_tasks.mmdeepresearch_bench.claims import MOST_CLAIMS
from lmms_tasks.mmdeepresearch_bench.mosaic import MOST_ITEMS
from lmms_tasks.mmdeepresearch_bench.passages import LONGEST_EXCERPT
from lmms_tasks.mmdeepresearch_bench.pipeline import LONGEST_REPORT, LONGEST_RULES
from lmms_tasks.mmdeepresearch_bench.verdicts import rubrics_for
from lmms_tasks.utils.judge import Judge
from lmms_tasks.utils.judge.plan import CHARACTERS_OF_TOKEN, TOKENS_OF_IMAGE

_TASK, _STATEMENT = 1_500, 600  # characters of a long task, and of a long sentence with what stands beside it
_MOST_IMAGES_OF_TASK = 4  # dossier: one to about four
# For each rubric the calls a report at the most, the characters of texts in one, the images in one.
_MOST = {
    "report": (1, LONGEST_RULES + LONGEST_REPORT + _TASK, 0),
    "weights": (1, _TASK, 0),
    "support": (MOST_CLAIMS, LONGEST_EXCERPT + _STATEMENT, 0),
    "visual_fidelity": (1, LONGEST_REPORT + 2 * _TASK, _MOST_IMAGES_OF_TASK),
    "figure": (MOST_ITEMS, _STATEMENT, 1),
    "figure_yes_no": (MOST_ITEMS, _STATEMENT, 1),
}


def most_of_a_report(judge: Judge, vqa: str) -> dict[str, Any]:
    """The most `calls`, `images`, `prompt_tokens` and `dollars` (None without a price) of one report by one judge.

    Tokens are estimated as `Plan` does. A report of ten references and two figures takes about a third.
    """
    calls = images = tokens = 0
    for name, rubric in rubrics_for(vqa).items():
        if not judge.is_asked(name):
            continue
        number, characters, shown = _MOST[name.rpartition(".")[2]]
        characters += len(rubric.template) + len(rubric.format_instruction())
        calls += number * judge.generations
        images += number * judge.generations * shown
        tokens += number * judge.generations * (characters // CHARACTERS_OF_TOKEN + shown * TOKENS_OF_IMAGE)
    price = judge.price.get("input")
    dollars = None if price is None else tokens * price / 1e6
    return {"judge": judge.name, "calls": calls, "images": images, "prompt_tokens": tokens, "dollars": dollars}
