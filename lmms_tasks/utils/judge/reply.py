"""What a judge's server sends back: the reply as we read it, and the errors it can be instead.

The shapes are those of OpenAI, vLLM and SGLang, with and without a reasoning parser; `tests/utils/judge/test_reply.py`
holds one of each with its source.
"""

from __future__ import annotations

import bisect
import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lmms_tasks.utils.reasoning import strip_reasoning

# Statuses that another try may pass: time-out, conflict, too many requests; and every 5xx.
PASSING = frozenset({408, 409, 429})


class JudgeError(Exception):
    """No reply. `words` are the endpoint's own where it said something, without the key.

    `kind`: "status" (an HTTP error, `status` says which), "connection", "timeout", "broken" (a body that is no chat
    completion), "oversized". `retry_after` is the pause that the endpoint asks for, in seconds. `final`: no try will
    help, whatever the status usually means.
    """

    def __init__(
        self,
        kind: Literal["status", "connection", "timeout", "broken", "oversized"],
        words: str,
        status: int | None = None,
        retry_after: float | None = None,
        final: bool = False,
    ):
        super().__init__(words if status is None else f"{status}: {words}")
        self.kind = kind
        self.words = words
        self.status = status
        self.retry_after = retry_after
        self.final = final

    @property
    def passing(self) -> bool:
        """Whether another try may succeed."""
        if self.final:
            return False
        if self.kind == "status":
            return self.status in PASSING or (self.status or 0) >= 500
        return self.kind != "oversized"

    @property
    def outage(self) -> bool:
        """Whether the endpoint is not there, as opposed to busy or unwilling."""
        return self.passing and self.status != 429 and self.kind != "broken"


@dataclass(frozen=True)
class Reply:
    """A chat completion. `text` is the content alone: reasoning is never read as an answer.

    Token counts are 0 where `usage_missing`. `raw` is the body as it came. `logprobs`: see `first_token`.
    """

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    usage_missing: bool = False
    refusal: str = ""
    tool_calls: bool = False
    logprobs: Mapping[str, float] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def truncated(self) -> bool:
        """Whether the token limit ended the reply."""
        return self.finish_reason == "length"

    @property
    def trouble(self) -> str | None:
        """Why the content cannot be read as a verdict, in a few words; None where it can."""
        if self.truncated:
            return "the token limit cut the reply off"
        if self.refusal or self.finish_reason == "content_filter":
            return "the judge refused to answer"
        if self.finish_reason in ("abort", "error"):
            return "the server broke the reply off"
        if not self.text.strip():
            return "a tool call instead of an answer" if self.tool_calls else "an empty reply"
        return None


def read_reply(body: bytes, status: int = 200) -> Reply:
    """The reply in a successful response's body.

    Raises JudgeError "broken" for what is no chat completion, and "status" with the endpoint's words where the body is
    an error under status 200 (its `code` then stands for the status, where it is one).
    """
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError):
        raise JudgeError("broken", "the body is no JSON") from None
    if not isinstance(raw, dict):
        raise JudgeError("broken", "the body is no JSON object")
    choices = raw.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    error = raw.get("error") or choice.get("error") or (raw if raw.get("object") == "error" else None)
    if error and not _text(_message(choice).get("content")):
        code = error.get("code") if isinstance(error, dict) else None
        code = int(code) if str(code).isdigit() and 400 <= int(code) < 600 else None
        raise JudgeError("status", words_of(body), code or 500)
    if not isinstance(choice.get("message"), dict):
        raise JudgeError("broken", "the body has no message")
    message = _message(choice)
    usage = raw.get("usage") if isinstance(raw.get("usage"), dict) else {}
    details = usage.get("completion_tokens_details") or {}
    return Reply(
        text=_text(message.get("content")),
        reasoning=_string(message.get("reasoning_content")) or _string(message.get("reasoning")),
        finish_reason=_string(choice.get("finish_reason")) or None,
        model=_string(raw.get("model")),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        # OpenAI and vLLM count reasoning in the details, SGLang beside the other counts.
        reasoning_tokens=_count(details.get("reasoning_tokens") if isinstance(details, dict) else 0)
        or _count(usage.get("reasoning_tokens")),
        usage_missing=not usage,
        refusal=_string(message.get("refusal")) or _refusal_part(message.get("content")),
        tool_calls=bool(message.get("tool_calls")),
        logprobs=first_token(raw, _text(message.get("content"))),
        raw=raw,
    )


def first_token(raw: Mapping[str, Any], text: str) -> dict[str, float] | None:
    """The natural log-probabilities of the answer's first token and of those that could have stood in its place.

    `text` is the content of `raw`, a chat completion as OpenAI has it (`choices[0].logprobs.content`). Tokens of a
    reasoning block before the answer are passed over. None where the server returned none.
    """
    choices = raw.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    logprobs = choice.get("logprobs")
    listed = logprobs.get("content") if isinstance(logprobs, dict) else None
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    tokens = [_string(entry.get("token")) for entry in entries]
    answer = strip_reasoning(text).text
    # The answer ends the tokens, whatever the server left out of the content before it.
    place = "".join(tokens).rfind(answer) if answer else -1
    if place < 0:
        return None
    entry = entries[bisect.bisect_right(list(itertools.accumulate(map(len, tokens))), place)]
    also = entry.get("top_logprobs")
    known = [*(also if isinstance(also, list) else ()), entry]
    found = {
        _string(one.get("token")): float(one["logprob"])
        for one in known
        if isinstance(one, dict) and isinstance(one.get("logprob"), int | float) and math.isfinite(one["logprob"])
    }
    return found or None


def words_of(body: bytes) -> str:
    """The endpoint's own words in an error's body: its message, else its first 300 characters on one line."""
    text = body.decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if isinstance(said, dict):
        choices = said.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        error = said.get("error") or choice.get("error")
        for found in (error.get("message") if isinstance(error, dict) else error, said.get("message")):
            if isinstance(found, str) and found.strip():
                text = found
                break
    return " ".join(text.split())[:300] or "(no words)"


def credit_is_spent(body: bytes) -> bool:
    """Whether a 429 means an empty account rather than haste (OpenAI's `insufficient_quota`): no pause will help."""
    try:
        error = json.loads(body).get("error")
        return "insufficient_quota" in (error.get("code"), error.get("type"))
    except (ValueError, AttributeError, RecursionError):
        return False


def _message(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    message = choice.get("message")
    return message if isinstance(message, dict) else {}


def _text(content: Any) -> str:
    """Content as text: a string, or the text parts of a list."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") in ("text", "output_text")]
        return "".join(_string(part.get("text")) for part in parts)
    return _string(content)


def _refusal_part(content: Any) -> str:
    parts = content if isinstance(content, list) else []
    return next((_string(part.get("refusal")) for part in parts if isinstance(part, dict) and part.get("refusal")), "")


def _string(value: Any) -> str:
    # A lone surrogate, which JSON can spell, fits neither into a file nor into a request.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else 0
