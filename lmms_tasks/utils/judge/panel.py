"""The panel: all judges of a use, asked side by side, and their verdicts brought to one judgement a row."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loguru import logger

from lmms_tasks.utils.home import home
from lmms_tasks.utils.judge.cache import MODE, Cache, shared_cache
from lmms_tasks.utils.judge.limits import Budget, rank_share
from lmms_tasks.utils.judge.offline import offline_verdict
from lmms_tasks.utils.judge.profiles import Profile, resolve
from lmms_tasks.utils.judge.rubric import Rubric
from lmms_tasks.utils.judge.session import Refused, Session
from lmms_tasks.utils.judge.verdict import Judgement, reduce


class Panel:
    """The judges of one profile. Thread-safe: each row's thread calls `judge` and waits for its own row.

    `cache` is the process's shared one unless given; the offline stand-in uses none.
    """

    def __init__(self, profile: Profile, cache: Cache | None = None):
        self.profile = profile
        self._refusal: str | None = None
        self._rubrics: dict[str, Rubric] = {}
        self._lock = threading.Lock()
        self._sessions: list[Session] = []
        self._plan: Plan | None = None
        self._interrupted = False
        if not profile.offline:
            budget = Budget(_share(profile.max_calls), _share(profile.max_tokens))
            cache = cache or shared_cache()
            self._sessions = [Session(judge, cache, budget, self._refuse) for judge in profile.judges]

    @property
    def judgements_per_sample(self) -> float:
        """Judges times generations; 0.0 for the lexical stand-in."""
        return float(sum(session.judge.generations for session in self._sessions))

    @property
    def concurrency(self) -> int:
        """The most rows that are worth judging at the same time: the largest of this rank's shares."""
        return max((session.concurrency for session in self._sessions), default=1)

    def judge(self, rubric: Rubric, texts: Mapping[str, str], images: Iterable[Any] = ()) -> Judgement:
        """Judge one row: every judge, every generation, at the same time.

        Args:
            rubric: what is asked; the profile's own text for it is used where there is one.
            texts: what the rubric shows, by name.
            images: PIL images, bytes or paths, for judges that see.

        A judge that fails is a verdict without fields, never an exception; SystemExit only where a judge refuses from
        the start, so that no call of it can succeed.
        """
        rubric = self.rubric(rubric)
        if self.profile.offline:
            return reduce([offline_verdict(rubric, texts)], rubric.numeric)
        if self._refusal:
            raise SystemExit(self._refusal)
        if self._interrupted:
            raise KeyboardInterrupt
        messages = rubric.messages(texts, images)
        if self._plan is not None:
            self._plan.add(rubric, messages)
            return Judgement((), False, None, "planned, not judged")
        futures = [
            session.submit(rubric, messages, generation)
            for session in self._sessions
            for generation in range(session.judge.generations)
        ]
        if self._refusal:
            # Refused between the look above and the calls: those would wait for an answer that nobody seeks.
            self._abort(self._refusal)
        if self._interrupted:
            self.interrupt()
        try:
            return reduce([future.result() for future in futures], rubric.numeric)
        except Refused as error:
            raise SystemExit(str(error)) from None

    def rubric(self, rubric: Rubric) -> Rubric:
        """`rubric`, or the profile's own text for it (`rubric_file`). SystemExit if that text cannot serve."""
        file = self.profile.rubric_files.get(rubric.name)
        if file is None:
            return rubric
        with self._lock:
            if rubric.hash not in self._rubrics:
                try:
                    text = Path(file).read_text(encoding="utf-8")
                except (OSError, UnicodeDecodeError) as error:
                    raise SystemExit(f"The rubric file {file} cannot be read ({error}): correct it.") from None
                self._rubrics[rubric.hash] = rubric.with_template(text)
            return self._rubrics[rubric.hash]

    def check(self, rubrics: Iterable[Rubric] = ()) -> None:
        """See, before the model is created, that the judges can be asked: endpoints, keys, the user's rubric files.

        SystemExit with one sentence if not. A panel that was refused earlier starts anew.
        """
        names = {self.rubric(rubric).name for rubric in rubrics}
        unused = sorted(set(self.profile.rubric_files) - names) if names else []
        if unused:
            logger.warning(
                f"The judge profile {self.profile.name} has a rubric_file for {', '.join(unused)}, which "
                f"{self.profile.use} does not use here; it uses {', '.join(sorted(names))}."
            )
        seen = set()
        with self._lock:
            self._refusal, self._interrupted = None, False
        for session in self._sessions:
            place = (session.judge.base_url, session.judge.api_key, session.judge.model)
            if place not in seen:
                seen.add(place)
                session.check()
            session.reopen()

    @contextmanager
    def planning(self) -> Iterator[Plan]:
        """While the block lasts, `judge` asks nobody and scores nothing, but notes in the plan what it would ask."""
        self._plan = Plan(self._sessions)
        try:
            yield self._plan
        finally:
            self._plan = None

    def probe(self) -> list[dict[str, Any]]:
        """One tiny live call to each judge: the model that answered, or the endpoint's own words of refusal."""
        return [session.probe() for session in self._sessions]

    def interrupt(self) -> None:
        """The user stops the run: every waiting row ends with KeyboardInterrupt, and no further call is made.

        Replies that have arrived are stored; requests under way are left alone.
        """
        self._interrupted = True
        for session in self._sessions:
            session.abort(KeyboardInterrupt())

    def summary(self) -> list[dict[str, Any]]:
        """Each judge with what it did in this process, for the run's manifest; no key, no text."""
        return [
            {
                "judge": session.judge.name,
                "model": session.judge.model,
                "models_returned": list(session.models),
                "host": session.host,
                "temperature": session.judge.temperature,
                "generations": session.judge.generations,
                "token_limit": session.judge.max_tokens,
                "calls": session.calls,
                "cached": session.cached,
                "input_tokens": session.input_tokens,
                "output_tokens": session.output_tokens,
            }
            for session in self._sessions
        ]

    def close(self) -> None:
        """End the panel's threads and connections."""
        for session in self._sessions:
            session.close()

    def _refuse(self, sentence: str) -> None:
        """A judge refuses from the start: no row can be judged, so every waiting row ends with its sentence."""
        with self._lock:
            self._refusal = self._refusal or sentence
            sentence = self._refusal
        self._abort(sentence)

    def _abort(self, sentence: str) -> None:
        for session in self._sessions:
            session.abort(Refused(sentence))


class Plan:
    """What a panel will be asked: the distinct questions of each judge, and which of them the cache answers."""

    def __init__(self, sessions: Sequence[Session]):
        self._sessions = sessions
        self._tokens: list[dict[str, int]] = [{} for _ in sessions]
        self._lock = threading.Lock()

    def add(self, rubric: Rubric, messages: Sequence[Mapping[str, Any]]) -> None:
        """Count one row's questions. A token is taken for four characters of the prompt's text."""
        tokens = sum(len(text) for message in messages for text in _texts(message)) // 4
        for session, known in zip(self._sessions, self._tokens, strict=True):
            for generation in range(session.judge.generations):
                key = session.key(rubric, messages, generation)
                with self._lock:
                    known[key] = tokens

    def announce(self) -> None:
        """Log each judge's line, before the first call."""
        for session, cost in zip(self._sessions, self.costs(), strict=True):
            session.announce(cost["calls"], cost["cached"], cost["prompt_tokens"])

    def costs(self) -> list[dict[str, Any]]:
        """For each judge the calls that are to be made, those that the cache answers, and what the calls cost.

        `dollars` is that of the prompts at the profile's price, None without one; replies come on top.
        """
        costs = []
        for session, known in zip(self._sessions, self._tokens, strict=True):
            missing = [tokens for key, tokens in known.items() if not session.has_reply(key)]
            price = session.judge.price.get("input")
            costs.append(
                {
                    "judge": session.judge.name,
                    "calls": len(missing),
                    "cached": len(known) - len(missing),
                    "prompt_tokens": sum(missing),
                    "dollars": None if price is None else sum(missing) * price / 1e6,
                }
            )
        return costs


def _texts(message: Mapping[str, Any]) -> list[str]:
    content = message["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content if part.get("type") == "text"]


def _share(total: int | None) -> int | None:
    return None if total is None else rank_share(total, least=0)


_panels: list[tuple[Profile, tuple[str, ...], Panel]] = []
_panels_lock = threading.Lock()


def panel_for(use: str, on_samples: bool) -> Panel | None:
    """The process's panel for `use` under the present environment; None where no judge is configured.

    Each configuration has its own: another profile, endpoint, key, cache mode or rank in the environment gives another
    panel. SystemExit for a configuration that cannot be used.
    """
    profile = resolve(use, on_samples).profile
    if profile is None:
        return None
    surroundings = (os.environ.get(MODE, ""), str(home()), str(rank_share(10**6)), str(os.getpid()))
    with _panels_lock:
        for known, around, panel in _panels:
            if known == profile and around == surroundings:
                return panel
        panel = Panel(profile)
        _panels.append((profile, surroundings, panel))
        return panel
