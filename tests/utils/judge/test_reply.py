"""Bodies of replies in the shapes that servers document, read or refused as they should be.

Shapes are those of: OpenAI's schema (`CreateChatCompletionResponse` in openai/openai-openapi, `openai.types.chat` in
openai-python), vLLM (`vllm/entrypoints/openai/protocol.py`; docs.vllm.ai/en/stable/features/reasoning_outputs), SGLang
(`python/sglang/srt/entrypoints/openai/protocol.py`; docs.sglang.io/docs/advanced_features/separate_reasoning),
OpenRouter (openrouter.ai/docs/api/reference/errors-and-debugging). The contents are ours.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from lmms_tasks.utils.judge import Rubric
from lmms_tasks.utils.judge.reply import JudgeError, Reply, read_reply, words_of

from .conftest import verdict_text

GOOD = verdict_text(3, "No")
THOUGHT = 'The gold answer names mildew; {"accuracy": 0, "spurious": "Yes"} would be too harsh.'

OPENAI_USAGE = {
    "prompt_tokens": 211,
    "completion_tokens": 19,
    "total_tokens": 230,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {
        "reasoning_tokens": 7,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    },
}
VLLM_USAGE = {"prompt_tokens": 211, "total_tokens": 230, "completion_tokens": 19, "prompt_tokens_details": None}


def openai(content: Any, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    # openai-python: types/chat/chat_completion.py, chat_completion_message.py, types/completion_usage.py
    return {
        "id": "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
        "object": "chat.completion",
        "created": 1741570283,
        "model": "gpt-4.1-2025-04-14",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": None, "annotations": [], **message},
                "logprobs": None,
                "finish_reason": finish_reason,
            }
        ],
        "usage": OPENAI_USAGE,
        "service_tier": "default",
        "system_fingerprint": "fp_fc9f1d7035",
    }


def vllm(content: Any, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    # vllm/entrypoints/openai/protocol.py: ChatMessage, ChatCompletionResponseChoice, ChatCompletionResponse
    return {
        "id": "chatcmpl-0e9f43a01be04a7e",
        "object": "chat.completion",
        "created": 1756000000,
        "model": "Qwen/Qwen3-32B",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": content,
                    "refusal": None,
                    "annotations": None,
                    "audio": None,
                    "function_call": None,
                    "tool_calls": [],
                    **message,
                },
                "logprobs": None,
                "finish_reason": finish_reason,
                "stop_reason": None,
            }
        ],
        "service_tier": None,
        "system_fingerprint": None,
        "usage": VLLM_USAGE,
        "prompt_logprobs": None,
        "kv_transfer_params": None,
    }


def sglang(content: Any, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    # sglang protocol.py: ChatCompletionResponse with `matched_stop`, `metadata`, and UsageInfo.reasoning_tokens
    return {
        "id": "5b2b1d4c0a4d4f0f",
        "object": "chat.completion",
        "created": 1756000000,
        "model": "deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "tool_calls": None, **message},
                "logprobs": None,
                "finish_reason": finish_reason,
                "matched_stop": 128001,
            }
        ],
        "usage": {
            "prompt_tokens": 211,
            "total_tokens": 230,
            "completion_tokens": 19,
            "prompt_tokens_details": None,
            "reasoning_tokens": 7,
        },
        "metadata": {"weight_version": "default"},
    }


TOOL_CALL = {"id": "call_1", "type": "function", "function": {"name": "score", "arguments": GOOD}}

# What the body is; the body; the fields that are read from it, or the reason why none are.
BODIES: list[tuple[str, dict[str, Any], dict[str, Any] | str]] = [
    ("OpenAI, plain", openai(GOOD), {"accuracy": 3, "spurious": "No"}),
    ("OpenAI, a fence around the object", openai(f"```json\n{GOOD}\n```"), {"accuracy": 3, "spurious": "No"}),
    # Structured outputs guide, "Refusals": content is null and refusal says why.
    ("OpenAI, refusal", openai(None, refusal="I'm sorry, I cannot judge this."), "the judge refused to answer"),
    ("OpenAI, refusal beside content", openai(GOOD, refusal="I'd rather not."), "the judge refused to answer"),
    ("OpenAI, content filter", openai("", "content_filter"), "the judge refused to answer"),
    # API reference: `length` if the maximum number of tokens was reached.
    ("OpenAI, limit reached", openai(GOOD[:12], "length"), "the token limit cut the reply off"),
    ("OpenAI, limit reached after an object", openai(GOOD, "length"), "the token limit cut the reply off"),
    # A reasoning model that used its whole limit for hidden reasoning leaves an empty content.
    ("OpenAI, limit spent on reasoning", openai("", "length"), "the token limit cut the reply off"),
    (
        "OpenAI, tool call",
        openai(None, "tool_calls", tool_calls=[TOOL_CALL]),
        "a tool call instead of an answer",
    ),
    (
        "vLLM, no parser, reasoning in the content",
        vllm(f"<think>\n{THOUGHT}\n</think>\n\n{GOOD}"),
        {"accuracy": 3, "spurious": "No"},
    ),
    (
        "vLLM, no parser, opening tag in the prompt",
        vllm(f"{THOUGHT}\n</think>\n\n{GOOD}"),
        {"accuracy": 3, "spurious": "No"},
    ),
    (
        "vLLM, no parser, cut off while reasoning",
        vllm(f"<think>\n{THOUGHT}", "length"),
        "the token limit cut the reply off",
    ),
    ("vLLM, no parser, block never closed", vllm(f"<think>\n{THOUGHT}"), "the reasoning block never ends"),
    # features/reasoning_outputs: `reasoning_content` up to v0.10, `reasoning` from v0.11.2 on.
    ("vLLM, reasoning_content", vllm(f"\n\n{GOOD}", reasoning_content=THOUGHT), {"accuracy": 3, "spurious": "No"}),
    ("vLLM, reasoning", vllm(f"\n\n{GOOD}", reasoning=THOUGHT), {"accuracy": 3, "spurious": "No"}),
    # The parser found no end of the reasoning: everything is reasoning, and nothing of it is an answer.
    ("vLLM, content null beside reasoning_content", vllm(None, reasoning_content=GOOD), "an empty reply"),
    ("vLLM, content null beside reasoning", vllm(None, reasoning=GOOD), "an empty reply"),
    ("SGLang, separate_reasoning", sglang(GOOD, reasoning_content=THOUGHT), {"accuracy": 3, "spurious": "No"}),
    ("SGLang, content null", sglang(None, reasoning_content=GOOD), "an empty reply"),
    # protocol.py: finish_reason is one of stop, length, tool_calls, content_filter, function_call, abort.
    ("SGLang, abort", sglang(GOOD, "abort"), "the server broke the reply off"),
    # Content as parts, as in requests (openai-openapi, ChatCompletionRequestAssistantMessageContentPart); gateways
    # return them too.
    (
        "list of parts",
        openai([{"type": "text", "text": GOOD[:9]}, {"type": "text", "text": GOOD[9:]}]),
        {"accuracy": 3, "spurious": "No"},
    ),
    ("list with a refusal part", openai([{"type": "refusal", "refusal": "No."}]), "the judge refused to answer"),
    (
        "list with thinking and text",
        openai([{"type": "thinking", "thinking": GOOD}, {"type": "text", "text": GOOD}]),
        {"accuracy": 3, "spurious": "No"},
    ),
    ("no usage", {**vllm(GOOD), "usage": None}, {"accuracy": 3, "spurious": "No"}),
]


@pytest.mark.parametrize("body, expected", [case[1:] for case in BODIES], ids=[case[0] for case in BODIES])
def test_a_documented_body_is_read_or_refused(body: dict[str, Any], expected: dict | str, rubric: Rubric) -> None:
    reply = read_reply(json.dumps(body).encode())
    outcome = reply.trouble or _parse(rubric, reply)
    assert outcome == expected


def _parse(rubric: Rubric, reply: Reply) -> dict | str:
    try:
        return rubric.parse(reply.text)
    except ValueError as error:
        return str(error)


def test_the_bodies_that_stand_for_openais_are_of_its_own_type() -> None:
    from openai.types.chat import ChatCompletion

    for name, body, _ in BODIES:
        if name.startswith("OpenAI"):
            ChatCompletion.model_validate(body)


@pytest.mark.parametrize(
    "body, model, reasoning_tokens",
    [
        (openai(GOOD), "gpt-4.1-2025-04-14", 7),
        (vllm(GOOD), "Qwen/Qwen3-32B", 0),
        (sglang(GOOD), "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", 7),
    ],
)
def test_model_and_tokens_are_read_from_each_servers_usage(body: dict, model: str, reasoning_tokens: int) -> None:
    reply = read_reply(json.dumps(body).encode())
    assert (reply.model, reply.input_tokens, reply.output_tokens) == (model, 211, 19)
    assert reply.reasoning_tokens == reasoning_tokens and not reply.usage_missing


@pytest.mark.parametrize("usage", [None, {}, "many", {"prompt_tokens": None, "completion_tokens": -1}])
def test_missing_counts_are_zero(usage: Any) -> None:
    reply = read_reply(json.dumps({**openai(GOOD), "usage": usage}).encode())
    assert (reply.input_tokens, reply.output_tokens) == (0, 0)
    assert reply.usage_missing == (not isinstance(usage, dict) or not usage)


def test_reasoning_is_kept_apart_under_either_name() -> None:
    for name in ("reasoning_content", "reasoning"):
        reply = read_reply(json.dumps(vllm(GOOD, **{name: THOUGHT})).encode())
        assert (reply.text, reply.reasoning) == (GOOD, THOUGHT)


@pytest.mark.parametrize(
    "body, status, words",
    [
        # openrouter.ai: an error during generation comes under status 200, with a code of its own.
        ({"error": {"code": 502, "message": "Provider returned error"}}, 502, "Provider returned error"),
        ({"error": {"code": 401, "message": "No auth credentials found"}}, 401, "No auth credentials found"),
        # SGLang's ErrorResponse: the error is the body itself.
        (
            {"object": "error", "message": "Model busy", "type": "ServerError", "param": None, "code": 503},
            503,
            "Model busy",
        ),
        # vLLM's ErrorResponse: an ErrorInfo under `error`, whose code is a number.
        (
            {"error": {"message": "Engine died", "type": "InternalServerError", "param": None, "code": 500}},
            500,
            "Engine died",
        ),
        # OpenAI's error has a code that is no number: nothing says that another try is useless.
        ({"error": {"message": "Overloaded", "type": "server_error", "param": None, "code": None}}, 500, "Overloaded"),
        ({"error": "worker crashed"}, 500, "worker crashed"),
    ],
)
def test_an_error_under_status_200_is_an_error_in_the_endpoints_words(body: dict, status: int, words: str) -> None:
    with pytest.raises(JudgeError) as failure:
        read_reply(json.dumps(body).encode())
    assert (failure.value.status, failure.value.words) == (status, words)
    assert failure.value.passing == (status >= 500)


@pytest.mark.parametrize(
    "body", [b"", b"<html>502 Bad Gateway</html>", b"[]", b'{"choices": []}', b'{"choices": [{"index": 0}]}', b'{"choi']
)
def test_a_body_that_is_no_completion_may_pass(body: bytes) -> None:
    with pytest.raises(JudgeError) as failure:
        read_reply(body)
    assert failure.value.kind == "broken" and failure.value.passing


@pytest.mark.parametrize(
    "body, words",
    [
        (
            b'{"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}',
            "Incorrect API key provided.",
        ),
        # FastAPI's own validation errors, which vLLM and SGLang may pass on, have no message.
        (b'{"detail": "Not Found"}', '{"detail": "Not Found"}'),
        (b"<html>\n  <b>nginx</b>\n</html>", "<html> <b>nginx</b> </html>"),
        (b"", "(no words)"),
        (b"x" * 1000, "x" * 300),
    ],
)
def test_the_endpoints_words_are_its_message_or_the_bodys_beginning(body: bytes, words: str) -> None:
    assert words_of(body) == words


def test_a_lone_surrogate_does_not_reach_the_files() -> None:
    reply = read_reply(json.dumps(openai("\ud800" + GOOD)).encode())
    assert reply.text == "?" + GOOD
