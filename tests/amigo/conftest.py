"""Evaluations by the real lmms-eval in the tests' own process."""

from __future__ import annotations

import pytest
from loguru import logger


@pytest.fixture
def heard():
    """The log's warnings."""
    lines: list[str] = []
    sink = logger.add(lambda message: lines.append(str(message)), level="WARNING")
    yield lines
    logger.remove(sink)


@pytest.fixture
def evaluate(evaluator, task_manager):
    """Evaluate a model on a task; return lmms-eval's results of the task, and its sample log."""

    def run(model, task="amigo_synthetic", **options):
        options = {"task_manager": task_manager, "bootstrap_iters": 0, **options}
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
