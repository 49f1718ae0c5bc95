"""What a judge is told to do better when it refuses: the sentence that ends a run, and when a refusal is one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from lmms_tasks.utils.judge.endpoints import variable
from lmms_tasks.utils.judge.profiles import Judge
from lmms_tasks.utils.judge.reply import JudgeError

# What a question needs beyond text; a judge that answers plain questions may be unable to do either.
Need = Literal["images", "logprobs"]
# What these statuses say holds for every later call too, whatever it asks.
CLOSING = (401, 402, 403, 429)
_ADVICE = {
    "images": "name a model that sees images, or give that rubric to another judge by `rubrics` in the profile",
    "logprobs": 'name a model that returns log-probabilities, or set vqa = "verdict" in the profile',
}
_NAMED = {"images": "images", "logprobs": "log-probabilities"}


class Refused(Exception):
    """A judge will answer none of its calls, or none of a kind; the message is the sentence that ends the run."""


def sentence(judge: Judge, host: str, error: JudgeError) -> str:
    """Why a judge that refuses whatever it is asked ends the run, and what to do."""
    if error.status in (401, 403):
        advice = f"set {variable(judge.name, 'API_KEY')} (or OPENAI_API_KEY) to a key that may use it"
    elif error.status == 404:
        advice = f"check the model {judge.model} and {variable(judge.name, 'BASE_URL')} (or OPENAI_BASE_URL)"
    elif error.status in (402, 429):
        advice = "see to the account's credit"
    else:
        advice = "change what the profile sends (`extra`, `omit`, `token_limit`, `openai`) or the judge's address"
    return f"judge {judge.name} at {host} refused ({error.status}): {error.words.rstrip('.')}; {advice}."


def sentence_about(needs: Collection[Need], rubric: str, judge: Judge, host: str, error: JudgeError) -> str:
    """Why a judge that refuses the first question with images, or for log-probabilities, ends the run."""
    asked = [need for need in _NAMED if need in needs]
    what = " and ".join(_NAMED[need] for need in asked)
    advice = "; ".join(_ADVICE[need] for need in asked)
    return (
        f"judge {judge.name} at {host} refused ({error.status}) a question with {what}, which the rubric {rubric} asks: "
        f"{error.words.rstrip('.')}; {advice}."
    )
