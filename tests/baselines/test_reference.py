from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter

import pytest

GENERATION = ("baseline_simple", "baseline_chat", "baseline_agentic", "baseline_text")


@pytest.fixture(scope="module")
def reference():
    import lmms_eval.evaluator  # noqa: F401  before our module, as in a run

    from lmms_tasks.baselines import reference

    return reference


def drawn_wrong(rate: float, seed: int, task: str, rows: int) -> list[int]:
    """The rows that are to be wrong, by the published rule and not by the code under test."""

    def number(row: int) -> float:
        return int(hashlib.sha256(f"{seed}\n{task}\n{row}".encode()).hexdigest()[:16], 16) / 16**16

    return [row for row in range(rows) if number(row) < rate]


def requests_of(task, lm) -> list:
    """The task's requests as lmms-eval builds them, with the rows where a model looks for them."""
    task.build_all_requests(limit=None, rank=0, world_size=1)
    lm.task_dict[task.config.task] = task.dataset
    return task.instances


@pytest.mark.parametrize("kind", ["ReferenceSimple", "ReferenceChat"])
def test_the_reference_is_right_on_simple_chat_agentic_and_text_tasks(evaluate, reference, kind):
    values, _ = evaluate(getattr(reference, kind)(), *GENERATION)
    assert values == dict.fromkeys(GENERATION, 1.0)


def test_each_request_opens_its_visuals_or_messages_once(evaluate, reference, golds, tmp_path, monkeypatch):
    monkeypatch.setenv("BASELINES_CALLS", str(tmp_path / "calls"))
    evaluate(reference.ReferenceSimple(), "baseline_simple")
    evaluate(reference.ReferenceChat(), "baseline_chat")
    calls = Counter((tmp_path / "calls").read_text().splitlines())
    hooks = ("doc_to_visual", "doc_to_messages")
    assert calls == {f"{hook} row-{number}": 1 for hook in hooks for number in range(len(golds))}


def test_an_image_that_cannot_be_decoded_ends_the_run(tasks_of, reference, tmp_path):
    # lmms-eval lets PIL pad truncated files; an image whose file was closed before it was read shows the same.
    from PIL import Image

    def closed(row):
        with (tmp_path / "picture.png").open("rb") as file:
            return [Image.open(file)]

    Image.new("RGB", (64, 64)).save(tmp_path / "picture.png")
    task = tasks_of("simple", "baseline_simple")["baseline_simple"]
    lm = reference.ReferenceSimple()
    request = requests_of(task, lm)[0]
    task.config.doc_to_visual = closed
    with pytest.raises(ValueError, match="closed file"):
        lm.generate_until([request])


@pytest.mark.parametrize(
    ("kind", "task"),
    [("ReferenceSimple", "baseline_simple"), ("ReferenceChat", "baseline_chat"), ("ReferenceChat", "baseline_agentic")],
)
def test_error_rate_gives_the_drawn_rows_the_next_gold_that_differs(evaluate, reference, golds, kind, task):
    wrong = drawn_wrong(0.3, 5, task, len(golds))
    assert 0 < len(wrong) < len(golds)
    values, answers = evaluate(getattr(reference, kind)(error_rate=0.3, seed=5), task)
    assert values[task] == pytest.approx(1 - len(wrong) / len(golds))
    for row, gold in enumerate(golds):
        following = [*golds[row + 1 :], *golds[:row]]
        expected = next(other for other in following if other != gold) if row in wrong else gold
        given = answers[task][row]
        assert (set(json.loads(given)["answers"]) if task == "baseline_agentic" else {given}) == {expected}


def test_the_wrong_rows_do_not_depend_on_order_company_or_run(tasks_of, reference):
    task = tasks_of("simple", "baseline_simple")["baseline_simple"]

    def answers(order):
        lm = reference.ReferenceSimple(error_rate=0.5, seed=1)
        requests = requests_of(task, lm)
        return {position: lm.generate_until([requests[position]])[0] for position in order(range(len(requests)))}

    lm = reference.ReferenceSimple(error_rate=0.5, seed=1)
    together = dict(enumerate(lm.generate_until(requests_of(task, lm))))
    assert answers(list) == answers(reversed) == together
    other = reference.ReferenceSimple(error_rate=0.5, seed=2)
    assert dict(enumerate(other.generate_until(requests_of(task, other)))) != together


def test_three_tenths_of_many_rows_are_drawn(reference):
    # The standard deviation of the share is sqrt(0.3 * 0.7 / 10,000) = 0.0046; the bound is four of them.
    share = sum(reference.uniform(0, "a_task", row) < 0.3 for row in range(10_000)) / 10_000
    assert share == pytest.approx(0.3, abs=0.0184)


def test_error_rates_of_zero_and_one_are_exact(evaluate, reference):
    assert evaluate(reference.ReferenceSimple(error_rate=0), "baseline_simple")[0] == {"baseline_simple": 1.0}
    assert evaluate(reference.ReferenceSimple(error_rate=1), "baseline_simple")[0] == {"baseline_simple": 0.0}


@pytest.mark.parametrize(
    ("target", "expected"),
    [("red", "red"), (["red", "crimson"], "red"), ([], ""), (None, ""), (2, "2"), (0.5, "0.5")],
)
def test_a_target_becomes_text(tasks_of, reference, target, expected):
    task = tasks_of("simple", "baseline_simple")["baseline_simple"]
    task.config.doc_to_target = lambda row: target
    assert reference.GoldAnswers("baseline_simple", task, error_rate=0, seed=0).answer(0) == expected


def test_a_wrong_answer_is_empty_where_all_golds_are_equal(tasks_of, reference):
    task = tasks_of("simple", "baseline_simple")["baseline_simple"]
    task.config.doc_to_target = lambda row: "red"
    assert reference.GoldAnswers("baseline_simple", task, error_rate=1, seed=0).answer(3) == ""


def test_later_rounds_find_the_task_that_the_first_round_carried(tasks_of, reference, golds):
    from lmms_eval.api.instance import Instance

    task = tasks_of("simple", "baseline_simple")["baseline_simple"]
    lm = reference.ReferenceSimple()
    first = requests_of(task, lm)[2]
    later = Instance(
        request_type="generate_until",
        arguments=("Round 2.", {}, lambda row: [], 2, "baseline_simple", "test"),
        idx=0,
        metadata=first.metadata,
    )
    with pytest.raises(SystemExit, match="cannot find the task baseline_simple"):
        lm.generate_until([later])
    assert lm.generate_until([first, later]) == [golds[2], golds[2]]
    told = reference.ReferenceSimple()
    told.task_dict = lm.task_dict
    told.receive_tasks({"baseline_simple": task})
    assert told.generate_until([later]) == [golds[2]]


def test_a_task_that_replaces_another_of_its_name_gives_its_own_golds(tasks_of, reference, golds):
    lm = reference.ReferenceSimple()
    old, new = (tasks_of("simple", "baseline_simple")["baseline_simple"] for _ in range(2))
    new.config.doc_to_target = lambda row: f"new {row['answer']}"
    assert lm.generate_until(requests_of(old, lm)) == list(golds)
    assert lm.generate_until(requests_of(new, lm)) == [f"new {gold}" for gold in golds]


def test_a_log_likelihood_task_is_refused_with_a_sentence(evaluate, reference):
    with pytest.raises(SystemExit, match=r"generate_until_agentic only, not baseline_loglikelihood \(loglikelihood\)"):
        evaluate(reference.ReferenceSimple(), "baseline_loglikelihood")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"error_rate": 1.1}, "error_rate from 0 to 1, and got 1.1"),
        ({"error_rate": -0.1}, "error_rate from 0 to 1, and got -0.1"),
        ({"error_rate": float("nan")}, "error_rate from 0 to 1, and got nan"),
        ({"error_rate": "many"}, "error_rate from 0 to 1, and got 'many'"),
        ({"seed": 1.5}, "whole number as seed, and got 1.5"),
        ({"errors": 1}, "has no argument errors: it takes error_rate and seed"),
    ],
)
def test_wrong_arguments_end_with_a_sentence(reference, arguments, sentence):
    with pytest.raises(SystemExit, match=sentence):
        reference.ReferenceSimple(**arguments)


def test_importing_the_list_of_models_imports_no_torch():
    code = "import sys, lmms_tasks.baselines; print('torch' in sys.modules, 'lmms_eval' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_listed_classes_are_what_lmms_eval_demands():
    from lmms_eval.models.registry_v2 import ModelManifest, ModelRegistryV2

    from lmms_tasks.baselines import MODELS

    registry = ModelRegistryV2()
    for name, simple, chat in MODELS:
        registry.register_manifest(ModelManifest(model_id=name, simple_class_path=simple, chat_class_path=chat))
        # The registry itself checks that these are models and that `is_simple` fits.
        assert registry.get_model_class(name, force_simple=True).is_simple
        assert not registry.get_model_class(name).is_simple


@pytest.mark.long
@pytest.mark.parametrize("flags", [[], ["--force_simple"]], ids=["chat", "simple"])
def test_two_ranks_give_the_answers_of_one(evaluate, reference, golds, task_folder, tmp_path, flags):
    # Of eleven rows one rank gets six and the other five, and a padding request.
    names = ("baseline_chat", "baseline_agentic") if not flags else ("baseline_simple", "baseline_agentic")
    model = reference.ReferenceSimple if flags else reference.ReferenceChat
    values, answers = evaluate(model(error_rate=0.3, seed=5), *names)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    command += ["-m", "lmms_eval", "--model", "reference", "--model_args", "error_rate=0.3,seed=5", *flags]
    command += ["--tasks", ",".join(names), "--include_path", str(task_folder)]
    command += ["--output_path", str(tmp_path), "--log_samples"]
    done = subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    results = list(tmp_path.rglob("*_results.json"))
    assert len(results) == 1, done.stderr[-3000:]
    written = json.loads(results[0].read_text())["results"]
    for name in names:
        assert written[name]["right,none"] == pytest.approx(values[name])
        log = next(tmp_path.rglob(f"*_samples_{name}.jsonl")).read_text(encoding="utf-8")
        samples = [json.loads(line) for line in log.splitlines()]
        assert sorted(sample["doc_id"] for sample in samples) == list(range(len(golds)))
        assert {sample["doc_id"]: sample["filtered_resps"] for sample in samples} == answers[name]
