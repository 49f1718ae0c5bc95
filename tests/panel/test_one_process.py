"""Several evaluations by the real lmms-eval in one process: profiles kept apart, tokens counted, keys in no traceback."""

from __future__ import annotations

import dataclasses
import json
import traceback

import pytest

from tests.judge_server import Answer, JudgeServer

from .conftest import FACETS, JUDGES, ROWS, TASK, Material
from .test_secrets import assert_nowhere, echoing, plant

CALLS = ROWS * 9


@pytest.fixture(scope="module")
def index(evaluator):
    """An index of our tasks alone: lmms-eval's own takes it five seconds."""
    return evaluator.TaskManager(include_defaults=False)


@pytest.fixture
def evaluate(evaluator, index, material, monkeypatch):
    """Evaluate the material's rows, answered by a script, under a profile; lmms-eval's results."""
    from tests.scripted_model import ScriptedModel

    def run(judged: Material, script=lambda task, doc_id, n: f"Answer {doc_id}."):
        for name, value in judged.variables().items():
            monkeypatch.setenv(name, value)
        model = ScriptedModel(script)
        return evaluator.simple_evaluate(model=model, tasks=[TASK], task_manager=index, bootstrap_iters=0)

    return run


def constant(score: int) -> str:
    return json.dumps(dict.fromkeys(FACETS, score))


def test_each_evaluation_has_the_numbers_of_its_own_profile_and_its_tokens_in_the_usage(
    evaluate, material, monkeypatch
):
    with JudgeServer(constant(4)) as kind, JudgeServer(constant(1)) as strict:
        profiles = [dataclasses.replace(material, profile=material.folder / name) for name in ("a.toml", "b.toml")]
        profiles[0].judged_at(kind.base_url)
        # Two of three judges change, and the third answers from the cache.
        profiles[1].judged_at({"ada": kind.base_url, "bea": strict.base_url, "cas": strict.base_url}, temperature=0.6)
        results = [evaluate(profiles[which]) for which in (0, 1, 0)]
    # A row: (4 + 4 + 4) / 3 / 4, then (4 + 1 + 1) / 3 / 4, then the first again.
    assert [one["results"][TASK]["w_sum,none"] for one in results] == pytest.approx([1.0, 0.5, 1.0])
    assert (kind.count, strict.count) == (CALLS, CALLS * 2 // 3)
    # lmms-eval counts anew for each evaluation; 100 tokens of prompt and 20 of reply a call.
    judged = [one.get("usage", {}).get("by_source", {}).get("judge") for one in results]
    assert judged[:2] == [
        {
            "input_tokens": 100 * calls,
            "output_tokens": 20 * calls,
            "reasoning_tokens": 0,
            "total_tokens": 120 * calls,
            "n_api_calls": calls,
        }
        for calls in (CALLS, CALLS * 2 // 3)
    ]
    assert judged[2] is None
    assert results[0]["usage"]["by_task"][TASK]["n_api_calls"] == CALLS
    assert len(results[0]["samples"][TASK]) == ROWS


def told_of(error: BaseException) -> str:
    """The whole traceback, with the values of all names on the way."""
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


def test_an_evaluation_that_fails_in_mid_scoring_shows_no_key(evaluate, material, monkeypatch, capfd):
    with echoing(refusal=403) as server:
        material.judged_at(server.base_url)
        plant(material, monkeypatch)
        with pytest.raises(SystemExit) as ended:
            evaluate(material)
    assert "Incorrect key provided: Bearer ***" in ended.value.code
    captured = capfd.readouterr()
    assert list((material.home / "answers").iterdir())  # looked through as well
    assert_nowhere(material, told_of(ended.value), captured.out, captured.err)


def test_an_evaluation_whose_model_fails_shows_no_key(evaluate, material, monkeypatch, capfd):
    def script(task: str, doc_id: int, n: int) -> str:
        raise RuntimeError("out of memory")

    with JudgeServer(Answer(constant(4)), models=[f"{judge}-1" for judge in JUDGES]) as server:
        material.judged_at(server.base_url)
        plant(material, monkeypatch)
        with pytest.raises(RuntimeError) as ended:
            evaluate(material, script)
    captured = capfd.readouterr()
    assert_nowhere(material, told_of(ended.value), captured.out, captured.err)
