"""Run folders written by hand, in the form that lmms-eval and `lmms-tasks score` leave, for what no real model answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TASK = "mirage_mmst_mg_sample"


def verdict(judge: str, accuracy: int) -> dict[str, Any]:
    scores = {"accuracy": accuracy, "relevance": 2, "completeness": 2, "parsimony": 2}
    return {
        "judge": judge,
        "generation": 0,
        "status": "valid",
        "reason": None,
        "scores": scores,
        "model": f"{judge}-v1",
    }


def row(doc_id: int, score: float | None, answer: str = "Water it.", **groups: Any) -> dict[str, Any]:
    """A line of a sample log; `score` is None where the judges failed."""
    status = "unscored" if score is None else "judged"
    item = {"status": status} if score is None else {"score": score, "status": status}
    judgement = {"scored": score is not None, "verdicts": groups.pop("verdicts", [])}
    return {
        "doc_id": doc_id,
        "target": groups.pop("target", f"Gold {doc_id}."),
        "input": f"Question {doc_id}?",
        "filtered_resps": [answer],
        "w_sum": item,
        "w_sum_strict": item,
        "judged_coverage": {"score": float(score is not None), "status": status, "judgements": [judgement], **groups},
    }


def write_run(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    model: str = "acme/alpha",
    date: str = "20260102_030405",
    task: str = TASK,
    strict: bool = False,
    **manifest: Any,
) -> Path:
    """Write a run and return its folder. `strict`: NaN as null, as strict parsers want it, else bare as lmms-eval has it."""
    scores = [line["w_sum"]["score"] for line in rows if "score" in line["w_sum"]]
    covered = len(scores) / len(rows)
    value = sum(scores) / len(scores) if covered >= 0.95 else float("nan")
    values = {"w_sum,none": value, "w_sum_strict,none": sum(scores) / len(rows), "judged_coverage,none": covered}
    told = json.dumps({"results": {task: {"alias": task, **values}}, "config": {"model": "x"}, "model_name": model})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{date}_results.json").write_text(told.replace("NaN", "null") if strict else told)
    lines = (json.dumps(line) for line in rows)
    (folder / f"{date}_samples_{task}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    whole = {
        "task": task,
        "task_version": "1.0",
        "versions": {"lmms-tasks": "0.1.0", "lmms-eval": "0.7.3"},
        "model": {"name": "x", "args": ""},
        "data": {"source": "shipped samples", "fingerprint": "f" * 64, "rows": len(rows)},
        "rows": len(rows),
        "rubrics": {"mirage.mmst_mg": "a" * 64},
        "panel": {
            "profile": "single",
            "judges": [{"name": "one", "model": "one-v1", "temperature": 0, "generations": 1}],
        },
        "judges": {"one": {"models": ["one-v1"], "verdicts": {"valid": len(scores)}}},
        "breakdowns": {"by_category": {}} if any("category" in line["judged_coverage"] for line in rows) else {},
        **manifest,
    }
    (folder / f"{date}_lmms_tasks_{task}.json").write_text(json.dumps(whole))
    return folder
