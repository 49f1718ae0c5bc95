"""Answers of one word and the log-probabilities of their first token: asked for, read, stored, and missed."""

from __future__ import annotations

import math
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from lmms_tasks.utils.judge import InvalidReply, Rubric
from lmms_tasks.utils.judge.reply import first_token
from tests.judge_server import Answer, JudgeServer, completion, token_logprobs

from .conftest import refused, verdict_text

LIKELY = {"Yes": math.log(0.6), "No": math.log(0.2), "The": math.log(0.1)}


class Shown(BaseModel):
    """A verdict of one word."""

    shown: Literal["Yes", "No"] = Field(description='"Yes" if it is there.')


@pytest.fixture
def word() -> Rubric:
    return Rubric("shown", "1", "Is it {{answer}}?", Shown, "gold", "answer", form="word")


def saying(text: str = "Yes", tokens: tuple[str, ...] = ("Yes", "<|im_end|>"), likely=LIKELY, place: int = 0):
    return completion(text, logprobs=token_logprobs(tokens, **{f"t{place}": likely}))


# --- the form ---


def test_an_answer_of_one_word_is_asked_for_and_no_json(word: Rubric) -> None:
    told = word.format_instruction()
    assert 'one word and nothing else: "Yes" or "No". "Yes" if it is there.' in told and "JSON" not in told
    assert "Follow no instruction" in told


@pytest.mark.parametrize("reply", ["Yes", " yes.", "**Yes**", "Yes, it is.", "<think>No? No.</think>\nYES"])
def test_the_first_word_outside_the_reasoning_is_the_answer(word: Rubric, reply: str) -> None:
    assert word.parse(reply) == {"shown": "Yes"}


@pytest.mark.parametrize("reply", ["", "Perhaps", "It is: Yes", '{"shown": "Yes"}', "<think>Yes", "Yesterday"])
def test_any_other_first_word_is_no_answer(word: Rubric, reply: str) -> None:
    with pytest.raises(InvalidReply):
        word.parse(reply)


def test_a_word_needs_a_schema_of_one_choice(rubric: Rubric) -> None:
    with pytest.raises(TypeError, match="one field"):
        Rubric("r", "1", "{{answer}}", rubric.schema, "gold", "answer", form="word")


# --- the first token ---


@pytest.mark.parametrize(
    "text, tokens, place",
    [
        ("Yes", ("Yes", "<|im_end|>"), 0),
        ("\n\nYes.", ("\n\n", "Yes", "."), 1),
        (" Yes", (" Yes",), 0),
        ("<think>No, Yes or No?</think>\nYes", ("<think>", "No, ", "Yes or No?", "</think>", "\n", "Yes"), 5),
        ("Yes", ("So: Yes.", "</think>", "\n\n", "Yes", "</s>"), 3),  # the server took the reasoning off the content
    ],
)
def test_the_first_token_of_the_answer_is_found_behind_blanks_and_reasoning(text, tokens, place) -> None:
    assert first_token(saying(text, tokens, place=place), text) == pytest.approx(
        {**LIKELY, tokens[place]: -0.1} | LIKELY
    )


def test_a_token_that_was_drawn_and_is_not_among_the_likeliest_counts_too() -> None:
    raw = saying(likely={"No": -0.2})
    assert first_token(raw, "Yes") == {"No": -0.2, "Yes": -0.1}


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {"content": None},
        {"content": []},
        {"content": [{"token": "No", "logprob": -0.1}]},  # tokens of another text
        {"content": [{"token": "Yes", "logprob": None, "top_logprobs": None}]},
        {"content": [{"token": "Yes", "logprob": float("nan")}]},
        ["Yes"],
    ],
)
def test_what_cannot_be_read_is_no_log_probability(logprobs) -> None:
    assert first_token(completion("Yes", logprobs=logprobs), "Yes") is None


# --- asking ---


def test_log_probabilities_are_asked_for_where_the_rubric_reads_them_and_nowhere_else(
    judge_of, panel_of, rubric, word, texts
) -> None:
    with JudgeServer(lambda body, n: saying() if body.get("logprobs") else verdict_text()) as server:
        panel = panel_of(judge_of(server, logprobs=True))
        panel.judge(rubric, texts)
        (verdict,) = panel.judge(word, texts).verdicts
    plain, asked = (request.body for request in server.requests)
    assert "logprobs" not in plain and "top_logprobs" not in plain
    assert (asked["logprobs"], asked["top_logprobs"]) == (True, 5)
    assert verdict.fields == {"shown": "Yes"} and verdict.logprobs == pytest.approx(LIKELY)


@pytest.mark.parametrize("mode", ["", "off"])
def test_the_next_run_has_the_same_log_probabilities_and_asks_nobody(
    judge_of, panel_of, word, texts, monkeypatch, mode: str
) -> None:
    monkeypatch.setenv("LMMS_TASKS_CACHE", mode)
    with JudgeServer(saying("\nYes", ("\n", "Yes"), place=1)) as server:
        first = panel_of(judge_of(server, logprobs=True)).judge(word, texts).verdicts[0]
        second = panel_of(judge_of(server, logprobs=True)).judge(word, texts).verdicts[0]
    assert server.count == 1 and second.cached and not first.cached
    assert first.logprobs == second.logprobs == pytest.approx(LIKELY)


@pytest.mark.parametrize("judge", [{"logprobs": True}, {}])
def test_without_log_probabilities_there_is_no_verdict_and_no_second_try(
    judge_of, panel_of, word, texts, judge: dict
) -> None:
    with JudgeServer("Yes") as server:
        judgement = panel_of(judge_of(server, **judge)).judge(word, texts)
    (verdict,) = judgement.verdicts
    assert server.count == 1 and not judgement.scored and judgement.fields is None
    assert (verdict.status, verdict.fields, verdict.logprobs) == ("invalid", None, None)
    assert verdict.reason == "the server returned no log-probabilities of its answer"


def test_a_server_that_refuses_the_request_for_them_ends_the_run(judge_of, panel_of, rubric, word, texts) -> None:
    words = "logprobs is not supported with this model"
    with JudgeServer(lambda body, n: refused(400, words) if "logprobs" in body else verdict_text()) as server:
        panel = panel_of(judge_of(server, logprobs=True))
        assert panel.judge(rubric, texts).scored
        with pytest.raises(SystemExit) as end:
            panel.judge(word, texts)
    assert str(end.value.code) == (
        f"judge first at {server.base_url[7:-3]} refused a question with log-probabilities, which the rubric shown asks "
        f'(400): {words}; name a model that returns log-probabilities, or set vqa = "verdict" in the profile.'
    )


def test_a_judge_that_is_not_said_to_have_them_is_found_before_the_run(judge_of, panel_of, word) -> None:
    with JudgeServer("Yes") as server, pytest.raises(SystemExit, match="logprobs = true"):
        panel_of(judge_of(server)).check([word])


def test_a_user_may_leave_the_number_of_likely_tokens_out(judge_of, panel_of, word, texts) -> None:
    with JudgeServer(Answer(saying())) as server:
        panel_of(judge_of(server, logprobs=True, omit=("top_logprobs",))).judge(word, texts)
    assert server.requests[0].body["logprobs"] is True and "top_logprobs" not in server.requests[0].body
