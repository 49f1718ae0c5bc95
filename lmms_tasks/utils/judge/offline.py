"""The lexical stand-in for a judge: compares words, asks nobody, gives the same numbers each time.

It makes samples, tests and dry runs work without an endpoint. Its numbers say how much two texts share, not which is
right.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

from lmms_tasks.utils.judge.rubric import Field, Rubric
from lmms_tasks.utils.judge.verdict import Verdict

# Scripts that are written without blanks between words: each character is a token.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")

# Words that any two English texts share: counted, they would make strangers look related.
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been but by can could do does for from had has have he her his how i if in into is it its
        may me more most my no not of on or our she should so some such than that the their them then there these they
        this those to too up us was we were what when where which while who why will with would you your""",
    )
)

_RECALL = ("complete", "accuracy", "coverage", "known", "reasoning")
_PRECISION = ("parsimony",)
# Of these, "Yes" is the bad answer.
_FAULTS = ("spurious", "error", "hallucinat", "contradict", "irrelevant", "wrong", "unsupported")


def tokens(text: str) -> Counter[str]:
    """The words of a text with their numbers: NFKC, case folded, without common English words unless there are only
    such; characters of unspaced scripts one by one."""
    words = _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())
    return Counter([word for word in words if word not in _COMMON] or words)


def overlap(candidate: str, reference: str) -> tuple[float, float]:
    """(recall, precision) of the candidate's words, as multisets, each in [0, 1]; (1, 1) for identical texts."""
    if candidate.strip() == reference.strip():
        return 1.0, 1.0
    said, wanted = tokens(candidate), tokens(reference)
    shared = (said & wanted).total()
    return (shared / wanted.total() if wanted else 0.0), (shared / said.total() if said else 0.0)


def offline_verdict(rubric: Rubric, texts: Mapping[str, str]) -> Verdict:
    """The verdict on `texts[rubric.candidate]`, measured by `texts[rubric.reference]`.

    Fields about completeness and correctness follow the recall of the reference's words, parsimony follows precision,
    the others F1; each is mapped to its range and rounded half up.
    """
    recall, precision = overlap(texts[rubric.candidate], texts[rubric.reference])
    f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    fields = {field.name: _score(field, recall, precision, f1) for field in rubric.fields if field.kind != "text"}
    return Verdict(fields, "valid", None, "offline", model="offline")


def _score(field: Field, recall: float, precision: float, f1: float) -> float | str:
    name = field.name.lower()
    if field.kind == "choice":
        if set(field.choices) != {"Yes", "No"}:
            # No word of the texts tells these apart; the first choice if they agree, else the last.
            return field.choices[0] if f1 >= 0.5 else field.choices[-1]
        fault = any(word in name for word in _FAULTS)
        return "Yes" if (precision < 0.5 if fault else f1 >= 0.5) else "No"
    share = f1
    if any(word in name for word in _PRECISION):
        share = precision
    elif any(word in name for word in _RECALL):
        share = recall
    return int(field.low + share * (field.high - field.low) + 0.5)
