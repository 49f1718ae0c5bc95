"""Asking one judge: what is sent, what is tried again, when it ends."""

from __future__ import annotations

import email.utils
import itertools
import json
import time

import pytest

from lmms_tasks.utils.judge.client import LARGEST_BODY, Client
from lmms_tasks.utils.judge.profiles import Judge
from lmms_tasks.utils.judge.reply import JudgeError
from tests.judge_server import Answer, JudgeServer, completion

from .conftest import KEY, verdict_text

MESSAGES = [{"role": "user", "content": "Judge this: 白粉病."}]
BUSY = Answer({"error": {"message": "slow down"}}, 429)


def ask(judge: Judge, **more: object):
    client = Client(judge, pool=4)
    try:
        return client.ask(MESSAGES, **more)
    finally:
        client.close()


def failure(judge: Judge, **more: object) -> JudgeError:
    with pytest.raises(JudgeError) as end:
        ask(judge, **more)
    return end.value


# --- what is sent ---


def test_model_messages_sampling_limit_and_key_are_sent(judge_of) -> None:
    with JudgeServer(verdict_text()) as server:
        reply = ask(judge_of(server, temperature=0.6, max_tokens=500))
    (request,) = server.requests
    assert request.body == {"model": "judge", "messages": MESSAGES, "temperature": 0.6, "max_tokens": 500}
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert (reply.text, reply.input_tokens, reply.output_tokens) == (verdict_text(), 100, 20)


def test_a_server_without_a_key_gets_no_authorization(judge_of) -> None:
    with JudgeServer(verdict_text()) as server:
        ask(judge_of(server, api_key=""))
    assert "Authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    "changes, sent",
    [
        ({"openai": True}, {"temperature": 0.0, "max_completion_tokens": 10000}),
        ({"temperature": None}, {"max_tokens": 10000}),
        ({"omit": ("temperature",)}, {"max_tokens": 10000}),
        ({"omit": ("max_tokens",), "openai": True}, {"temperature": 0.0}),
        (
            {"extra": {"top_p": 0.9, "n_best": [1]}},
            {"temperature": 0.0, "max_tokens": 10000, "top_p": 0.9, "n_best": [1]},
        ),
    ],
)
def test_the_profile_decides_which_parameters_are_sent(judge_of, changes: dict, sent: dict) -> None:
    with JudgeServer(verdict_text()) as server:
        ask(judge_of(server, **changes))
    body = dict(server.requests[0].body)
    assert (body.pop("model"), body.pop("messages")) == ("judge", MESSAGES)
    assert body == sent


# --- what is tried again ---


@pytest.mark.parametrize(
    "trouble",
    [
        *(Answer({"error": {"message": "later"}}, status) for status in (408, 409, 429, 500, 502, 503, 504, 529)),
        Answer(drop=True),
        Answer(completion(verdict_text()), cut=40),
        Answer(b"<html>starting</html>"),
        Answer({"error": {"code": 502, "message": "Provider returned error"}}),
    ],
    ids=lambda answer: f"{answer.status}{' dropped' * answer.drop}{' cut' * (answer.cut is not None)}",
)
def test_what_can_pass_is_tried_again(judge_of, trouble: Answer) -> None:
    with JudgeServer(lambda body, n: trouble if n < 2 else verdict_text()) as server:
        assert ask(judge_of(server)).text == verdict_text()
    assert server.count == 3


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422])
def test_what_cannot_pass_ends_at_once_with_the_endpoints_words(judge_of, status: int) -> None:
    with JudgeServer(Answer({"error": {"message": "The model `judge` is not here"}}, status)) as server:
        error = failure(judge_of(server))
    assert (error.status, error.words, error.passing) == (status, "The model `judge` is not here", False)
    assert server.count == 1


def test_an_empty_account_is_no_haste(judge_of) -> None:
    """OpenAI says 429 for both; `insufficient_quota` passes with no pause."""
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    with JudgeServer(Answer(body, 429)) as server:
        assert not failure(judge_of(server)).passing
    assert server.count == 1


def test_tries_are_bounded(judge_of) -> None:
    with JudgeServer(BUSY) as server:
        error = failure(judge_of(server, tries=4))
    assert server.count == 4 and str(error) == "429: slow down"


def test_the_number_of_tries_is_looked_up_after_each(judge_of) -> None:
    left = iter([6, 6, 1])
    with JudgeServer(BUSY) as server:
        failure(judge_of(server), tries=lambda: next(left))
    assert server.count == 3


def test_nobody_listening_is_a_connection_error_without_the_key(judge_of) -> None:
    with JudgeServer("") as server:
        judge = judge_of(server, tries=2)
    error = failure(judge)
    assert error.kind == "connection" and error.outage and KEY not in str(error)


def test_pauses_double(judge_of) -> None:
    with JudgeServer(BUSY) as server:
        failure(judge_of(server, tries=4, retry_delay=0.1))
    times = [request.time for request in server.requests]
    pauses = [after - before for before, after in itertools.pairwise(times)]
    # 0.1, 0.2, 0.4 s, each spread by half; the upper bounds leave room for a busy machine.
    assert all(low <= pause <= 3 * low + 0.5 for pause, low in zip(pauses, (0.05, 0.1, 0.2), strict=True))


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured_as_seconds(judge_of, status: int) -> None:
    wait = Answer({"error": {"message": "later"}}, status, {"Retry-After": "0.6"})
    with JudgeServer(lambda body, n: wait if n == 0 else verdict_text()) as server:
        ask(judge_of(server))
    first, second = server.requests
    assert 0.6 <= second.time - first.time < 2


def test_retry_after_is_honoured_as_a_date(judge_of) -> None:
    def script(body: dict, n: int):
        # Whole seconds only: a date 2 s ahead is between 1 and 2 s away.
        date = email.utils.formatdate(time.time() + 2, usegmt=True)
        return Answer({"error": {"message": "later"}}, 429, {"Retry-After": date}) if n == 0 else verdict_text()

    with JudgeServer(script) as server:
        ask(judge_of(server))
    first, second = server.requests
    assert 0.9 <= second.time - first.time < 3


@pytest.mark.parametrize("value", ["soon", "-5", "", "Wed, 99 Foo"])
def test_a_retry_after_of_no_sense_is_no_pause_of_its_own(judge_of, value: str) -> None:
    wait = Answer({"error": {"message": "later"}}, 429, {"Retry-After": value})
    with JudgeServer(lambda body, n: wait if n == 0 else verdict_text()) as server:
        assert ask(judge_of(server)).text == verdict_text()


def test_no_pause_is_longer_than_the_time_out(judge_of) -> None:
    wait = Answer({"error": {"message": "later"}}, 429, {"Retry-After": "86400"})
    began = time.monotonic()
    with JudgeServer(lambda body, n: wait if n == 0 else verdict_text()) as server:
        ask(judge_of(server, timeout=0.3))
    assert time.monotonic() - began < 2


# --- when it ends ---


def test_a_server_that_takes_a_request_and_never_answers_ends_at_the_time_out(judge_of) -> None:
    began = time.monotonic()
    with JudgeServer(Answer(verdict_text(), latency=5)) as server:
        error = failure(judge_of(server, timeout=0.3, tries=1))
    assert error.kind == "timeout" and time.monotonic() - began < 1.5


def test_a_slow_drip_ends_at_the_time_out(judge_of) -> None:
    """A byte each 50 ms resets every read's own time-out; the whole body would take 20 s."""
    began = time.monotonic()
    with JudgeServer(Answer(verdict_text(), drip=0.05)) as server:
        error = failure(judge_of(server, timeout=0.4, tries=1))
    assert error.kind == "timeout" and 0.4 <= time.monotonic() - began < 1.5


def test_silence_in_the_middle_of_a_body_ends_at_the_time_out(judge_of) -> None:
    """The second byte comes after 1 s, which would start a new read of 1.2 s; the third after 2 s."""
    began = time.monotonic()
    with JudgeServer(Answer(verdict_text(), drip=1.0)) as server:
        failure(judge_of(server, timeout=1.2, tries=1))
    assert time.monotonic() - began < 1.8


def test_a_time_out_is_tried_again_but_not_often(judge_of) -> None:
    with JudgeServer(Answer(verdict_text(), latency=2)) as server:
        failure(judge_of(server, timeout=0.1, tries=6))
    assert server.count == 3


def test_a_body_without_end_is_cut_off_and_not_asked_for_again(judge_of) -> None:
    with JudgeServer(Answer(b" " * (LARGEST_BODY + 1))) as server:
        error = failure(judge_of(server))
    assert error.kind == "oversized" and server.count == 1


def test_a_redirect_is_not_followed(judge_of) -> None:
    """The key and the farmer's question would go to a host that the user did not name."""
    with (
        JudgeServer(verdict_text()) as other,
        JudgeServer(Answer(b"", 307, {"Location": other.base_url + "/chat/completions"})) as server,
    ):
        error = failure(judge_of(server))
    assert error.status == 307 and not error.passing and other.count == 0


def test_connections_are_kept_for_the_next_request(judge_of) -> None:
    with JudgeServer(verdict_text()) as server:
        client = Client(judge_of(server), pool=2)
        for _ in range(3):
            client.ask(MESSAGES)
        client.close()
    assert (server.count, server.connections) == (3, 1)


# --- the key ---


@pytest.mark.parametrize("status", [401, 400, 500])
def test_a_key_that_the_endpoint_repeats_is_in_no_error(judge_of, status: int) -> None:
    with JudgeServer(Answer({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status)) as server:
        error = failure(judge_of(server, tries=1))
    assert KEY not in str(error) + repr(error) + error.words
    assert error.words == "Incorrect API key provided: ***"


# --- models ---


def test_the_models_are_listed(judge_of) -> None:
    with JudgeServer("", models=["a", "b"]) as server:
        assert Client(judge_of(server), pool=1).models() == ["a", "b"]


@pytest.mark.parametrize("body", [{}, {"data": None}, {"data": [{"name": "x"}]}, [], "x", None])
def test_a_list_of_another_form_tells_nothing(judge_of, body: object) -> None:
    with JudgeServer("", models=Answer(json.dumps(body).encode())) as server:
        assert Client(judge_of(server), pool=1).models() is None


def test_proxies_of_the_environment_are_used(judge_of, monkeypatch: pytest.MonkeyPatch) -> None:
    """As every HTTP program does: a proxy gets the whole address in the request line."""
    with JudgeServer(verdict_text()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert ask(judge_of("http://judge.invalid/v1")).text == verdict_text()
    assert proxy.requests[0].path == "http://judge.invalid/v1/chat/completions"
