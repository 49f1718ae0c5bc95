"""What all tests share: no hub, a home of their own, and the real data where it lies beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from loguru import logger

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `LMMS_TASKS_HOME` of the test's own, and none of the user's judges or rows."""
    for name in list(os.environ):
        if name.startswith(("LMMS_TASKS_", "OPENAI_")) or name.endswith("_DATA"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("LMMS_TASKS_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real rows, photographs and reference scores, which lie beside the checkout and are not part of it."""
    folder = CHECKOUT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"needs the reference data in {folder}")
    return folder


@pytest.fixture(scope="session")
def evaluator():
    """lmms-eval's evaluator, in the tests' own process."""
    import lmms_eval.evaluator

    return lmms_eval.evaluator


@pytest.fixture(scope="session")
def task_manager(evaluator):
    """lmms-eval's index of tasks, which takes it five seconds to make."""
    return evaluator.TaskManager()


@pytest.fixture
def told():
    """The log's messages."""
    messages: list[str] = []
    handler = logger.add(lambda message: messages.append(str(message)), format="{level} {message}")
    yield messages
    logger.remove(handler)


@pytest.fixture
def impatient_judge(monkeypatch, tmp_path):
    """Let a profile of one judge that waits for nothing point to a scripted server, for a use."""

    def for_use(use: str, tries: int, concurrency: int):
        profile = tmp_path / "impatient.toml"
        profile.write_text(
            f'[[{use}.judges]]\nname = "scripted"\nmodel = "judge"\nretry_delay = 0.01\ntries = {tries}\n'
            f"concurrency = {concurrency}\n"
        )

        def point(server):
            monkeypatch.setenv("LMMS_TASKS_JUDGES", str(profile))
            monkeypatch.setenv("LMMS_TASKS_JUDGE_SCRIPTED_BASE_URL", server.base_url)
            return server

        return point

    return for_use
