"""The functions that MIRAGE-MMMT's YAML files name: a few lines each between lmms-eval and the scoring modules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_tasks.mirage import decision, mmmt_rows
from lmms_tasks.mirage.decision import CLARIFY, DECISIONS, RESPOND, Turn
from lmms_tasks.mirage.decision_scores import (
    REQUEST_FAILED,
    UNPARSABLE,
    accuracy_item,
    accuracy_over_parsed_item,
)
from lmms_tasks.mirage.dialogue import transcript
from lmms_tasks.mirage.hooks import mmst_doc_to_visual
from lmms_tasks.mirage.mmmt_verdicts import DecompVerdict, DirectVerdict
from lmms_tasks.mirage.model_prompt import ModelPrompt
from lmms_tasks.mirage.rows import DECOMP, DIRECT
from lmms_tasks.utils.judge import Panel, Rubric, panel_for
from lmms_tasks.utils.judged import NO_ANSWER, JudgedAnswer, JudgedRow
from lmms_tasks.utils.reasoning import Answer, strip_reasoning
from lmms_tasks.utils.statistics import mean

if TYPE_CHECKING:
    from PIL import Image

JUDGE_USE = "mirage.mmmt"
_PROMPTS = Path(__file__).parent / "prompts"
# The references are what the lexical stand-in compares with; no template shows them to a judge that reads.
DIRECT_RUBRIC = Rubric.from_file(
    _PROMPTS / "mmmt_direct_rubric.txt",
    name="mirage.mmmt_direct",
    schema=DirectVerdict,
    reference="gold_utterance",
    candidate="utterance",
)
DECOMP_RUBRIC = Rubric.from_file(
    _PROMPTS / "mmmt_decomp_rubric.txt",
    name="mirage.mmmt_decomp",
    schema=DecompVerdict,
    reference="gold_answer",
    candidate="answer",
)


@dataclass(frozen=True)
class Form:
    """One way to put the question: prompt, parser, rubric, and what a row without a decision gets."""

    prompt: ModelPrompt
    parse: decision.Parser
    rubric: Rubric
    unparsable: Mapping[str, float]

    @property
    def with_facts(self) -> bool:
        return self.rubric is DECOMP_RUBRIC


_NO_UTTERANCE = {"goal_relevance": 0.0}
_NO_FACTS = {"known_accuracy": 0.0, "missing_coverage": 0.0, "spurious": 1.0, "perfect": 0.0, "goal_relevance": 0.0}
FORMS: Mapping[str, Form] = {
    name: Form(ModelPrompt.from_file(_PROMPTS / f"mmmt_{name}.txt"), parse, rubric, unparsable)
    for name, parse, rubric, unparsable in (
        ("direct", decision.parse_direct, DIRECT_RUBRIC, _NO_UTTERANCE),
        ("direct_cot", decision.parse_direct_cot, DIRECT_RUBRIC, _NO_UTTERANCE),
        ("decomp", decision.parse_decomp, DECOMP_RUBRIC, _NO_FACTS),
        ("decomp_cot", decision.parse_decomp_cot, DECOMP_RUBRIC, _NO_FACTS),
    )
}


def form_of(task_name: str) -> Form:
    """The form of a task by its name, with or without `_sample`."""
    return FORMS[task_name.removeprefix("mirage_mmmt_").removesuffix("_sample")]


direct_rows = partial(mmmt_rows.select, schema=DIRECT)
decomp_rows = partial(mmmt_rows.select, schema=DECOMP)
mmmt_doc_to_visual = mmst_doc_to_visual


def _text(doc: Mapping[str, Any], form: str) -> str:
    """The prompt around the dialogue, split by speaker; nothing of the gold columns is in it."""
    return FORMS[form].prompt.fill(transcript(doc["dialog_context"]))


def _messages(doc: Mapping[str, Any], form: str) -> list[dict[str, Any]]:
    """One user message: the prompt, then all images of the dialogue, which the data do not assign to turns."""
    images: list[Image.Image] = mmmt_doc_to_visual(doc)
    parts = [{"type": "image", "url": image} for image in images]
    return [{"role": "user", "content": [{"type": "text", "text": _text(doc, form)}, *parts]}]


def _direct_target(doc: Mapping[str, Any], form: str) -> str:
    answer = f"<Decision>\n{_token(doc)}\n</Decision>\n<Utterance>\n{mmmt_rows.gold_utterance(doc)}\n</Utterance>"
    return f"<Reasoning>\n(none)\n</Reasoning>\n{answer}" if form == "direct_cot" else answer


def _decomp_target(doc: Mapping[str, Any], form: str) -> str:
    known, missing = (mmmt_rows.goals(doc[column]) for column in ("known_goal", "missing_goal"))
    content = {
        "goal_state": {"known": mmmt_rows.as_object(known), "missing": missing},
        "decision": _token(doc),
        "utterance": mmmt_rows.gold_utterance(doc),
    }
    answer = json.dumps(content, ensure_ascii=False)
    if form == "decomp_cot":
        return f"<Think>\n(none)\n</Think>\n<Finish>{answer}</Finish>"
    return f"<output>\n{answer}\n</output>"


def _token(doc: Mapping[str, Any]) -> str:
    return f"<{mmmt_rows.gold_decision(doc).capitalize()}>"


def _process(
    doc: Mapping[str, Any], results: Sequence[str], form: str, on_samples: bool = False
) -> dict[str, dict[str, Any]]:
    """All metrics of a row: decisions by comparison, the rest by the panel."""
    chosen = FORMS[form]
    gold = mmmt_rows.gold_decision(doc)
    answers = [strip_reasoning(raw) for raw in results]
    proposed = [chosen.parse(raw or "") for raw in results]
    predictions = [
        REQUEST_FAILED if answer.state == "request_failed" else turn.decision or UNPARSABLE
        for answer, turn in zip(answers, proposed, strict=True)
    ]
    row = _judge_row(doc, answers, proposed, chosen, panel_for(JUDGE_USE, on_samples))
    fields = row.fields or {}
    relevance = row.item(fields.get("goal_relevance"))
    elsewhere = {"applies": False}
    items = {
        "decision_accuracy": accuracy_item(gold, predictions),
        "decision_accuracy_official": accuracy_over_parsed_item(gold, predictions),
        "parse_rate": {}
        if REQUEST_FAILED in predictions
        else {"score": mean(float(prediction in DECISIONS) for prediction in predictions)},
        "goal_relevance": relevance,
        "goal_relevance_strict": relevance,
        "goal_relevance_clarify": relevance if gold == CLARIFY else elsewhere,
        "goal_relevance_respond": relevance if gold == RESPOND else elsewhere,
        "judged_coverage": row.coverage_item(
            decision=gold,
            # Rows of one conversation, which are resampled together.
            cluster=doc.get("id"),
            predictions=predictions,
            turns=mmmt_rows.turns(doc),
            n_images=doc["n_images"],
            truncated=[turn.truncated for turn in proposed],
        ),
        "judgements_per_sample": row.size_item(),
    }
    if chosen.with_facts:
        items |= {name: row.item(fields.get(name)) for name in ("known_accuracy", "missing_coverage")}
        for name in ("perfect", "spurious"):
            items[name] = row.item(None if name not in fields else 100 * fields[name])
    return items


def _judge_row(
    doc: Mapping[str, Any], answers: Sequence[Answer], proposed: Sequence[Turn], form: Form, panel: Panel | None
) -> JudgedRow:
    size = panel.judgements_per_sample if panel else 0.0
    texts = _texts(doc, form)
    judged = [_judge(answer, turn, form, panel, texts) for answer, turn in zip(answers, proposed, strict=True)]
    return JudgedRow(judged, size)


def _judge(answer: Answer, turn: Turn, form: Form, panel: Panel | None, texts: Mapping[str, str]) -> JudgedAnswer:
    """One answer's fields: without a call where it holds no decision, or nothing to read."""
    if answer.state == "request_failed":
        return JudgedAnswer(answer, REQUEST_FAILED, None)
    if panel is None:
        return JudgedAnswer(answer, "no_judge", None)
    if turn.decision is None:
        return JudgedAnswer(answer, answer.state if answer.state in NO_ANSWER else UNPARSABLE, form.unparsable)
    if not form.with_facts and not turn.utterance:
        return JudgedAnswer(answer, "no_utterance", form.unparsable)
    candidate = _facts_and_utterance(turn.known, turn.missing, turn.utterance) if form.with_facts else turn.utterance
    judgement = panel.judge(form.rubric, {**texts, form.rubric.candidate: candidate})
    fields = judgement.fields
    if fields is not None and form.with_facts:
        fields = _with_perfect(fields if turn.utterance else {**fields, "goal_relevance": 0.0})
    return JudgedAnswer(answer, "judged" if fields is not None else "unscored", fields, judgement.record())


def _with_perfect(fields: Mapping[str, float]) -> dict[str, float]:
    """The fields with `perfect`: 1 where each of the four has its best value (official file evalaute_zs.py)."""
    best = {"known_accuracy": 4, "missing_coverage": 4, "spurious": 0, "goal_relevance": 4}
    return {**fields, "perfect": float(all(fields[name] == value for name, value in best.items()))}


def _texts(doc: Mapping[str, Any], form: Form) -> dict[str, str]:
    """What a judge may read beside the answer. The gold decision is in none of it: it is never told."""
    texts = {"dialogue": transcript(doc["dialog_context"])}
    utterance = mmmt_rows.gold_utterance(doc)
    if not form.with_facts:
        return {**texts, form.rubric.reference: utterance}
    known, missing = (mmmt_rows.goals(doc[column]) for column in ("known_goal", "missing_goal"))
    return {
        **texts,
        "known_goal": "\n".join(known) or "(none)",
        "missing_goal": "\n".join(missing) or "(none)",
        form.rubric.reference: _facts_and_utterance(known, missing, utterance),
    }


def _facts_and_utterance(known: Sequence[str], missing: Sequence[str], utterance: str) -> str:
    """One JSON text, in which nothing that a model writes can pass for another field."""
    return json.dumps(
        {"known": list(known), "missing": list(missing), "utterance": utterance}, indent=1, ensure_ascii=False
    )


direct_doc_to_text = partial(_text, form="direct")
direct_doc_to_messages = partial(_messages, form="direct")
direct_doc_to_target = partial(_direct_target, form="direct")
direct_process_results = partial(_process, form="direct")
direct_sample_process_results = partial(_process, form="direct", on_samples=True)
direct_cot_doc_to_text = partial(_text, form="direct_cot")
direct_cot_doc_to_messages = partial(_messages, form="direct_cot")
direct_cot_doc_to_target = partial(_direct_target, form="direct_cot")
direct_cot_process_results = partial(_process, form="direct_cot")
direct_cot_sample_process_results = partial(_process, form="direct_cot", on_samples=True)
decomp_doc_to_text = partial(_text, form="decomp")
decomp_doc_to_messages = partial(_messages, form="decomp")
decomp_doc_to_target = partial(_decomp_target, form="decomp")
decomp_process_results = partial(_process, form="decomp")
decomp_sample_process_results = partial(_process, form="decomp", on_samples=True)
decomp_cot_doc_to_text = partial(_text, form="decomp_cot")
decomp_cot_doc_to_messages = partial(_messages, form="decomp_cot")
decomp_cot_doc_to_target = partial(_decomp_target, form="decomp_cot")
decomp_cot_process_results = partial(_process, form="decomp_cot")
decomp_cot_sample_process_results = partial(_process, form="decomp_cot", on_samples=True)
