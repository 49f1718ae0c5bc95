"""Asking one judge over HTTP: one deadline a request, retries for what can pass, the endpoint's own words for the rest."""

from __future__ import annotations

import contextlib
import email.utils
import functools
import json
import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import httpx
import tenacity

from lmms_tasks.utils.judge.deadlines import deadlines
from lmms_tasks.utils.judge.profiles import Judge
from lmms_tasks.utils.judge.reply import JudgeError, Reply, credit_is_spent, read_reply, words_of

_CHAT, _MODELS = "/chat/completions", "/models"
LARGEST_BODY = 16 * 2**20  # bytes; a verdict has a few thousand
LONGEST_PAUSE = 60.0  # seconds between tries where the endpoint asks for none
CONNECT = 15.0  # seconds: who has not accepted by then is not there
# A request that ran into its deadline cost the whole deadline: so many tries, however many others may have.
TRIES_AFTER_TIMEOUT = 3
MODELS_TIMEOUT = 10.0
TOP_LOGPROBS = 5  # tokens whose log-probabilities come with an answer of one word, as in the official code of MMDR


class Client:
    """Thread-safe client of one judge's endpoint.

    `pool` is the most requests at the same time. `stopping` ends pauses between tries early; then the last error counts.
    """

    def __init__(self, judge: Judge, pool: int, stopping: threading.Event | None = None):
        self.judge = judge
        self.endpoint = judge.endpoint
        self._addresses = {path: self.endpoint.address(path) for path in (_CHAT, _MODELS)}
        self._stopping = stopping or threading.Event()
        limits = httpx.Limits(max_connections=pool, max_keepalive_connections=pool)
        # No mapping with the key in it: loguru writes the values of a failing line's names into its tracebacks.
        headers = httpx.Headers({"User-Agent": "lmms-tasks"} | self.endpoint.headers)
        try:
            self._http = httpx.Client(limits=limits, headers=headers, verify=_certificates())
        except (ValueError, ImportError, OSError, httpx.InvalidURL) as error:
            raise SystemExit(
                f"The judge {judge.name} cannot be asked ({error}): correct the proxy (HTTP_PROXY, HTTPS_PROXY, "
                "ALL_PROXY) or the certificates (SSL_CERT_FILE, SSL_CERT_DIR) that the environment names."
            ) from None

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def parameters(self, token_limit: int | None = None, logprobs: bool = False) -> dict[str, Any]:
        """What is sent beside model and messages: sampling, the token limit under its name, the request for
        log-probabilities, `extra`, less `omit`."""
        judge = self.judge
        parameters: dict[str, Any] = {}
        if judge.temperature is not None:
            parameters["temperature"] = judge.temperature
        parameters["max_completion_tokens" if judge.openai else "max_tokens"] = token_limit or judge.max_tokens
        if logprobs:
            parameters |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        parameters |= judge.extra
        # Either name of the limit omits it: which one is sent depends on the endpoint.
        omitted = set(judge.omit)
        omitted |= (
            {"max_tokens", "max_completion_tokens"} if omitted & {"max_tokens", "max_completion_tokens"} else set()
        )
        return {name: value for name, value in parameters.items() if name not in omitted}

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        token_limit: int | None = None,
        tries: Callable[[], int] | None = None,
        each_try: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext,
        logprobs: bool = False,
    ) -> Reply:
        """One reply.

        Args:
            messages: OpenAI chat messages.
            token_limit: in place of the judge's own.
            tries: the most requests, asked again after each one; the judge's own number by default.
            each_try: entered around each request, not around the pauses between; what it raises ends the call.
            logprobs: ask for log-probabilities too.

        Raises JudgeError once no further try may help.
        """
        body = {"model": self.judge.model, "messages": list(messages), **self.parameters(token_limit, logprobs)}
        content = json.dumps(body, ensure_ascii=False).encode("utf-8")
        for attempt in tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, JudgeError) and error.passing),
            stop=lambda state: self._stop(state, tries),
            wait=self._pause,
            sleep=self._stopping.wait,
            reraise=True,
        ):
            with attempt, each_try():
                return self._post(content)
        raise AssertionError("unreachable: the last error is raised")

    def models(self) -> list[str] | None:
        """Names of the models that the endpoint serves; None where it does not say. Raises JudgeError."""
        deadline = min(MODELS_TIMEOUT, self.judge.timeout)
        body = self._exchange("GET", _MODELS, None, deadline)
        try:
            served = json.loads(body).get("data")
            return [model["id"] for model in served if isinstance(model.get("id"), str)] or None
        except (ValueError, AttributeError, TypeError, KeyError):
            return None  # an answer of another form tells nothing about the models

    def _stop(self, state: tenacity.RetryCallState, tries: Callable[[], int] | None) -> bool:
        error = state.outcome.exception() if state.outcome else None
        most = tries() if tries else self.judge.tries
        if isinstance(error, JudgeError) and error.kind == "timeout":
            most = min(most, TRIES_AFTER_TIMEOUT)
        return state.attempt_number >= most or self._stopping.is_set()

    def _pause(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next try: what the endpoint asked for, else doubling pauses, spread by half."""
        error = state.outcome.exception() if state.outcome else None
        asked = getattr(error, "retry_after", None)
        if asked is not None:
            # A little later than asked, and not all at the same moment; never longer than a request may take.
            return min(asked, self.judge.timeout) + random.uniform(0, 0.25) * self.judge.retry_delay
        pause = min(self.judge.retry_delay * 2 ** (state.attempt_number - 1), LONGEST_PAUSE)
        return pause * random.uniform(0.5, 1.5)

    def _post(self, content: bytes) -> Reply:
        body = self._exchange("POST", _CHAT, content, self.judge.timeout)
        try:
            return read_reply(body)
        except JudgeError as error:
            raise JudgeError(error.kind, self.endpoint.redact(error.words), error.status) from None

    def _exchange(self, method: str, path: str, content: bytes | None, seconds: float) -> bytes:
        """The body of a successful response that is whole within `seconds`; JudgeError for everything else."""
        deadline = time.monotonic() + seconds
        timeout = httpx.Timeout(seconds, connect=min(CONNECT, seconds))
        headers = {"Content-Type": "application/json"} if content is not None else {}
        request = self._http.build_request(
            method, self._addresses[path], content=content, headers=headers, timeout=timeout
        )
        try:
            response = self._http.send(request, stream=True)
            with contextlib.closing(response), _cut_off(response, deadline):
                # A server may repeat a key anywhere, and what it says is stored.
                body = self.endpoint.conceal(_read(response, deadline, seconds))
        except httpx.ConnectTimeout:
            raise JudgeError("connection", f"{self.endpoint.host} does not answer") from None
        except httpx.TimeoutException:
            raise JudgeError("timeout", f"no complete reply within {seconds:g} s") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            if time.monotonic() >= deadline:
                raise JudgeError("timeout", f"no complete reply within {seconds:g} s") from None
            words = self.endpoint.redact(str(error) or type(error).__name__)
            raise JudgeError("connection", words) from None
        if response.is_success:
            return body
        words = self.endpoint.redact(words_of(body))
        if response.is_redirect:
            # Followed, the question and the key would go to a host that the user did not name.
            words = "the address redirects elsewhere; give the final one"
        pause = _retry_after(response.headers.get("retry-after"))
        spent = response.status_code == 429 and credit_is_spent(body)
        raise JudgeError("status", words, response.status_code, pause, final=spent)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The trusted certificates, read once a process: that takes longer than many a reply of a small judge."""
    return httpx.create_ssl_context()


def _cut_off(response: httpx.Response, deadline: float) -> AbstractContextManager[None]:
    """Shut the response's connection at the deadline: a read timeout starts anew with each byte that drips in."""
    stream = response.extensions.get("network_stream")
    connection = stream.get_extra_info("socket") if stream is not None else None
    return deadlines.at(deadline, functools.partial(_shut, connection))


def _shut(connection: socket.socket | None) -> None:
    if connection is not None:
        with contextlib.suppress(OSError):  # closed meanwhile
            connection.shutdown(socket.SHUT_RDWR)


def _read(response: httpx.Response, deadline: float, seconds: float) -> bytes:
    """The whole body, within the deadline and the largest size."""
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if time.monotonic() > deadline:
            raise JudgeError("timeout", f"no complete reply within {seconds:g} s")
        if len(body) > LARGEST_BODY:
            raise JudgeError("oversized", f"the reply is larger than {LARGEST_BODY // 2**20} MiB")
    if time.monotonic() > deadline:
        raise JudgeError("timeout", f"no complete reply within {seconds:g} s")
    return bytes(body)


def _retry_after(value: str | None) -> float | None:
    """Seconds that a `Retry-After` header asks to wait: a number or an HTTP date (RFC 9110, 10.2.3)."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, moment.timestamp() - time.time())
