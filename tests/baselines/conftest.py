"""Small tasks of every kind that the baselines have to answer, on images and rows made here."""

from __future__ import annotations

import os

# Before any import of a library of Hugging Face: what is tested here needs nothing from the hub.
os.environ["HF_HUB_OFFLINE"] = "1"

import shutil
from pathlib import Path

import pytest
import yaml

# Repeated golds, so that the next row whose gold differs is not always the next row. Eleven rows, so that two ranks
# do not get equally many.
ANSWERS = ("red", "red", "blue", "green", "green", "green", "红色", "blue", "red", "blue", "red")
COLOURS = {"red": (200, 0, 0), "blue": (0, 0, 200), "green": (0, 160, 0), "红色": (255, 0, 0)}
PIECES = {
    "baseline_simple": {
        "output_type": "generate_until",
        "doc_to_visual": "!hooks.visuals_of",
        "doc_to_text": "!hooks.text_of",
        "doc_to_target": "answer",
        "process_results": "!hooks.right",
    },
    "baseline_chat": {
        "output_type": "generate_until",
        "doc_to_messages": "!hooks.messages_of",
        "doc_to_text": "!hooks.text_of",
        "doc_to_target": "answer",
        "process_results": "!hooks.right",
    },
    "baseline_agentic": {
        "output_type": "generate_until_agentic",
        "doc_to_visual": "!hooks.visuals_of",
        "doc_to_text": "!hooks.episode_text",
        "doc_to_target": "answer",
        "process_results": "!hooks.right_in_every_round",
    },
    "baseline_text": {
        "output_type": "generate_until",
        "doc_to_text": "!hooks.text_of",
        "doc_to_target": "accepted",
        "process_results": "!hooks.right_in_list",
    },
    "baseline_loglikelihood": {
        "output_type": "multiple_choice",
        "doc_to_text": "!hooks.text_of",
        "doc_to_target": 0,
        "doc_to_choice": ["red", "blue"],
    },
}


@pytest.fixture(scope="session")
def task_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one YAML file a task, the hooks, and a parquet file with 0, 1 or 2 images a row."""
    import datasets
    from PIL import Image

    folder = tmp_path_factory.mktemp("tasks")
    shutil.copy(Path(__file__).with_name("hooks.py"), folder)
    rows = [
        {
            "id": f"row-{number}",
            "question": f"Which colour has image {number}? 什么颜色？",
            "answer": answer,
            "accepted": [answer, "none"],
            "images": [Image.new("RGB", (70 + number, 50), COLOURS[answer])] * (number % 3),
        }
        for number, answer in enumerate(ANSWERS)
    ]
    text = datasets.Value("string")
    features = {"id": text, "question": text, "answer": text}
    features |= {"accepted": datasets.Sequence(text), "images": datasets.Sequence(datasets.Image())}
    datasets.Dataset.from_list(rows, features=datasets.Features(features)).to_parquet(folder / "rows.parquet")
    for name, pieces in PIECES.items():
        generation = {"until": [], "max_new_tokens": 1000, "temperature": 0, "do_sample": False}
        config = {
            "task": name,
            "dataset_path": "parquet",
            "dataset_kwargs": {"data_files": {"test": str(folder / "rows.parquet")}},
            "test_split": "test",
            "num_fewshot": 0,
            "generation_kwargs": generation,
            "metadata": {"version": 1.0},
            **pieces,
        }
        if config["output_type"] != "multiple_choice":
            config["metric_list"] = [{"metric": "right", "aggregation": "mean", "higher_is_better": True}]
        written = yaml.safe_dump(config, allow_unicode=True).replace("'!hooks.", "!function 'hooks.")
        (folder / f"{name}.yaml").write_text(written, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def manager(task_folder: Path):
    """lmms-eval's index of the tasks above, built once."""
    import lmms_eval.evaluator  # noqa: F401  before the index, or plugins are not in it
    from lmms_eval.tasks import TaskManager

    return TaskManager(include_path=str(task_folder), include_defaults=False)


@pytest.fixture(scope="session")
def evaluate(manager):
    """Run a model object on tasks; return each task's value of `right` and its answers by row."""
    from lmms_eval.evaluator import simple_evaluate

    def run(model, *names: str) -> tuple[dict[str, float], dict[str, dict[int, str]]]:
        results = simple_evaluate(
            model=model, tasks=list(names), task_manager=manager, bootstrap_iters=0, log_samples=True
        )
        answers = {
            name: {sample["doc_id"]: sample["resps"][0][0] for sample in results["samples"][name]} for name in names
        }
        return {name: results["results"][name]["right,none"] for name in names}, answers

    return run


@pytest.fixture(scope="session")
def tasks_of(manager):
    """Build tasks as lmms-eval builds them for simple and for chat models."""
    from lmms_eval.tasks import get_task_dict

    return lambda kind, *names: get_task_dict(list(names), manager, kind)


@pytest.fixture(scope="session")
def golds() -> tuple[str, ...]:
    return ANSWERS


@pytest.fixture(scope="session")
def models_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module", autouse=True)
def _own_home(models_home: Path):
    """Keep what the models build out of the user's own folder; all tests here share one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMMS_TASKS_HOME", str(models_home))
        yield
