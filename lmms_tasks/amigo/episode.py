"""One episode, pure: from the turns so far and the next reply to the next turn. It knows neither models nor lmms-eval.

A transcript is plain JSON data: `{"turns": [...], "end": None or a reason}`. Everything else about the episode (the
feasible set, what has been enumerated, the prompt) follows from it, so a transcript on disk is a state to go on from.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any
from typing import Protocol as Interface

from lmms_tasks.amigo.lexicon import SLOTS, Slot
from lmms_tasks.amigo.prohibited import PROHIBITED
from lmms_tasks.amigo.question import Predicate
from lmms_tasks.amigo.rules import Guess, Hit, Question, parse_reply, rule_texts
from lmms_tasks.amigo.words import normalise
from lmms_tasks.utils.reasoning import strip_reasoning

YES, NO, UNSURE, SKIP = "Yes", "No", "Unsure", "Skip"
ENDS = ("guess", "turn_cap", "infrastructure_error")
PREMATURE = ("record", "skip_and_continue", "terminal_skip")
NOISE_MODES = ("independent", "persistent")
END_OF_UPLOADING = "End of uploading"
# What a prompt shows of one earlier message; rules are checked on the whole.
LONGEST_SHOWN = 500  # characters

Transcript = dict[str, Any]


class OracleFailure(Exception):
    """The oracle gave no answer: the episode is excluded, and nothing is held against the model."""


class Oracle(Interface):
    """Answers questions about single images of the episode's gallery."""

    exact: bool  # it can be asked about every image, so the feasible set is known

    def answer(self, question: Question, position: int) -> tuple[str, bool]:
        """Yes, No or Unsure for the image at a position (counted from 1), and whether the question was understood.

        Raises:
            OracleFailure: there is no answer to be had.
        """
        ...


@dataclass(frozen=True)
class Protocol:
    """The parameters of the reconstruction; every one of them is in the transcript.

    Attributes:
        max_turns: turns of an episode, the guess included.
        prohibited: slots that may not be asked about.
        enum_tolerance: how many values of a slot may be answered No or Unsure before a further one is Skip.
        premature_guess: what becomes of a guess while more than one image is feasible: `record` ends the episode and
            notes it, `skip_and_continue` answers Skip, `terminal_skip` ends the episode with a Skip.
        noise: probability that a Yes or No is shown as its opposite, in [0, 1].
        noise_mode: `independent` for each turn, or `persistent` for each slot and value.
        noise_seed: seed of the noise, with the episode and the turn.
        verify_feasible: ask a `vlm` oracle about every image, so that the feasible set is known (N calls a question).
    """

    max_turns: int = 30
    prohibited: tuple[str, ...] = ("color", "sleeve_length", "background")
    enum_tolerance: int = 1
    premature_guess: str = "record"
    noise: float = 0.0
    noise_mode: str = "independent"
    noise_seed: int = 0
    verify_feasible: bool = False

    @classmethod
    def read(cls, settings: Mapping[str, Any] | None) -> Protocol:
        """The protocol of a task's `lmms_eval_specific_kwargs`.

        Raises:
            SystemExit: a setting is unknown or out of range.
        """
        given = {name: value for name, value in (settings or {}).items() if name not in ("default", "dataset")}
        known = {one.name for one in fields(cls)}
        if unknown := sorted(given.keys() - known - {"pre_prompt", "post_prompt"}):
            raise SystemExit(f"AMIGO knows no setting {unknown[0]}: it has {', '.join(sorted(known))}.")
        given = {name: value for name, value in given.items() if name in known}
        if "prohibited" in given:
            given["prohibited"] = _prohibited(given["prohibited"])
        made = cls(**given)
        # Two turns of lmms-eval's 32 are left for a resumed episode's first message and for its own end.
        ranges = {
            "max_turns": type(made.max_turns) is int and 1 <= made.max_turns <= 30,
            "enum_tolerance": type(made.enum_tolerance) is int and made.enum_tolerance >= 0,
            "premature_guess": isinstance(made.premature_guess, str) and made.premature_guess in PREMATURE,
            "noise": type(made.noise) in (int, float) and 0 <= made.noise <= 1,
            "noise_mode": isinstance(made.noise_mode, str) and made.noise_mode in NOISE_MODES,
            "noise_seed": type(made.noise_seed) is int,
            "verify_feasible": type(made.verify_feasible) is bool,
        }
        if wrong := [name for name, fine in ranges.items() if not fine]:
            raise SystemExit(f"AMIGO cannot use {getattr(made, wrong[0])!r} as {wrong[0]}; its README has the range.")
        return made

    def record(self) -> dict[str, Any]:
        """The parameters with the version of the rule texts, as a transcript keeps them."""
        return {**asdict(self), "prohibited": sorted(self.prohibited), "rules": rule_texts().version}


def _prohibited(given: Any) -> tuple[str, ...]:
    """The slots of a setting `prohibited`: the three of the rules, the lexicon's, or others of the user's tables."""
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise SystemExit(
            f"AMIGO cannot use {given!r} as prohibited: it is a list of attributes, such as [color, sleeve_length]."
        )
    names = [*PROHIBITED, *(slot.name for slot in SLOTS)]
    for name in given:
        plain = re.sub(r"[\W_]+", "_", name.casefold()).strip("_")
        # A slip would allow what is meant to be prohibited.
        meant = plain if plain in names else next(iter(difflib.get_close_matches(plain, names, 1, 0.8)), plain)
        if name != meant or not meant:
            raise SystemExit(f"AMIGO cannot use {name!r} in prohibited: did you mean {meant or 'color'}?")
    return tuple(given)


@dataclass(frozen=True)
class Episode:
    """A gallery with its target.

    Attributes:
        gold: position of the target, counted from 1.
        tables: the attribute tables of the images in their order; () where there are none.
        slots: the lexicon, with the slots that only these tables have (`tables.slots_for`).
    """

    episode_id: str
    size: int
    gold: int
    tables: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    slots: tuple[Slot, ...] = field(default=SLOTS, repr=False)


def new_transcript() -> Transcript:
    """An episode before its first turn."""
    return {"turns": [], "end": None}


def play(transcript: Transcript, reply: str, episode: Episode, protocol: Protocol, oracle: Oracle) -> Transcript:
    """The transcript with one more turn; never raises, whatever the reply holds."""
    answer = strip_reasoning(reply)
    turn: dict[str, Any] = {
        "idx": len(transcript["turns"]) + 1,
        "raw": reply or "",
        "visible": answer.text,
        "kind": "question",
        "hits": [],
        "oracle_true": None,
        "oracle_shown": None,
        "feasible": feasible_set(transcript, episode, oracle, protocol),
    }
    if answer.state == "request_failed":
        return {**transcript, "end": "infrastructure_error", "error": f"turn {turn['idx']}: the model's request failed"}
    parsed = parse_reply(answer.text, episode.slots, protocol.prohibited)
    if isinstance(parsed, Guess):
        _guess(turn, parsed, protocol)
    else:
        try:
            _ask(turn, parsed, transcript, episode, protocol, oracle)
        except OracleFailure as error:
            return {**transcript, "end": "infrastructure_error", "error": f"turn {turn['idx']}: {error}"}
    turns = [*transcript["turns"], turn]
    return {**transcript, "turns": turns, "end": end_of(turns, protocol.max_turns, protocol.premature_guess)}


def end_of(turns: Sequence[Mapping[str, Any]], max_turns: int, premature_guess: str) -> str | None:
    """How the last of the turns ends an episode, None if it goes on."""
    if not turns:
        return None
    last = turns[-1]
    if last["kind"] == "guess" and not (last["premature"] and premature_guess == "skip_and_continue"):
        return "guess"
    return "turn_cap" if len(turns) >= max_turns else None


def feasible_set(transcript: Transcript, episode: Episode, oracle: Oracle, protocol: Protocol) -> list[int] | None:
    """Positions that fit every Yes and No so far, None where the oracle cannot tell."""
    if transcript["turns"]:
        return transcript["turns"][-1]["feasible"]
    return list(range(1, episode.size + 1)) if oracle.exact or protocol.verify_feasible else None


def prompt(transcript: Transcript, episode: Episode, protocol: Protocol) -> str:
    """The whole message that stands after the images: rules, the end of uploading, and all turns so far."""
    texts = rule_texts()
    values = {
        "size": episode.size,
        "max_turns": protocol.max_turns,
        "prohibited": ", ".join(slot.replace("_", " ") for slot in sorted(protocol.prohibited)) or "nothing",
    }
    rules = "\n".join(f"{name}: {text}" for name, text in texts.rules.items())
    head = "\n\n".join((texts.intro, rules, texts.closing)).format(**values)
    turns = [
        f"Turn {turn['idx']}\nYou: {_shown(turn['visible'])}\nAnswer: {turn['oracle_shown']}"
        for turn in transcript["turns"]
    ]
    now = f"Turn {len(turns) + 1} of {protocol.max_turns}. Write your message."
    return "\n\n".join((head, END_OF_UPLOADING, *turns, now))


def _shown(visible: str) -> str:
    # One line of what can be printed: a message must not look like several turns, nor break what reads the prompt.
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in visible).split())
    return line if len(line) <= LONGEST_SHOWN else f"{line[:LONGEST_SHOWN]} [...]"


def _guess(turn: dict[str, Any], guess: Guess, protocol: Protocol) -> None:
    feasible = turn["feasible"]
    premature = None if feasible is None else len(feasible) > 1
    turn.update(kind="guess", guess=guess.number, strict=guess.strict, mixed=guess.mixed, premature=premature)
    if premature:
        turn["hits"] = [["R9", "premature"]]
        if protocol.premature_guess != "record":
            turn["oracle_true"] = turn["oracle_shown"] = SKIP


def _ask(
    turn: dict[str, Any],
    question: Question,
    transcript: Transcript,
    episode: Episode,
    protocol: Protocol,
    oracle: Oracle,
) -> None:
    predicate = question.predicate
    hits = list(question.hits)
    if predicate is not None:
        turn.update(slot=predicate.slot, values=list(predicate.values), negated=predicate.negated)
        if _enumerates(predicate, transcript["turns"], protocol.enum_tolerance):
            hits.append(Hit("R6", f"enumeration of {predicate.slot}"))
    turn["hits"] = [[hit.rule, hit.reason] for hit in hits]
    if hits:
        turn["oracle_true"] = turn["oracle_shown"] = SKIP
        return
    true, mapped = oracle.answer(question, episode.gold)
    flipped = true in (YES, NO) and _is_flipped(question, turn["idx"], episode, protocol)
    shown = {YES: NO, NO: YES}[true] if flipped else true
    turn.update(oracle_true=true, oracle_shown=shown, noise=flipped, mapped=mapped)
    before = turn["feasible"]
    if before is None:
        return
    answers = {position: oracle.answer(question, position)[0] for position in before}
    told = set(answers.values())
    turn["implied"] = told.pop() if len(told) == 1 and told <= {YES, NO} else None
    if shown in (YES, NO):
        turn["feasible"] = [position for position in before if answers[position] in (shown, UNSURE)]


def _enumerates(predicate: Predicate, turns: Sequence[Mapping[str, Any]], tolerance: int) -> bool:
    """Whether a question goes on through the values of its slot: more than `tolerance` of them were answered No or
    Unsure, and it asks for one that was not asked for yet."""
    ruled_out: set[str] = set()
    asked: set[str] = set()
    for turn in turns:
        if turn.get("slot") == predicate.slot and turn["oracle_shown"] != SKIP:
            asked.update(turn["values"])
            if turn["oracle_shown"] == UNSURE or (turn["oracle_shown"] == YES) == turn["negated"]:
                ruled_out.update(turn["values"])
    return len(ruled_out) > tolerance and not set(predicate.values) <= asked


def _is_flipped(question: Question, turn: int, episode: Episode, protocol: Protocol) -> bool:
    """Whether noise turns an answer round. It depends on nothing but seed, episode and turn (or slot and value), so the
    order of episodes, the rank and a resumed run do not change it."""
    key = str(turn)
    if protocol.noise_mode == "persistent":
        predicate = question.predicate
        key = f"{predicate.slot}={'|'.join(predicate.values)}" if predicate else normalise(question.text)
    digest = hashlib.sha256(f"{protocol.noise_seed}\n{episode.episode_id}\n{key}\nnoise".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53 < protocol.noise
