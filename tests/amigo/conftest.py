"""Evaluations by the real lmms-eval in the tests' own process."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def evaluator():
    import lmms_eval.evaluator

    return lmms_eval.evaluator


@pytest.fixture(scope="session")
def manager(evaluator):
    """lmms-eval's index of tasks, which takes it five seconds to make."""
    return evaluator.TaskManager()


@pytest.fixture
def evaluate(evaluator, manager):
    """Evaluate a model on a task; return lmms-eval's results of the task, and its sample log."""

    def run(model, task="amigo_synthetic", **options):
        options = {"task_manager": manager, "bootstrap_iters": 0, **options}
        results = evaluator.simple_evaluate(model=model, tasks=[task], **options)
        found = {name.removesuffix(",none"): value for name, value in results["results"][task].items()}
        return found, results["samples"][task]

    return run


@pytest.fixture
def player():
    """A model from a function of row and prompt, for simple or for chat tasks."""
    from lmms_tasks.baselines.amigo import PlayerChat, PlayerSimple

    def make(agent, chat=False):
        base = PlayerChat if chat else PlayerSimple
        return type("Player", (base,), {"agent": staticmethod(agent)})()

    return make
