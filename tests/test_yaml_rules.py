"""A walk over every YAML file: the rules of lmms-eval that cost a run when they are broken, and our own."""

from __future__ import annotations

import inspect
import itertools

import pytest
import yaml

from lmms_tasks.benchmarks import import_name, read_catalogue

CATALOGUE = read_catalogue()
TASKS = list(CATALOGUE.tasks.values())
GROUPS = list(CATALOGUE.groups.values())

# Names that lmms-eval's sample log uses itself: a metric so named would overwrite the log.
LOG_FIELDS = {"doc", "target", "resps", "doc_id", "arguments", "filtered_resps", "input"}
# The groups that have a number of their own, and its name; all others print their members.
AVERAGED = {
    "mirage_mmst": "site_weighted_score,none",
    "mirage_mmst_sample": "site_weighted_score,none",
    "sgmri_vqa": "average,none",
    "sgmri_vqa_sample": "average,none",
}
HOOKS = ("process_docs", "doc_to_visual", "doc_to_text", "doc_to_target", "doc_to_messages", "process_results")


def by_name(spec):
    return spec.name


def test_there_is_something_to_walk_over():
    assert {"mirage_mmst_id", "mirage_mmst_mg", "mirage_mmst_contextual_mg"} <= CATALOGUE.tasks.keys()
    assert {"mirage_mmst", "mirage_mmst_sample"} <= CATALOGUE.groups.keys()


@pytest.mark.parametrize("task", TASKS, ids=by_name)
def test_a_task_sets_everything_that_lmms_eval_would_choose_badly(task):
    config = task.config
    assert config["num_fewshot"] == 0
    assert config["reasoning_tags"] == "none"
    # Without it lmms-eval scores the first answer of `--repeats` and drops the others without a word.
    assert config["filter_list"] == [{"name": "none", "filter": []}]
    generation = config["generation_kwargs"]
    # Without `until` lmms-eval cuts every answer at its first blank line.
    assert generation["until"] == []
    assert generation["temperature"] == 0 and generation["top_p"] is None
    assert generation["num_beams"] == 1 and generation["do_sample"] is False
    assert generation["max_new_tokens"] >= 1024


@pytest.mark.parametrize("task", TASKS, ids=by_name)
def test_a_task_has_a_version_in_a_mapping(task):
    assert isinstance(task.config["metadata"], dict)
    assert isinstance(task.config["metadata"]["version"], float)
    # lmms-eval merges this mapping into each request's own metadata.
    assert not {"task", "doc_id", "repeats", "split"} & task.config["metadata"].keys()


@pytest.mark.parametrize("task", TASKS, ids=by_name)
def test_each_metric_has_a_direction_and_a_plain_aggregator(task):
    names = [metric.name for metric in task.metrics]
    assert len(names) == len(set(names)) > 0
    for metric in task.metrics:
        assert isinstance(metric.higher_is_better, bool)
        assert metric.name not in LOG_FIELDS and "," not in metric.name
        aggregate = import_name(metric.aggregation)
        # A parameter named `args` would receive the command line, and None from Python.
        assert list(inspect.signature(aggregate).parameters) == ["items"]
        assert isinstance(aggregate([]), float)


@pytest.mark.parametrize("task", TASKS, ids=by_name)
def test_hooks_are_named_absolutely_and_exist(task):
    for key in HOOKS:
        if key in task.config:
            assert task.config[key].startswith("lmms_tasks.")
            assert callable(task.hook(key))


@pytest.mark.parametrize("task", TASKS, ids=by_name)
def test_a_judged_task_tells_what_stands_behind_its_numbers(task):
    names = {metric.name for metric in task.metrics}
    if task.judge_use:
        assert {"judged_coverage", "judgements_per_sample"} <= names


@pytest.mark.parametrize("task", TASKS, ids=by_name)
def test_a_sample_task_reads_a_file_that_ships_and_a_real_one_does_not(task):
    assert task.on_samples == (task.name.endswith("_sample") or "synthetic" in task.name)
    if task.on_samples:
        for file in task.config["dataset_kwargs"]["data_files"].values():
            assert (task.path.parent / file).is_file()
    else:
        assert "samples" not in str(task.config.get("dataset_kwargs"))


@pytest.mark.parametrize("group", GROUPS, ids=by_name)
def test_members_of_a_group_exist_and_none_is_reached_twice(group):
    assert all(name in CATALOGUE.tasks or name in CATALOGUE.groups for name in group.members)
    reached = list(itertools.chain.from_iterable(CATALOGUE.leaves([name]) for name in group.members))
    names = [task.name for task in reached]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("group", GROUPS, ids=by_name)
def test_only_the_groups_with_a_published_number_average_and_only_that_one(group):
    assert list(group.averages) == ([AVERAGED[group.name]] if group.name in AVERAGED else [])
    config = yaml.safe_load(group.path.read_text())
    assert all(
        entry["aggregation"] == "mean" and entry["weight_by_size"] is False
        for entry in config.get("aggregate_metric_list", [])
    )
    assert isinstance(config["metadata"]["version"], float)


@pytest.mark.parametrize("group", [group for group in GROUPS if group.averages], ids=by_name)
def test_the_name_of_an_averaged_metric_is_part_of_no_other_metrics_name(group):
    # lmms-eval matches a group's metric against those of its tasks by substring.
    (averaged,) = group.averages
    base = averaged.removesuffix(",none")
    names = {metric.name for task in CATALOGUE.leaves([group.name]) for metric in task.metrics}
    assert base in names
    assert not [name for name in names if name != base and base in name]


def test_a_group_and_a_task_never_share_a_name():
    assert not CATALOGUE.tasks.keys() & CATALOGUE.groups.keys()
    assert len({spec.path for spec in [*TASKS, *GROUPS]}) == len(TASKS) + len(GROUPS)
    for spec in [*TASKS, *GROUPS]:
        assert spec.path.stem == spec.name


def test_the_sample_group_mirrors_the_real_one():
    for name, group in CATALOGUE.groups.items():
        if twin := CATALOGUE.groups.get(f"{name}_sample"):
            assert tuple(f"{member}_sample" for member in group.members) == twin.members
            for member in group.members:
                real, sample = CATALOGUE.tasks[member], CATALOGUE.tasks[f"{member}_sample"]
                assert real.metrics == sample.metrics
                assert real.config["generation_kwargs"] == sample.config["generation_kwargs"]


def test_one_group_holds_everything_on_shipped_data():
    reached = {task.name for task in CATALOGUE.leaves(["lmms_tasks_samples"])}
    assert all(CATALOGUE.tasks[name].on_samples for name in reached)
    assert {CATALOGUE.tasks[name].benchmark.name for name in reached} == {
        "mirage",
        "amigo",
        "mmdeepresearch_bench",
        "sgmri_vqa",
    }
