"""Evaluations by the real lmms-eval inside one process, where each costs a second and not the twelve of a start."""

from __future__ import annotations

import json
import math
import sys

import PIL.Image
import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.sources import load_rows
from tests.judge_server import Answer, JudgeServer

TASK = "mirage_mmst_mg_sample"
FULL = json.dumps({"accuracy": 4, "relevance": 3, "completeness": 2, "parsimony": 1})  # (8 + 3 + 2 + 1) / 20 = 0.7


@pytest.fixture
def evaluate(evaluator, task_manager):
    """Evaluate tasks with a scripted model and return lmms-eval's results."""
    from tests.scripted_model import ScriptedModel

    def run(script, tasks=(TASK,), **options):
        options = {"task_manager": task_manager, "bootstrap_iters": 0, **options}
        return evaluator.simple_evaluate(model=ScriptedModel(script), tasks=list(tasks), **options)

    return run


@pytest.fixture
def judged_by(impatient_judge):
    return impatient_judge("mirage.mmst", tries=3, concurrency=16)


def rows(task=TASK):
    return load_rows(read_catalogue().tasks[task])


def test_python_needs_no_flag_and_no_variable(evaluate):
    results = evaluate(lambda task, doc_id, n: rows()[doc_id]["answer"], task_manager=None)["results"]
    assert results[TASK]["w_sum,none"] == 1.0
    assert results[TASK]["judgements_per_sample,none"] == 0.0


REASONING = {
    "complete block": ("<think>Rust or mildew?</think>Mildew; cut it back and water at the roots.", True),
    "lone closing tag": ("Rust or mildew?</think>Mildew; cut it back and water at the roots.", True),
    "unclosed opening tag": ("<think>Rust or mildew? It could be", False),
    "none": ("Mildew; cut it back and water at the roots.", True),
}


def test_reasoning_is_stripped_before_judging_and_an_unclosed_block_is_no_answer(evaluate, judged_by):
    """Python and command line agree: `tests/test_command_line.py` has the same answers and the same numbers."""
    kinds = list(REASONING.values())
    with judged_by(JudgeServer(FULL)) as server:
        results = evaluate(lambda task, doc_id, n: kinds[doc_id % 4][0])
    total = len(rows())
    unanswered = len([doc_id for doc_id in range(total) if doc_id % 4 == 2])
    assert results["results"][TASK]["w_sum,none"] == pytest.approx(0.7 * (total - unanswered) / total, abs=1e-12)
    assert results["results"][TASK]["judged_coverage,none"] == 1.0
    # The three answered kinds are one text to the judge, and no request is made for an unclosed block.
    assert server.count == total - unanswered
    assert all("Rust or mildew" not in request.prompt for request in server.requests)
    statuses = [sample["judged_coverage"]["status"] for sample in results["samples"][TASK]]
    assert statuses.count("unclosed_reasoning") == unanswered


def test_lmms_evals_failure_text_is_unscored_and_counted_and_never_judged(evaluate, judged_by):
    failed = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout"
    with judged_by(JudgeServer(FULL)) as server:
        results = evaluate(lambda task, doc_id, n: failed if doc_id == 0 else "Water it.")["results"][TASK]
    total = len(rows())
    assert server.count == total - 1
    assert results["judged_coverage,none"] == (total - 1) / total < 0.95
    assert math.isnan(results["w_sum,none"])
    assert results["w_sum_strict,none"] == pytest.approx(0.7 * (total - 1) / total)


def test_a_judge_that_dies_in_the_middle_leaves_nan_and_loses_nothing(evaluate, judged_by, monkeypatch):
    def script(body, number):
        return FULL if number < 5 else Answer(drop=True)

    total = len(rows())
    with judged_by(JudgeServer(script)) as server:
        results = evaluate(lambda task, doc_id, n: f"Answer {doc_id}.")
        assert results["results"][TASK]["judged_coverage,none"] == 5 / total
        assert math.isnan(results["results"][TASK]["w_sum,none"])
        assert results["results"][TASK]["w_sum_strict,none"] == pytest.approx(0.7 * 5 / total)
        assert len(results["samples"][TASK]) == total
    # Back again, the judge is asked for the rest only.
    with judged_by(JudgeServer(FULL, port=server.port)) as healthy:
        results = evaluate(lambda task, doc_id, n: f"Answer {doc_id}.")["results"][TASK]
        assert results["w_sum,none"] == pytest.approx(0.7)
        assert healthy.count == total - 5


def test_repeated_answers_are_each_judged_once_and_the_row_is_their_mean(evaluate, judged_by):
    def script(body, number):
        good = "Good answer" in body["messages"][-1]["content"]
        return json.dumps(dict.fromkeys(("accuracy", "relevance", "completeness", "parsimony"), 4 if good else 1))

    total = len(rows())
    with judged_by(JudgeServer(script)) as server:
        results = evaluate(lambda task, doc_id, n: ("Good answer", "Poor answer")[n] + f" {doc_id}.", repeats=2)
    # 1.0 and 0.25 a row.
    assert results["results"][TASK]["w_sum,none"] == pytest.approx(0.625)
    assert server.count == 2 * total
    assert {sample["w_sum"]["score"] for sample in results["samples"][TASK]} == {0.625}


def test_a_wrong_key_ends_the_run_before_the_model_answers(evaluate, judged_by):
    refusal = Answer({"error": {"message": "Incorrect API key provided."}}, status=401)
    asked = []
    with judged_by(JudgeServer(FULL, models=refusal)), pytest.raises(SystemExit) as ended:
        evaluate(lambda task, doc_id, n: asked.append(doc_id) or "")
    assert "Incorrect API key provided" in ended.value.code
    assert asked == []


def test_a_key_refused_at_the_first_call_ends_the_run_and_keeps_the_answers(evaluate, judged_by, home, capsys):
    refusal = Answer({"error": {"message": "This key may not use this model."}}, status=403)
    with judged_by(JudgeServer(refusal)) as server, pytest.raises(SystemExit) as ended:
        evaluate(lambda task, doc_id, n: f"Answer {doc_id}.")
    assert "This key may not use this model" in ended.value.code
    # Rows that were asked side by side with the first, and not one more.
    assert server.count <= 16
    (kept,) = (home / "answers").glob(f"*_{TASK}.jsonl")
    from lmms_tasks.cli import main

    with judged_by(JudgeServer(FULL)):
        assert main(["score", TASK, str(kept), "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert scored["results"][TASK]["w_sum,none"] == pytest.approx(0.7)
    assert scored["n-samples"][TASK]["answered"] == len(rows())


def test_answers_are_not_kept_once_the_scores_are_there(evaluate, home):
    evaluate(lambda task, doc_id, n: "Water it.")
    assert list((home / "answers").iterdir()) == []


def test_the_number_of_scoring_threads_follows_the_panel(evaluate, judged_by):
    with judged_by(JudgeServer(lambda body, number: Answer(FULL, latency=0.2))) as server:
        evaluate(lambda task, doc_id, n: f"Answer {doc_id}.")
    assert server.most_at_once > 8  # lmms-eval's default of 4 threads would allow 4


def test_the_manifest_of_a_python_run_lies_in_the_home(evaluate, home):
    evaluate(lambda task, doc_id, n: rows()[doc_id]["answer"])
    (path,) = (home / "runs").glob(f"*_lmms_tasks_{TASK}.json")
    manifest = json.loads(path.read_text())
    assert manifest["panel"]["profile"] == "offline"
    assert manifest["answers"] == {"judged": len(rows())}
    assert manifest["data"]["fingerprint"] and manifest["data"]["source"] == "shipped samples"
    assert set(manifest["breakdowns"]["by_n_images"]) == {"1", "2", "3"}


def test_from_the_command_line_no_image_is_decoded_in_scoring(evaluator, monkeypatch, tmp_path):
    import lmms_eval.__main__ as command

    from lmms_tasks.baselines.reference import ReferenceSimple

    opened = {"generating": 0, "scoring": 0}
    phase = ["generating"]
    pil_open, clean = PIL.Image.open, ReferenceSimple.clean

    def counting(*arguments, **options):
        opened[phase[0]] += 1
        return pil_open(*arguments, **options)

    def clean_and_turn(self):
        clean(self)
        phase[0] = "scoring"

    monkeypatch.setattr(PIL.Image, "open", counting)
    monkeypatch.setattr(ReferenceSimple, "clean", clean_and_turn)
    arguments = ["lmms-eval", "--model", "reference", "--force_simple", "--tasks", "mirage_mmst_sample"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--output_path", str(tmp_path), "--log_samples"])
    command.cli_evaluate()
    assert opened == {"generating": 78, "scoring": 0}  # each of the 78 shipped images once
    assert list(tmp_path.rglob("*_results.json"))


def test_ctrl_c_while_judging_returns_within_3_seconds_and_keeps_the_answers(evaluate, judged_by, home):
    import os
    import signal
    import threading
    import time

    with judged_by(JudgeServer(lambda body, number: Answer(FULL, latency=30))) as server:

        def press_once_asked():
            while server.count < 4:
                time.sleep(0.05)
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        pressed: list[float] = []
        threading.Thread(target=press_once_asked, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            evaluate(lambda task, doc_id, n: f"Answer {doc_id}.")
        assert time.monotonic() - pressed[0] < 3
    assert len(list((home / "answers").glob(f"*_{TASK}.jsonl"))) == 1


def test_two_evaluations_with_different_judges_in_one_process_give_each_its_own_numbers(evaluate, judged_by):
    poor = json.dumps(dict.fromkeys(("accuracy", "relevance", "completeness", "parsimony"), 1))
    found = []
    for reply in (FULL, poor):
        with judged_by(JudgeServer(reply)):
            results = evaluate(lambda task, doc_id, n: f"Answer {doc_id}.")["results"][TASK]
            found.append((results["w_sum,none"], results["judgements_per_sample,none"]))
    assert found == [(pytest.approx(0.7), 1.0), (pytest.approx(0.25), 1.0)]


def test_the_judges_tokens_are_in_lmms_evals_own_summary(evaluate, judged_by):
    with judged_by(JudgeServer(FULL)) as server:
        usage = evaluate(lambda task, doc_id, n: f"Answer {doc_id}.")["usage"]
    # The server reports 100 tokens in and 20 out for each reply.
    judge = usage["by_source"]["judge"]
    assert (judge["input_tokens"], judge["output_tokens"]) == (100 * server.count, 20 * server.count)
    assert judge["n_api_calls"] == server.count == len(rows())
