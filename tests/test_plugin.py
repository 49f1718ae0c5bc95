"""The plugin inside lmms-eval: it makes tasks known, and steps aside rather than break anything."""

from __future__ import annotations

import subprocess
import sys

import pytest
from loguru import logger

from lmms_tasks import harness


@pytest.fixture
def warnings():
    """What is logged while the test runs."""
    told: list[str] = []
    sink = logger.add(lambda message: told.append(str(message)), level="WARNING", format="{message}")
    yield told
    logger.remove(sink)


def test_a_wrap_leaves_a_function_alone_that_lacks_what_it_needs(warnings):
    class Evaluator:
        @staticmethod
        def evaluate(lm, tasks):
            return "untouched"

    before = Evaluator.evaluate
    harness._wrap(Evaluator, "evaluate", lambda original: lambda *args: "wrapped", needs=("lm", "task_dict"))
    assert Evaluator.evaluate is before and Evaluator.evaluate(1, 2) == "untouched"
    assert len(warnings) == 1 and "task_dict" in warnings[0] and "Evaluator.evaluate" in warnings[0]


def test_a_wrap_leaves_a_function_alone_that_is_gone(warnings):
    class Evaluator:
        pass

    harness._wrap(Evaluator, "evaluate", lambda original: original, needs=("lm",))
    assert not hasattr(Evaluator, "evaluate") and "Evaluator.evaluate" in warnings[0]


def test_a_wrap_is_installed_once():
    class Evaluator:
        calls = 0

        @staticmethod
        def evaluate(lm):
            return lm

    def counting(original):
        def evaluate(lm):
            Evaluator.calls += 1
            return original(lm)

        return evaluate

    for _ in range(2):
        harness._wrap(Evaluator, "evaluate", counting, needs=("lm",))
    assert Evaluator.evaluate("x") == "x" and Evaluator.calls == 1


def test_a_plugin_that_fails_to_load_is_a_warning_and_lmms_eval_works_without_it():
    # None in sys.modules makes the import fail, as a broken installation does.
    code = (
        "import sys; sys.modules['lmms_tasks.baselines'] = None\n"
        "from lmms_eval import models\n"
        "names = models.list_available_models()\n"
        "print('dummy' in names, 'reference' in names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().splitlines()[-1] == "True False"
    assert "lmms-tasks could not be loaded" in done.stdout + done.stderr


def test_the_evaluator_is_wrapped_before_anybody_can_import_it():
    from lmms_eval.evaluator import evaluate, simple_evaluate

    assert evaluate._lmms_tasks and simple_evaluate._lmms_tasks


def test_a_task_of_the_same_name_that_hides_ours_is_told(tmp_path, warnings):
    import lmms_eval.evaluator

    (tmp_path / "other.yaml").write_text("task: mirage_mmst_id\ndataset_path: somewhere/else\n")
    manager = lmms_eval.evaluator.TaskManager(include_path=str(tmp_path), include_defaults=False)
    assert manager.task_index["mirage_mmst_id"]["yaml_path"].startswith(str(tmp_path))
    assert len([told for told in warnings if "mirage_mmst_id of lmms-tasks is hidden" in told]) == 1
