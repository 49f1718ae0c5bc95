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
from lmms_tasks.utils.judge.plan import Plan
from lmms_tasks.utils.judge.profiles import Profile, resolve
from lmms_tasks.utils.judge.refusal import Refused
from lmms_tasks.utils.judge.rubric import Rubric
from lmms_tasks.utils.judge.session import Session
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
        """Judges times generations; 0.0 for the lexical stand-in. Where judges are asked different rubrics, the least
        that stands behind one of them."""
        judges = [session.judge for session in self._sessions]
        named = {name for judge in judges for name in judge.rubrics or ()}
        of_all = sum(judge.generations for judge in judges if judge.rubrics is None)
        counts = [sum(judge.generations for judge in judges if judge.is_asked(name)) for name in named]
        return float(min([*counts, *([of_all] if of_all else [])], default=0))

    @property
    def concurrency(self) -> int:
        """The most rows that are worth judging at the same time: the largest of this rank's shares."""
        return max((session.concurrency for session in self._sessions), default=1)

    def judge(self, rubric: Rubric, texts: Mapping[str, str], images: Iterable[Any] = ()) -> Judgement:
        """Judge one row: every judge that is asked this rubric, every generation, at the same time.

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
        sessions = [session for session in self._sessions if session.judge.is_asked(rubric.name)]
        if not sessions:
            raise SystemExit(self.profile.nobody_asked(rubric.name))
        messages = rubric.messages(texts, images)
        if self._plan is not None:
            self._plan.add(rubric, messages)
            return Judgement((), False, None, "planned, not judged")
        futures = [
            session.submit(rubric, messages, generation)
            for session in sessions
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
        """See, before the model is created, that the judges can be asked: endpoints, keys, the user's rubric files, a
        judge for each rubric, and images and log-probabilities where rubrics need them.

        SystemExit with one sentence if not. A panel that was refused earlier starts anew.
        """
        asked = [self.rubric(rubric) for rubric in rubrics]
        names = {rubric.name for rubric in asked}
        self._check_who_is_asked(asked)
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
        for session in self._sessions:
            session.look(asked)

    def _check_who_is_asked(self, rubrics: Sequence[Rubric]) -> None:
        judges = [session.judge for session in self._sessions]
        for rubric in rubrics if judges else ():
            asked = [judge for judge in judges if judge.is_asked(rubric.name)]
            if not asked:
                raise SystemExit(self.profile.nobody_asked(rubric.name))
            without = [judge.name for judge in asked if rubric.form == "word" and not judge.logprobs]
            if without:
                raise SystemExit(
                    f"The judge {without[0]} of profile {self.profile.name} is asked {rubric.name}, which reads "
                    'log-probabilities: give it logprobs = true, or set vqa = "verdict".'
                )
        for judge in judges:
            if rubrics and not any(judge.is_asked(rubric.name) for rubric in rubrics):
                logger.warning(
                    f"The judge {judge.name} of profile {self.profile.name} is asked nothing here: its `rubrics` name "
                    f"{', '.join(judge.rubrics or ())}, and this run has {', '.join(rubric.name for rubric in rubrics)}."
                )
            if judge.retired:
                logger.warning(f"The judge {judge.name} of profile {self.profile.name}: {judge.retired}.")

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
