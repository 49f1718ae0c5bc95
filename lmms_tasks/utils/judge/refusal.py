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


def sentence(
    judge: Judge, host: str, error: JudgeError, needs: Collection[Need] = (), rubric: str = "", first: bool = True
) -> str:
    """Why a judge's refusal ends the run, and what to do.

    Args:
        needs: what the question needed and no reply has shown yet that the judge can do.
        rubric: whose question it was.
        first: whether the judge has answered nothing so far, so that anything may be the reason.
    """
    asked = [need for need in _NAMED if need in needs]
    what = (
        f" a question with {' and '.join(_NAMED[need] for need in asked)}, which the rubric {rubric} asks"
        if asked
        else ""
    )
    advice = "; or ".join([_general(judge, error.status)] * (first or not asked) + [_ADVICE[need] for need in asked])
    return f"judge {judge.name} at {host} refused{what} ({error.status}): {error.words.rstrip('.')}; {advice}."


def _general(judge: Judge, status: int | None) -> str:
    if status in (401, 403):
        return f"set {variable(judge.name, 'API_KEY')} (or OPENAI_API_KEY) to a key that may use it"
    if status == 404:
        return f"check the model {judge.model} and {variable(judge.name, 'BASE_URL')} (or OPENAI_BASE_URL)"
    if status in (402, 429):
        return "see to the account's credit"
    return "change what the profile sends (`extra`, `omit`, `token_limit`, `openai`) or the judge's address"
