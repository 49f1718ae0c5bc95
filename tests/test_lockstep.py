"""Episodes in lockstep against lmms-eval's own loop: the same transcripts, whatever the model shares between a batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lmms_tasks.lockstep import LIVE, live_episodes, with_lockstep
from tests.lmms_eval_process import BIN


@pytest.fixture(scope="module")
def stock(task_manager, tmp_path_factory):
    """The outputs of lmms-eval's own loop, played once."""
    from tests.amigo.hash_model import evaluate

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMMS_TASKS_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("LMMS_TASKS_LOCKSTEP", "0")
        outputs, batches = evaluate(False, task_manager=task_manager)
    assert set(batches) == {1} and len(outputs) == 85
    return outputs


@pytest.mark.parametrize("chat", [False, True], ids=["simple", "chat"])
@pytest.mark.parametrize("cache", [False, True], ids=["without cache", "with --use_cache"])
def test_transcripts_equal_those_of_the_stock_loop(stock, task_manager, chat, cache, tmp_path, monkeypatch):
    """The model's reply is a hash of the whole prompt and of the images, so one wrong image or word changes everything."""
    from tests.amigo.hash_model import evaluate

    monkeypatch.setenv("LMMS_TASKS_LOCKSTEP", "16")
    outputs, batches = evaluate(True, chat, str(tmp_path / "cache") if cache else None, task_manager)
    print(f"batches: {batches}")
    assert outputs == stock
    turns = [len(json.loads(output)["turns"]) for output in outputs.values()]
    assert sum(batches) == sum(turns) and max(batches) == 16
    # As long as episodes wait for a seat, every call is full.
    full = [size for size in batches if size == 16]
    assert batches[: len(full)] == full and len(full) >= 20


def test_a_second_run_with_the_same_cache_asks_the_model_nothing(task_manager, tmp_path, monkeypatch):
    """The model changes `generation_kwargs` in place: without copies the cache would never hit."""
    from lmms_eval import evaluator

    from lmms_tasks.amigo import agents
    from lmms_tasks.baselines.amigo import GreedySimple

    asked = []

    def careless(self, requests):
        asked.append(len(requests))
        replies = []
        for request in requests:
            request.args[1].pop("max_new_tokens")
            replies.append(
                agents.greedy(self.task_dict[request.args[4]][request.args[5]][request.args[3]], request.args[0])
            )
        return replies

    monkeypatch.setattr(GreedySimple, "generate_until", careless)
    seen = []
    for _ in range(2):
        results = evaluator.simple_evaluate(
            model="amigo_greedy",
            tasks=["amigo_synthetic"],
            task_manager=task_manager,
            use_cache=str(tmp_path / "cache"),
            force_simple=True,
            bootstrap_iters=0,
        )
        seen.append((sum(asked), results["results"]["amigo_synthetic"]["efficiency,none"]))
    assert seen[0][0] > 400 and seen[1] == seen[0]


def test_repeated_rows_are_never_live_together(task_manager, monkeypatch):
    from lmms_eval import evaluator

    from lmms_tasks.amigo import agents
    from lmms_tasks.baselines.amigo import PlayerSimple

    class Careful(PlayerSimple):
        agent = staticmethod(agents.greedy)

        def generate_until(self, requests):
            rows = [(request.args[4], request.args[3]) for request in requests]
            assert len(set(rows)) == len(rows)
            self.most = max(getattr(self, "most", 0), len(rows))
            return super().generate_until(requests)

    model = Careful()
    results = evaluator.simple_evaluate(
        model=model, tasks=["amigo_synthetic"], limit=5, repeats=3, task_manager=task_manager, bootstrap_iters=0
    )
    assert results["results"]["amigo_synthetic"]["identification_success,none"] == 1.0
    assert model.most == 5


@pytest.mark.parametrize("error", [RuntimeError("broken"), SystemExit("one sentence"), KeyboardInterrupt()])
def test_an_error_of_the_model_or_of_a_hook_ends_all_episodes_and_is_raised(task_manager, monkeypatch, error):
    import threading

    from lmms_eval import evaluator

    from lmms_tasks.amigo import hooks
    from lmms_tasks.baselines.amigo import PlayerSimple

    def fail(*arguments, **options):
        raise error

    class Failing(PlayerSimple):
        agent = staticmethod(fail)

    with pytest.raises(type(error)):
        evaluator.simple_evaluate(model=Failing(), tasks=["amigo_synthetic"], limit=4, task_manager=task_manager)
    if not isinstance(error, KeyboardInterrupt):
        monkeypatch.setattr(hooks, "play", fail)
        with pytest.raises(type(error)):
            evaluator.simple_evaluate(
                model="amigo_greedy", tasks=["amigo_synthetic"], limit=4, task_manager=task_manager
            )
    for thread in threading.enumerate():
        if thread.name.startswith("episode-"):
            thread.join(timeout=5)
            assert not thread.is_alive()


def test_tasks_of_others_and_all_tasks_with_the_variable_at_0_are_played_by_the_stock_loop(monkeypatch):
    calls = []

    def loop(lm, requests, agentic_trace_mode="basic", response_cache=None):
        calls.append((requests, agentic_trace_mode, response_cache))
        return [f"answer to {request}" for request in requests]

    class Foreign:
        args = ("prompt", {}, None, None, 0, "a_task_of_others", "test")

        def __str__(self):
            return "it"

    requests = [Foreign(), Foreign()]
    assert (
        with_lockstep(loop)(None, requests, agentic_trace_mode="full", response_cache="cache") == ["answer to it"] * 2
    )
    monkeypatch.setenv("LMMS_TASKS_LOCKSTEP", "0")
    with_lockstep(loop)(None, requests)
    assert calls == [(requests, "full", "cache"), (requests, "basic", None)]


def test_the_variable_is_a_number_of_episodes(monkeypatch):
    assert live_episodes() == LIVE == 32
    monkeypatch.setenv("LMMS_TASKS_LOCKSTEP", "7")
    assert live_episodes() == 7
    monkeypatch.setenv("LMMS_TASKS_LOCKSTEP", "yes")
    with pytest.raises(SystemExit, match="LMMS_TASKS_LOCKSTEP is 'yes'"):
        live_episodes()


@pytest.mark.parametrize(
    "arguments",
    [[], pytest.param(["--chat"], marks=pytest.mark.long), pytest.param(["--cache", "c"], marks=pytest.mark.long)],
)
def test_two_ranks_give_the_transcripts_of_the_stock_loop_on_one(stock, arguments, tmp_path):
    command = [
        str(BIN / "torchrun"),
        "--standalone",
        "--nproc_per_node=2",
        "-m",
        "tests.amigo.hash_model",
        str(tmp_path),
        "1",
    ]
    done = subprocess.run(
        [*command, *(str(tmp_path / one) if one == "c" else one for one in arguments)],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    print(*(line for line in done.stdout.splitlines() if line.startswith("rank")), sep="\n", file=sys.stdout)
    outputs = json.loads((tmp_path / "outputs.json").read_text())
    assert {int(doc_id): output for doc_id, output in outputs.items()} == stock
    # 43 and 42 rows: the second rank plays its last row once more, and that copy's answer is dropped.
    batches = [json.loads((tmp_path / f"batches{rank}.json").read_text()) for rank in (0, 1)]
    assert max(batches[0]) == max(batches[1]) == 16
