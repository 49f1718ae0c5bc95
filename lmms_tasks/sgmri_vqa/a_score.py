"""A-Score: is the answer to a question about detection, counting, classification or diagnosis right?

The functions read texts exactly as the released code does (lamawmouk/SGMRI-VQA at a37aa3dd,
`src/sgmriqa/metrics/{a_score,utils}.py` and `run_evaluation.py`), with its pitfalls, which the README lists: the numbers
of the published tables come from these parsers. None of them raises on any text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

CLOSED_ENDED = ("closed_ended",)
SINGLE_CHOICE = ("single_choice",)
MULTIPLE_CHOICE = ("multiple_choice", "multi_choice")
OPEN_ENDED = ("open_ended", "chain_of_thought")

YesNoParser = Callable[[str], "bool | None"]

_OPENING, _CLOSING = "<think>", "</think>"
_CONCLUSION = r"[Tt]herefore,?\s+the\s+final\s+answer\s+is:\s*"
_FINAL_ANSWER = re.compile(rf"{_CONCLUSION}(.+)")
_LEADING_LETTER = re.compile(r"[A-D]\b")
_PUNCTUATION = ".,!;:"
_YES_NO_CUE = re.compile(r"(?:my|the) answer is[:\s]*(?:\*+\s*)?(yes|no)\b")
_INTEGER_CUE = re.compile(rf"{_CONCLUSION}\*{{0,2}}(\d+)")
_DIGITS = re.compile(r"\b\d+\b")
_NONE = re.compile(r"\b(?:none|zero)\b")
_NO = re.compile(r"\bno\b")
_FINDING = re.compile(r"\b(?:abnormal|finding)")
_EXCLUDED_OPTION = re.compile(r"[Ii]t\s+is\s+not\s+\([A-Da-d]\)[^.]*\.?")
_OPTION = re.compile(r"\(([A-Da-d])\)")
_LONE_LETTER = re.compile(r"\b([A-Da-d])\b")


def strip_think(text: str) -> str:
    """`text` without closed `<think>` blocks in lower case, trimmed; unclosed, lone and upper-case tags stay."""
    kept, place = [], 0
    # By hand: a pattern would search the rest of the text again for every tag that none closes.
    while (opening := text.find(_OPENING, place)) >= 0 and (closing := text.find(_CLOSING, opening)) >= 0:
        kept.append(text[place:opening])
        place = closing + len(_CLOSING)
    return "".join([*kept, text[place:]]).strip()


def cut_final_answer(text: str, question_type: str) -> str:
    """What a step-by-step answer about a volume settles on: the rest of the line after "Therefore, the final answer is:".

    Full stops at its end and all asterisks go. A choice is cut to a leading upper-case letter, even where several were
    listed, and a closed-ended answer to a leading yes or no. Without the cue the text comes back as it is.
    """
    found = _FINAL_ANSWER.search(text)
    if not found:
        return text
    answer = found.group(1).strip().rstrip(".").replace("*", "").strip()
    # `multi_choice`, the other spelling, is not cut by the released code either.
    if question_type in ("single_choice", "multiple_choice") and (letter := _LEADING_LETTER.match(answer)):
        return letter.group()
    if question_type in CLOSED_ENDED and answer.split():
        word = answer.split()[0].strip(_PUNCTUATION)
        if word.lower() in ("yes", "no"):
            return word
    return answer


def parse_yes_no(text: str) -> bool | None:
    """True for yes, False for no, None where the text does not decide.

    In this order: the first word; the word after "my answer is" or "the answer is"; which of "yes" and "no" occurs
    anywhere, **inside other words too**: "An abnormality is seen." is No, because of "ab*no*rmality".
    """
    decided = _stated_yes_no(text.lower())
    return _only_one("yes" in text.lower(), "no" in text.lower()) if decided is None else decided


def parse_yes_no_word_boundary(text: str) -> bool | None:
    """As `parse_yes_no`, but "yes" and "no" count only as whole words."""
    lowered = text.lower()
    decided = _stated_yes_no(lowered)
    if decided is not None:
        return decided
    return _only_one(bool(re.search(r"\byes\b", lowered)), bool(re.search(r"\bno\b", lowered)))


def parse_integer(text: str) -> int | None:
    """The number that a text gives, None where it gives none.

    In this order: the whole text as Python's `int` reads it; digits after "Therefore, the final answer is:"; the last
    group of digits that is a word of its own ("2.0" is 0, "T2" has none); 0 where nothing was found ("no … findings",
    "none", "zero"). Number words are not read.
    """
    whole = _int(text.strip())
    if whole is not None:
        return whole
    if cued := _INTEGER_CUE.search(text):
        return _int(cued.group(1))
    if groups := _DIGITS.findall(text):
        return _int(groups[-1])
    return 0 if _says_none(text.lower()) else None


def parse_letters(text: str) -> set[str]:
    """The options A to D that a text chooses, in upper case.

    Sentences from "It is not (X)" to their full stop, or the end, are left out. Options in brackets win; without any, every letter
    A to D that stands alone counts, an article "a" too.
    """
    kept = _EXCLUDED_OPTION.sub("", text)
    return {letter.upper() for letter in _OPTION.findall(kept) or _LONE_LETTER.findall(kept)}


def closed_ended_score(prediction: str, key: str, parser: YesNoParser = parse_yes_no) -> float:
    """1 if both texts say the same yes or no, or else the same integer as the key; 0 otherwise."""
    said, right = parser(prediction), parser(key)
    if said is not None and right is not None:
        return float(said == right)
    number = parse_integer(key)
    return float(number is not None and parse_integer(prediction) == number)


def single_choice_score(prediction: str, key: str) -> float:
    """1 if the alphabetically first letters of prediction and key agree; 0 otherwise."""
    said, right = parse_letters(prediction), parse_letters(key)
    return float(bool(said) and bool(right) and min(said) == min(right))


def multiple_choice_score(prediction: str, key: str) -> float:
    """F1 over the sets of letters, in [0, 1]; 0 where one of them is empty."""
    said, right = parse_letters(prediction), parse_letters(key)
    return 2 * len(said & right) / (len(said) + len(right)) if said and right else 0.0


def keyword_recall(prediction: str, labels: Sequence[str]) -> float | None:
    """Share of the labels that occur in the prediction as they stand, case apart; None without labels.

    A label's own blanks count: "Joint Effusion " is not in "joint effusion.".
    """
    if not labels:
        return None
    lowered = prediction.lower()
    return sum(label.lower() in lowered for label in labels) / len(labels)


def word_recall(prediction: str, key: str) -> float:
    """Share of the key's distinct words, split at white space, that occur in the prediction; 0 for an empty key."""
    words, said = set(key.lower().split()), set(prediction.lower().split())
    return len(words & said) / len(words) if words else 0.0


def cosine_similarity(one: np.ndarray, other: np.ndarray) -> float:
    """Cosine of two embeddings, each of shape (dimensions,), with 1e-8 added to the product of norms; at least 0."""
    a, b = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    return max(0.0, float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-8)))


def open_ended_score(prediction: str, key: str, labels: Sequence[str], similarity: float | None) -> float:
    """Mean of keyword recall and similarity, in [0, 1]; of the one that there is, where the other is missing.

    Args:
        labels: the keywords of the row; without any, the similarity alone.
        similarity: of the lower-cased texts; None without an encoder. Then, as in the released code, the keywords alone
            score, and without keywords the recall of the key's words. (The tasks leave such rows unscored.)
    """
    parts = [part for part in (keyword_recall(prediction, labels), similarity) if part is not None]
    return sum(parts) / len(parts) if parts else word_recall(prediction, key)


def a_score(
    prediction: str,
    key: str,
    question_type: str,
    labels: Sequence[str] = (),
    similarity: float | None = None,
    parser: YesNoParser = parse_yes_no,
) -> float:
    """A-Score of one answer, in [0, 1], by the rule of its question type; 0 for a type that is unknown.

    Args:
        prediction: without reasoning, and cut by `cut_final_answer` where the question is about a volume.
        labels, similarity: for open-ended questions, see `open_ended_score`.
        parser: reads yes and no; `parse_yes_no_word_boundary` makes `a_score_word_boundary`.
    """
    if question_type in CLOSED_ENDED:
        return closed_ended_score(prediction, key, parser)
    if question_type in SINGLE_CHOICE:
        return single_choice_score(prediction, key)
    if question_type in MULTIPLE_CHOICE:
        return multiple_choice_score(prediction, key)
    if question_type in OPEN_ENDED:
        return open_ended_score(prediction, key, labels, similarity)
    return 0.0


def _stated_yes_no(lowered: str) -> bool | None:
    first = (lowered.split() or [""])[0].strip(_PUNCTUATION)
    if first in ("yes", "y"):
        return True
    if first in ("no", "n"):
        return False
    cued = _YES_NO_CUE.search(lowered)
    return cued.group(1) == "yes" if cued else None


def _says_none(lowered: str) -> bool:
    if _NONE.search(lowered):
        return True
    # The first "no" of a line sees all that any later one sees.
    return any((no := _NO.search(line)) and _FINDING.search(line, no.end()) for line in lowered.split("\n"))


def _only_one(yes: bool, no: bool) -> bool | None:
    return yes if yes != no else None


def _int(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:  # no number, or more digits than Python converts
        return None
