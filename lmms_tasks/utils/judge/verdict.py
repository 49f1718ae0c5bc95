"""Verdicts of single judgements, and the judgement of a row that they add up to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

# "valid"; "invalid": a reply without a usable verdict; "truncated": cut off by the token limit; "failed": no reply;
# "budget": not asked, the run's budget is spent; "closed": not asked, the judge takes no further calls.
Status = Literal["valid", "invalid", "truncated", "failed", "budget", "closed"]

# Choices that stand for a number: a mean over verdicts is then the share of "Yes".
NUMBERS = {"Yes": 1.0, "No": 0.0}


@dataclass(frozen=True)
class Verdict:
    """One judge's verdict in one generation.

    `fields` are the scores of a valid verdict, without free text. `reason` says why any other has none. `model` is the
    name that the server returned. `cached`: no request was made for it. `key`: where the cache has the reply.
    `logprobs`: of an answer in one word, the natural log-probabilities of its first token and of the likeliest others.
    """

    fields: Mapping[str, float | str] | None
    status: Status
    reason: str | None
    judge: str
    generation: int = 0
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    key: str = ""
    cached: bool = False
    logprobs: Mapping[str, float] | None = None

    @property
    def valid(self) -> bool:
        """Whether it counts."""
        return self.status == "valid"

    def shared(self, judge: str) -> Verdict:
        """The same verdict for another row, or another judge of the same model and endpoint, that asked for it at the
        same time: paid once."""
        return replace(self, judge=judge, cached=True)


@dataclass(frozen=True)
class Judgement:
    """All verdicts on one row. `fields` are their means where the row is scored, else None with a `reason`."""

    verdicts: tuple[Verdict, ...]
    scored: bool
    fields: dict[str, float] | None
    reason: str | None

    def record(self) -> dict[str, Any]:
        """A JSON-safe account: scores, status, keys and tokens; no text of a judge."""
        return {
            "scored": self.scored,
            "fields": self.fields,
            "reason": self.reason,
            "verdicts": [
                {
                    "judge": verdict.judge,
                    "generation": verdict.generation,
                    "status": verdict.status,
                    "reason": verdict.reason,
                    "scores": dict(verdict.fields) if verdict.fields is not None else None,
                    "model": verdict.model,
                    "input_tokens": verdict.input_tokens,
                    "output_tokens": verdict.output_tokens,
                    "key": verdict.key,
                    "cached": verdict.cached,
                }
                for verdict in self.verdicts
            ],
        }


def reduce(verdicts: Sequence[Verdict], numeric: Collection[str]) -> Judgement:
    """The judgement of a row, over the fields named in `numeric`.

    Each field's mean over the valid generations of a judge, then over judges, so that each judge weighs the same. A
    judge counts if one of its generations is valid; the row is scored if at least two thirds of the judges count.
    "Yes" is 1, "No" is 0; other choices stay in the verdicts.
    """
    by_judge: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_judge.setdefault(verdict.judge, []).append(verdict)
    counting = {judge: [one for one in given if one.valid] for judge, given in by_judge.items()}
    counting = {judge: valid for judge, valid in counting.items() if valid}
    # In whole numbers: two of three must not fail by a rounding of 2 / 3.
    if not counting or 3 * len(counting) < 2 * len(by_judge):
        reasons = "; ".join(f"{judge}: {given[0].reason}" for judge, given in by_judge.items() if judge not in counting)
        needed = -(-2 * len(by_judge) // 3)
        reason = f"{len(counting)} of {len(by_judge)} judges gave a valid verdict, {needed} needed ({reasons})"
        return Judgement(tuple(verdicts), False, None, reason)
    fields = {
        name: _mean([_mean([_number(one.fields[name]) for one in valid]) for valid in counting.values()])
        for name in numeric
    }
    return Judgement(tuple(verdicts), True, fields, None)


def _number(value: float | str) -> float:
    return NUMBERS[value] if isinstance(value, str) else float(value)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
