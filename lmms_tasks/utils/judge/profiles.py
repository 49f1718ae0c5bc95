"""Judge profiles: which judges score a use, how they sample, and where they answer.

A profile is a TOML file with one table for each use (`[mirage.mmst]`); a table `[default]` serves every use without its
own. What a file says and what the environment says meet here, and whatever cannot work ends the run with one sentence.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lmms_tasks.utils.judge.endpoints import OPENAI, Endpoint, variable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SHIPPED = Path(__file__).parent / "shipped"
PROFILE = "LMMS_TASKS_JUDGES"
# Parameters that the client sets itself: a profile that set them would change what is asked, or how it is read.
RESERVED = frozenset({"model", "messages", "stream", "n"})


@dataclass(frozen=True)
class Judge:
    """One judge: a model, where it answers, how it samples.

    `max_tokens` is the token limit of one reply. `timeout` is the deadline of one request in seconds, `tries` the most
    requests for one reply, `retry_delay` the first pause between them in seconds. `omit` names parameters that are not
    sent, `extra` those that are sent as they are. `openai`: OpenAI's parameter names. `price`: dollars for a million
    `input` and `output` tokens. `rubrics`: those that it is asked, None for all. `logprobs`: it returns
    log-probabilities where a rubric reads them. `retired`: what became of its model, in a few words.
    """

    name: str
    model: str
    base_url: str = field(default="", repr=False)  # may hold a password
    api_key: str = field(default="", repr=False)
    temperature: float | None = None
    max_tokens: int = 10000
    generations: int = 1
    concurrency: int = 8
    timeout: float = 600.0
    extra: dict[str, Any] = field(default_factory=dict)
    omit: tuple[str, ...] = ()
    openai: bool = False
    kind: Literal["http", "offline"] = "http"
    tries: int = 6
    retry_delay: float = 1.0
    price: dict[str, float] = field(default_factory=dict)
    rubrics: tuple[str, ...] | None = None
    logprobs: bool = False
    retired: str = ""

    def is_asked(self, rubric: str) -> bool:
        """Whether this judge is asked the rubric of this name; profiles may leave out the part before the last dot."""
        return self.rubrics is None or not {rubric, rubric.rpartition(".")[2]}.isdisjoint(self.rubrics)

    @property
    def endpoint(self) -> Endpoint:
        """Where the judge answers."""
        return Endpoint(self.base_url, self.api_key)


@dataclass(frozen=True)
class Profile:
    """The judges of one use. `max_calls` and `max_tokens` bound a run, None is unbounded. `vqa`: how a question about
    an image is answered, where a benchmark leaves that open: by a verdict, or by the log-probability of "Yes"."""

    name: str
    use: str
    judges: tuple[Judge, ...]
    rubric_files: dict[str, str] = field(default_factory=dict)
    max_calls: int | None = None
    max_tokens: int | None = None
    vqa: Literal["verdict", "logprobs"] = "verdict"

    def nobody_asked(self, rubric: str) -> str:
        """The sentence for a rubric that no judge is asked."""
        named = sorted({name for judge in self.judges for name in judge.rubrics or ()})
        return (
            f"The judge profile {self.name} has no judge for {rubric}: add it to the `rubrics` of one (they name "
            f"{', '.join(named) or 'none'})."
        )

    def check_rubrics(self, known: Iterable[str]) -> None:
        """SystemExit with one sentence if a judge's `rubrics` name one that is not among `known`."""
        known = list(known)
        short = {name.rpartition(".")[2] for name in known}
        for judge in self.judges:
            unknown = [name for name in judge.rubrics or () if name not in short and name not in known]
            if unknown:
                raise SystemExit(
                    f"The judge {judge.name} of profile {self.name} names the rubric {unknown[0]}, which {self.use} does "
                    f"not know: it has {', '.join(sorted(short))}."
                )

    @property
    def offline(self) -> bool:
        """Whether the lexical stand-in scores, and nothing is asked."""
        return all(judge.kind == "offline" for judge in self.judges)


@dataclass(frozen=True)
class Resolution:
    """The profile that scores a use, or None with the sentence that says what is missing."""

    profile: Profile | None
    sentence: str | None = None


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class JudgeTable(_Strict):
    """A judge as a profile's file declares it."""

    name: str = Field(min_length=1)
    model: str | None = None
    openai_model: str | None = None
    base_url: str | None = None
    temperature: float | None = Field(None, ge=0)
    token_limit: int = Field(10000, ge=1)
    generations: int | None = Field(None, ge=1)
    concurrency: int | None = Field(None, ge=1)
    timeout: float = Field(600.0, gt=0)
    tries: int = Field(6, ge=1)
    retry_delay: float = Field(1.0, ge=0)
    extra: dict[str, Any] = Field(default_factory=dict)
    omit: list[str] = Field(default_factory=list)
    openai: bool = False
    price: dict[Literal["input", "output"], float] = Field(default_factory=dict)
    rubrics: list[str] | None = Field(None, min_length=1)
    logprobs: bool = False
    retired: str = ""


class UseTable(_Strict):
    """One use's table of a profile's file; `generations` and `concurrency` hold for judges that name none."""

    kind: Literal["http", "offline"] = "http"
    generations: int = Field(1, ge=1)
    concurrency: int = Field(8, ge=1)
    max_calls: int | None = Field(None, ge=1)
    max_tokens: int | None = Field(None, ge=1)
    rubric_file: dict[str, str] = Field(default_factory=dict)
    vqa: Literal["verdict", "logprobs"] = "verdict"
    judges: list[JudgeTable] = Field(default_factory=list)


def resolve(use: str, on_samples: bool) -> Resolution:
    """The profile for `use` ("mirage.mmst"), as `LMMS_TASKS_JUDGES` and the endpoints' variables say.

    Unset: `offline` for tasks on shipped samples, else `paper` if each of its judges has an endpoint, else no profile
    and a sentence. Set: a shipped profile's name or a file; SystemExit with one sentence if it cannot be used.
    """
    chosen = os.environ.get(PROFILE, "").strip()
    if chosen:
        path = _file_of(chosen)
        table = _table(path, use)
        if table is None:
            raise SystemExit(f"The judge profile {path} has no table [{use}]: add one, or a table [default].")
        profile, missing = _profile(path, use, table)
        if missing:
            raise SystemExit(f"The judge profile {profile.name} for {use} lacks an endpoint: set {_all_of(missing)}.")
        return Resolution(profile)
    path = SHIPPED / ("offline.toml" if on_samples else "paper.toml")
    table = _table(path, use)
    if table is None:
        return Resolution(
            None,
            f"No judge is known for {use}, so its judged metrics are NaN: set {PROFILE} to a profile, or judge the "
            "saved answers later with `lmms-tasks score`.",
        )
    profile, missing = _profile(path, use, table)
    if not missing:
        return Resolution(profile)
    return Resolution(
        None,
        f"No judge is configured for {use}, so its judged metrics are NaN: set {_all_of(missing)}, or {PROFILE} to "
        "another profile, or judge the saved answers later with `lmms-tasks score`.",
    )


def shipped_profiles() -> list[str]:
    """Names of the profiles that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def _file_of(chosen: str) -> Path:
    if chosen in shipped_profiles():
        return SHIPPED / f"{chosen}.toml"
    path = Path(chosen).expanduser()
    if not path.is_file():
        raise SystemExit(
            f"{PROFILE} is {chosen!r}, which is no file and none of the shipped profiles "
            f"({', '.join(shipped_profiles())}): name one of these or a TOML file."
        )
    return path


def _table(path: Path, use: str) -> UseTable | None:
    """The table for `use` in the file, or its `[default]`; None if it has neither."""
    try:
        content: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SystemExit(f"The judge profile {path} is no valid TOML ({error}): correct it.") from None
    except OSError as error:
        raise SystemExit(f"The judge profile {path} cannot be read ({error.strerror}): check the file.") from None
    found = content
    for part in use.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    where = use
    if found is None:
        found, where = content.get("default"), "default"
    if found is None:
        return None
    try:
        table = UseTable.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "table"
        what = "is no key that a profile knows" if first["type"] == "extra_forbidden" else first["msg"]
        raise SystemExit(f"The judge profile {path}, table [{where}], {key}: {what}; correct it.") from None
    _check(path, where, table)
    return table


def _check(path: Path, where: str, table: UseTable) -> None:
    """What the types do not say; SystemExit with a sentence that names file, table and key."""
    names = [judge.name for judge in table.judges]
    reserved = next(((judge.name, key) for judge in table.judges for key in judge.extra if key in RESERVED), None)
    lost = next((file for file in table.rubric_file.values() if not (path.parent / file).is_file()), None)
    if table.kind == "offline" and names:
        trouble = 'kind "offline" asks no judge: delete its judges, or the kind'
    elif table.kind == "offline" and table.vqa == "logprobs":
        trouble = 'kind "offline" has no log-probabilities: delete vqa, or the kind'
    elif table.kind == "http" and not names:
        trouble = "it has no judges: add [[…judges]] tables"
    elif table.vqa == "logprobs" and not any(judge.logprobs for judge in table.judges):
        trouble = 'vqa = "logprobs" needs a judge with logprobs = true: give it to one, or set vqa = "verdict"'
    elif len(set(names)) < len(names):
        trouble = "two judges bear one name: name each differently, or raise generations"
    elif reserved:
        trouble = f"judge {reserved[0]} sets {reserved[1]} in extra, which is set for it: delete that"
    elif lost:
        trouble = f"the rubric file {lost} is not there: paths are relative to the profile"
    else:
        return
    raise SystemExit(f"The judge profile {path}, table [{where}]: {trouble}.")


def _profile(path: Path, use: str, table: UseTable) -> tuple[Profile, list[str]]:
    """The profile, and the variables that its judges still need (then the profile is of no use)."""
    judges, missing = [], []
    for declared in table.judges:
        endpoint = Endpoint.from_environment(declared.name, declared.base_url, declared.openai or declared.openai_model)
        if endpoint is None:
            missing.append(_needed(declared) + (f" ({declared.retired})" if declared.retired else ""))
            continue
        openai = declared.openai or endpoint.host == OPENAI
        model = declared.model
        if model is None:
            model = os.environ.get(variable(declared.name, "MODEL"), "").strip()
            model = model or (declared.openai_model if openai else None)
            if not model:
                raise SystemExit(
                    f"The judge {declared.name} answers at {endpoint.host}, and its model is not said: set "
                    f"{variable(declared.name, 'MODEL')} to the name that this server gives it."
                )
        judges.append(
            Judge(
                name=declared.name,
                model=model,
                base_url=endpoint.base_url,
                api_key=endpoint.api_key,
                temperature=declared.temperature,
                max_tokens=declared.token_limit,
                generations=declared.generations or table.generations,
                concurrency=declared.concurrency or table.concurrency,
                timeout=declared.timeout,
                extra=declared.extra,
                omit=tuple(declared.omit),
                openai=openai,
                tries=declared.tries,
                retry_delay=declared.retry_delay,
                price=dict(declared.price),
                rubrics=tuple(declared.rubrics) if declared.rubrics else None,
                logprobs=declared.logprobs,
                retired=declared.retired,
            )
        )
    if table.kind == "offline":
        judges = [Judge(name="offline", model="offline", kind="offline")]
    rubric_files = {name: str((path.parent / file).resolve()) for name, file in table.rubric_file.items()}
    name = path.stem if path.parent == SHIPPED else path.name
    return Profile(name, use, tuple(judges), rubric_files, table.max_calls, table.max_tokens, table.vqa), missing


def _needed(judge: JudgeTable) -> str:
    if judge.openai or judge.openai_model:
        return f"{variable(judge.name, 'API_KEY')} or {variable(judge.name, 'BASE_URL')}"
    return variable(judge.name, "BASE_URL")


def _all_of(needed: Iterable[str]) -> str:
    needed = list(needed)
    fallback = "OPENAI_API_KEY" if "API_KEY" in needed[0] else "OPENAI_BASE_URL"
    return f"{', '.join(needed)} (or {fallback}{' for all' if len(needed) > 1 else ''})"
