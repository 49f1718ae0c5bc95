"""One judge of a panel during a run: its calls, what it answered, whether it is still there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from loguru import logger

from lmms_tasks.utils.judge.cache import Cache, StoredReply, cache_key
from lmms_tasks.utils.judge.client import Client
from lmms_tasks.utils.judge.images import shows_images
from lmms_tasks.utils.judge.json_object import InvalidReply
from lmms_tasks.utils.judge.limits import Budget, BudgetSpent, ConcurrencyLimit, Workers, rank_share, report_usage
from lmms_tasks.utils.judge.preflight import check_endpoint, looks, red_square
from lmms_tasks.utils.judge.profiles import Judge
from lmms_tasks.utils.judge.refusal import CLOSING, Need, Refused, sentence
from lmms_tasks.utils.judge.reply import JudgeError, Reply
from lmms_tasks.utils.judge.rubric import Rubric
from lmms_tasks.utils.judge.verdict import Verdict

# An invalid reply is asked again so often, a truncated one once, with a token limit so many times larger.
REPEATS = 2
LARGER = 2
# After so many calls in a row whose retries all ran out, the endpoint counts as gone: later calls try once each.
OUTAGES = 5


class Session:
    """One judge's side of a panel.

    `refuse` is told the sentence that ends the run, once the endpoint refuses what the judge has asked first.
    """

    def __init__(self, judge: Judge, cache: Cache, budget: Budget, refuse: Callable[[str], None]):
        self.judge = judge
        self.concurrency = rank_share(judge.concurrency)
        self._endpoint = judge.endpoint
        self.host = self._endpoint.host
        self.calls = 0  # requests that were answered
        self.cached = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.models: list[str] = []  # names that the server returned, in the order of their first appearance
        self._cache = cache
        self._budget = budget
        self._refuse = refuse
        self._stopping = threading.Event()
        self._client = Client(judge, self.concurrency, self._stopping)
        self._limit = ConcurrencyLimit(self.concurrency)
        self._workers = Workers(self.concurrency, f"judge-{judge.name}")
        self._lock = threading.Lock()
        self._announced = False
        self._answered = False
        self._proved: set[Need] = set()  # what a question may need and a reply has shown that the judge can do
        self._closed: str | None = None
        self._outages = 0
        self._hangs = False
        self._probe = threading.Lock()

    def submit(self, rubric: Rubric, messages: Sequence[Mapping[str, Any]], generation: int) -> Future[Verdict]:
        """Ask for one verdict; the future has it, or raises Refused."""
        return self._workers.submit(lambda: self.verdict(rubric, messages, generation))

    def verdict(self, rubric: Rubric, messages: Sequence[Mapping[str, Any]], generation: int) -> Verdict:
        """One verdict, from the cache or from the judge. Every trouble of an endpoint that worked once is a verdict
        without fields; raises Refused if the endpoint refuses from the start."""
        key = self.key(rubric, messages, generation)
        with self._cache.flight(key) as (future, leads):
            if leads:
                verdict = self._stored(rubric, generation, key) or self._ask(rubric, messages, generation, key)
                future.set_result(verdict)
                return verdict
        return future.result().shared(self.judge.name)

    def key(self, rubric: Rubric, messages: Sequence[Mapping[str, Any]], generation: int) -> str:
        """Where the cache has the reply to this question."""
        parameters = self._client.parameters(logprobs=self._wants_logprobs(rubric))
        return cache_key(self.judge.model, self._endpoint.label, messages, parameters, rubric, generation)

    def has_reply(self, key: str) -> bool:
        """Whether the cache answers, so that nobody is asked."""
        return key in self._cache

    def announce(self, calls: int, cached: int, tokens: int, images: int) -> None:
        """One line before the first call: what will be asked, what it is likely to cost, where the text goes."""
        with self._lock:
            self._announced = True
        shown = f" with {images:,} images" if images else ""
        logger.info(
            f"Judge {self.judge.name}: model {self.judge.model} at {self.host}, {calls:,} calls to make and {cached:,} "
            f"answered by the cache, about {tokens:,} tokens of prompts{shown}, {self.concurrency} calls at the same time; the "
            f"text of questions and answers leaves this machine for {self.host}{', and so do the images' if images else ''}."
        )

    def probe(self) -> dict[str, Any]:
        """One tiny call that is neither cached nor counted: `model` and `text` as returned, or `error` in its words."""
        told = {"judge": self.judge.name, "host": self.host, "asked": self.judge.model}
        nothing = {"model": None, "text": "", "error": None}
        try:
            reply = self._client.ask([{"role": "user", "content": "Say: ready."}], token_limit=16, tries=lambda: 1)
            return told | nothing | {"model": reply.model, "text": reply.text}
        except JudgeError as error:
            return told | nothing | {"error": str(error)}

    def abort(self, error: BaseException) -> None:
        """Stop: whoever waits for a verdict gets this error."""
        self._stopping.set()
        self._workers.abort(error)

    def reopen(self) -> None:
        """Forget earlier troubles: a new evaluation of the same process tries anew."""
        self._stopping.clear()
        with self._lock:
            self._closed, self._outages = None, 0

    def close(self) -> None:
        """End threads and connections."""
        self._stopping.set()
        self._workers.close()
        self._client.close()

    def check(self) -> None:
        """See that the endpoint is there and takes the key; SystemExit with a sentence if not."""
        check_endpoint(self._client)

    def look(self, rubrics: Iterable[Rubric]) -> None:
        """See that the judge can do what these rubrics need beyond text: one small call for each thing, once and for all
        if it succeeds. SystemExit with a sentence if the judge refuses."""
        for rubric in looks(one for one in rubrics if self.judge.is_asked(one.name)):
            messages = rubric.messages({}, [red_square()])
            key = self.key(rubric, messages, 0)
            if not self.has_reply(key):
                try:
                    reply = self._call(rubric, messages, None)
                except Refused as error:
                    raise SystemExit(str(error)) from None
                except (JudgeError, BudgetSpent, _Closed) as error:
                    logger.warning(f"The judge {self.judge.name} at {self.host} did not look at an image ({error}).")
                    continue
                if rubric.form == "word" and reply.logprobs is None:
                    logger.warning(
                        f"The judge {self.judge.name} at {self.host} returned no log-probabilities, so what "
                        f'{rubric.name} asks stays unscored: name another model, or set vqa = "verdict" in the profile.'
                    )
                    continue
                stored = StoredReply(reply.text, reply.model, reply.input_tokens, reply.output_tokens)
                self._cache.put(key, stored, reply.raw, self.judge.name, 0)
            self._proved |= self._needs(rubric, messages)

    def _stored(self, rubric: Rubric, generation: int, key: str) -> Verdict | None:
        stored = self._cache.get(key)
        if stored is None:
            return None
        try:
            fields = rubric.scores(rubric.parse(stored.text))
        except InvalidReply:
            return None  # damaged on disk: asked again
        if rubric.form == "word" and stored.logprobs is None:
            return None
        with self._lock:
            self.cached += 1
        self._note_model(stored.model)
        tokens = (stored.input_tokens, stored.output_tokens)
        return self._verdict("valid", None, generation, key, fields, stored.model, tokens, True, stored.logprobs)

    def _ask(self, rubric: Rubric, messages: Sequence[Mapping[str, Any]], generation: int, key: str) -> Verdict:
        """Ask until a reply is valid, or as often as an unusable reply is worth."""
        repeats, token_limit, tokens = REPEATS, None, (0, 0)
        while True:
            try:
                reply = self._call(rubric, messages, token_limit)
            except BudgetSpent as error:
                return self._verdict("budget", str(error), generation, key, tokens=tokens)
            except _Closed as error:
                return self._verdict("closed", str(error), generation, key, tokens=tokens)
            except JudgeError as error:
                self._cache.record_attempt(key, "failed", str(error), None)
                return self._verdict("failed", f"{self.host}: {error}", generation, key, tokens=tokens)
            tokens = (tokens[0] + reply.input_tokens, tokens[1] + reply.output_tokens)
            try:
                if reply.trouble:
                    raise InvalidReply(reply.trouble)
                fields = rubric.scores(rubric.parse(reply.text))
            except InvalidReply as error:
                status = "truncated" if reply.truncated else "invalid"
                self._cache.record_attempt(key, status, error.reason, reply.raw)
                if reply.truncated and token_limit is None and self._is_limited():
                    token_limit = LARGER * self.judge.max_tokens
                    continue
                if not reply.truncated and repeats:
                    repeats -= 1
                    continue
                return self._verdict(status, error.reason, generation, key, None, reply.model, tokens)
            logprobs = reply.logprobs if rubric.form == "word" else None
            if rubric.form == "word" and logprobs is None:
                # A server that has none has none the next time: a strict verdict in their place would mix two scales.
                reason = "the server returned no log-probabilities of its answer"
                self._cache.record_attempt(key, "invalid", reason, reply.raw)
                return self._verdict("invalid", reason, generation, key, None, reply.model, tokens)
            stored = StoredReply(reply.text, reply.model, *tokens, logprobs)
            self._cache.put(key, stored, reply.raw, self.judge.name, generation)
            return self._verdict("valid", None, generation, key, fields, reply.model, tokens, logprobs=logprobs)

    def _needs(self, rubric: Rubric, messages: Sequence[Mapping[str, Any]]) -> set[Need]:
        needs: set[Need] = {"images"} if shows_images(messages) else set()
        return needs | ({"logprobs"} if self._wants_logprobs(rubric) else set())

    def _wants_logprobs(self, rubric: Rubric) -> bool:
        return rubric.form == "word" and self.judge.logprobs

    def _call(self, rubric: Rubric, messages: Sequence[Mapping[str, Any]], token_limit: int | None) -> Reply:
        """One reply, with all that follows from it or from its failure."""
        needs = self._needs(rubric, messages)
        probing = self._may_call()
        try:
            reply = self._client.ask(messages, token_limit, self._tries, self._one_try, "logprobs" in needs)
        except JudgeError as error:
            self._note_failure(error, rubric.name, needs)
            raise
        finally:
            if probing:
                self._probe.release()
        self._limit.recover()
        self._note_reply(reply)
        self._proved |= needs
        return reply

    @contextmanager
    def _one_try(self) -> Iterator[None]:
        """A place under the concurrency limit for one request. A call that pauses holds none: the calls that were
        refused together would otherwise come back together, however low the limit."""
        with self._limit.slot() as seen:
            if self._stopping.is_set():
                raise _Closed("the run is stopping")
            self._budget.take()
            self._announce()
            try:
                yield
            except JudgeError as error:
                if error.status == 429:
                    self._limit.halve(seen, min(error.retry_after or 0.0, self.judge.timeout))
                raise

    def _may_call(self) -> bool:
        """Raise where no call is made; True if this call is the one that looks whether a silent endpoint is back."""
        with self._lock:
            if self._closed:
                raise _Closed(self._closed)
            silent = self._outages >= OUTAGES and self._hangs
        if not silent:
            return False
        # A server that takes requests and never answers costs a whole time-out each: one call waits for all.
        if not self._probe.acquire(blocking=False):
            raise JudgeError("timeout", f"{self.host} has stopped answering")
        return True

    def _tries(self) -> int:
        with self._lock:
            return 1 if self._outages >= OUTAGES else self.judge.tries

    def _announce(self) -> None:
        with self._lock:
            told, self._announced = self._announced, True
        if not told:
            logger.info(
                f"Judge {self.judge.name}: model {self.judge.model} at {self.host}, {self.judge.generations} "
                f"generation(s), {self.concurrency} calls at the same time; the text of questions and answers leaves "
                f"this machine for {self.host}."
            )

    def _note_reply(self, reply: Reply) -> None:
        with self._lock:
            self._answered = True
            self._outages = 0
            self.calls += 1
            self.input_tokens += reply.input_tokens
            self.output_tokens += reply.output_tokens
        self._budget.spend(reply.input_tokens + reply.output_tokens)
        self._note_model(reply.model)
        report_usage(self.judge.model, reply.input_tokens, reply.output_tokens, reply.reasoning_tokens)

    def _note_model(self, model: str) -> None:
        with self._lock:
            changed = bool(model and self.models and model not in self.models)
            first_change = changed and len(self.models) == 1
            if model and model not in self.models:
                self.models.append(model)
        if first_change:
            logger.warning(
                f"The judge {self.judge.name} at {self.host} now says that it is {model}, and was {self.models[0]} "
                "before: the run's verdicts come from more than one model."
            )

    def _note_failure(self, error: JudgeError, rubric: str, needs: Collection[Need]) -> None:
        """Take the consequences of a failed call; raises Refused where the judge has never worked, or has never
        answered a question that needs what this one needs."""
        refused = error.kind == "status" and not error.passing
        with self._lock:
            if error.outage:
                self._outages += 1
                self._hangs = error.kind == "timeout"
                gone = self._outages == OUTAGES
            else:
                gone = False
            first = not self._answered
            closes = refused and not first and error.status in CLOSING and self._closed is None
            if closes:
                self._closed = f"the judge takes no more calls ({error})"
        if gone:
            logger.warning(
                f"The judge {self.judge.name} at {self.host} has failed {OUTAGES} calls in a row ({error}): further "
                "calls are tried once each until one succeeds; what stays unscored can be judged later with "
                "`lmms-tasks score`."
            )
        if closes:
            logger.warning(f"The judge {self.judge.name} at {self.host} takes no more calls ({error}).")
        unproved = set(needs) - self._proved if error.status not in CLOSING else set()
        if refused and (first or unproved):
            told = sentence(self.judge, self.host, error, unproved, rubric, first)
            self._refuse(told)
            raise Refused(told) from None

    def _is_limited(self) -> bool:
        return bool({"max_tokens", "max_completion_tokens"} & set(self._client.parameters()))

    def _verdict(
        self,
        status: Any,
        reason: str | None,
        generation: int,
        key: str,
        fields: Mapping[str, float | str] | None = None,
        model: str = "",
        tokens: tuple[int, int] = (0, 0),
        cached: bool = False,
        logprobs: Mapping[str, float] | None = None,
    ) -> Verdict:
        return Verdict(fields, status, reason, self.judge.name, generation, model, *tokens, key, cached, logprobs)


class _Closed(Exception):
    """The judge makes no calls any more; the message says why."""
