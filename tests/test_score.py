"""`lmms-tasks score` on the official sample, judged over HTTP by a server that returns the recorded scores."""

from __future__ import annotations

import json

import pytest

from lmms_tasks.cli import main
from tests.judge_server import JudgeServer

FACETS = ("accuracy", "relevance", "completeness", "parsimony")
# Means of the recorded scores of judge Qwen3-32B on subject gpt-4o-mini (../shared/data/mirage/aggregates.json).
ID_RECORDED = {"identification_accuracy_official": 0.0, "reasoning_score": 2.0, "site_weighted_score": 50 / 3}
MG_RECORDED = {"mg_accuracy": 2.6, "mg_relevance": 3.2, "mg_completeness": 2.0, "mg_parsimony": 2.8, "w_sum": 0.66}
CONTEXTUAL_RECORDED = {
    "mg_accuracy": 2.5,
    "mg_relevance": 2.75,
    "mg_completeness": 1.75,
    "mg_parsimony": 2.5,
    "w_sum": 0.6,
}


@pytest.fixture
def samples(shared_data):
    return shared_data / "mirage" / "samples"


@pytest.fixture
def recorded_judge(shared_data, samples, monkeypatch):
    """A judge on loopback that knows each row by its question and answers with the recorded scores."""
    recorded = json.loads((shared_data / "mirage" / "judge_scores.json").read_text())
    rows = [row for name in ("standard", "contextual") for row in _rows(samples / f"sample_{name}_benchmark.json")]

    def script(body: dict, number: int) -> str:
        prompt = body["messages"][-1]["content"]
        (row,) = [row for row in rows if row["question"] in prompt]
        (scores,) = [entry for entries in recorded.values() for entry in entries if entry["id"] == row["id"]]
        if "reasoning_accuracy" in scores:
            names = {"identification_accuracy": "identification_accuracy", "reasoning_accuracy": "reasoning"}
        else:
            names = dict(zip(FACETS, FACETS, strict=True))
        return json.dumps({ours: scores[official] for official, ours in names.items()})

    with JudgeServer(script, models=["recorded"]) as server:
        monkeypatch.setenv("LMMS_TASKS_JUDGES", "single")
        monkeypatch.setenv("LMMS_TASKS_JUDGE_SINGLE_BASE_URL", server.base_url)
        monkeypatch.setenv("LMMS_TASKS_JUDGE_SINGLE_MODEL", "recorded")
        yield server


def _rows(path):
    return json.loads(path.read_text())


def score(capsys, *arguments) -> dict:
    assert main(["score", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("task", "file", "rows", "expected"),
    [
        ("mirage_mmst_id", "sample_standard_benchmark_ID_gpt-4o-mini.json", 3, ID_RECORDED),
        ("mirage_mmst_mg", "sample_standard_benchmark_MG_gpt-4o-mini.json", 5, MG_RECORDED),
        ("mirage_mmst_contextual_mg", "sample_contextual_benchmark_MG_gpt-4o-mini.json", 8, CONTEXTUAL_RECORDED),
    ],
)
def test_recorded_answers_and_scores_give_the_official_aggregates(
    capsys, samples, recorded_judge, monkeypatch, task, file, rows, expected
):
    printed = score(capsys, task, samples / file, "--data", samples, "--answer-key", "gpt-4o-mini")
    assert next(iter(printed)) == "results"
    results = printed["results"][task]
    for metric, value in expected.items():
        assert results[f"{metric},none"] == pytest.approx(value, abs=1e-9)
    assert results["judged_coverage,none"] == results["judgements_per_sample,none"] == 1.0
    assert recorded_judge.count == rows == printed["n-samples"][task]["answered"]
    if "w_sum" in expected:
        # The official one is rounded to four decimals.
        assert results["w_sum_official,none"] == expected["w_sum"]
        assert results["w_sum_strict,none"] == results["w_sum,none"]
    else:
        assert results["identification_accuracy,none"] == results["identification_accuracy_exact,none"] == 0.0
    manifest = printed["manifests"][task]
    assert manifest["answers"] == {"judged": rows}
    assert manifest["judges"]["single"]["verdicts"] == {"valid": rows}
    assert sum(group["rows"] for group in manifest["breakdowns"]["by_category"].values()) == rows
    assert manifest["data"]["rows"] == rows


def test_the_second_scoring_asks_nobody(capsys, samples, recorded_judge):
    arguments = (
        "mirage_mmst_mg",
        samples / "sample_standard_benchmark_MG_gpt-4o-mini.json",
        *("--data", samples, "--answer-key", "gpt-4o-mini"),
    )
    first = score(capsys, *arguments)
    second = score(capsys, *arguments)
    assert recorded_judge.count == 5
    assert first["results"] == second["results"]


def sample_answers(tmp_path, task: str, count: int | None = None, name: str = "answers.jsonl"):
    """The gold answers of a sample task as JSON lines."""
    from lmms_tasks.benchmarks import read_catalogue
    from lmms_tasks.sources import load_rows

    rows = load_rows(read_catalogue().tasks[task])
    path = tmp_path / name
    lines = [json.dumps({"id": row["id"], "prediction": row["answer"]}) for row in rows][:count]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path, len(rows)


def test_fewer_answers_than_rows_are_told_and_the_numbers_are_over_them(capsys, tmp_path):
    path, rows = sample_answers(tmp_path, "mirage_mmst_id_sample", count=2)
    assert main(["score", "mirage_mmst_id_sample", str(path)]) == 0
    told = capsys.readouterr()
    assert f"2 of {rows} rows have an answer" in told.err
    assert "|mirage_mmst_id_sample|identification_accuracy|↑|1.0000|" in told.out


def test_output_folder_gets_results_items_and_manifest_as_strict_json(capsys, tmp_path):
    path, rows = sample_answers(tmp_path, "mirage_mmst_mg_sample")
    assert main(["score", "mirage_mmst_mg_sample", str(path), "--output", str(tmp_path / "out")]) == 0
    capsys.readouterr()

    def refuse(constant: str):
        raise AssertionError(f"{constant} is no JSON")

    (results,) = (tmp_path / "out").glob("*_results.json")
    assert (
        json.loads(results.read_text(), parse_constant=refuse)["results"]["mirage_mmst_mg_sample"]["w_sum,none"] == 1.0
    )
    (items,) = (tmp_path / "out").glob("*_samples_mirage_mmst_mg_sample.jsonl")
    assert len(items.read_text().splitlines()) == rows
    # The log is one that `score` reads again, to the same numbers.
    again = score(capsys, "mirage_mmst_mg_sample", items)
    assert again["results"] == json.loads(results.read_text())["results"]
    (manifest,) = (tmp_path / "out").glob("*_lmms_tasks_mirage_mmst_mg_sample.json")
    assert json.loads(manifest.read_text(), parse_constant=refuse)["panel"]["profile"] == "offline"


def test_breakdowns_hold_seen_and_unseen_entities_and_what_the_judges_say_of_each_other(capsys, tmp_path):
    path, rows = sample_answers(tmp_path, "mirage_mmst_id_sample")
    breakdowns = score(capsys, "mirage_mmst_id_sample", path)["manifests"]["mirage_mmst_id_sample"]["breakdowns"]
    # 7 of the 14 entities are in the shipped list of train entities.
    assert {group: table["rows"] for group, table in breakdowns["by_entity_in_train"].items()} == {
        "seen": 7,
        "unseen": 7,
    }
    path, rows = sample_answers(tmp_path, "mirage_mmst_contextual_mg_sample")
    printed = score(capsys, "mirage_mmst_contextual_mg_sample", path)
    manifest = printed["manifests"]["mirage_mmst_contextual_mg_sample"]
    for key in ("by_time_related", "by_location_related"):
        assert set(manifest["breakdowns"][key]) <= {"yes", "no"}
        assert sum(table["rows"] for table in manifest["breakdowns"][key].values()) == rows
    assert manifest["agreement"]["accuracy"]["rows"] == 0  # one stand-in agrees with nobody


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mirage_mmst_none", "x.jsonl"], "lmms-tasks list"),
        (["mirage_mmst_id_sample", "x.jsonl"], "There is no file x.jsonl"),
        (["mirage_mmst_id_sample", "x.jsonl", "--data", "y.json"], "has its own rows"),
        (["mirage_mmst_id_sample", "x.jsonl", "--judges", "nobody"], "nobody"),
        (["mirage_mmst_id", "x.jsonl"], "set MIRAGE_DATA to a local copy"),
        (["mirage_mmst_sample", "x.jsonl"], "sample log of mirage_mmst_id_sample"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_1(arguments, words):
    with pytest.raises(SystemExit) as ended:
        main(["score", *arguments])
    assert isinstance(ended.value.code, str) and words in ended.value.code and "\n" not in ended.value.code


def test_wrong_usage_is_exit_code_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["score"])
    assert ended.value.code == 2


def test_list_as_json_has_every_task_with_its_metrics_and_directions(capsys):
    assert main(["list", "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    tasks = {task["name"]: task for task in listing["tasks"]}
    assert {"name": "w_sum", "higher_is_better": True} in tasks["mirage_mmst_mg"]["metrics"]
    assert {group["name"] for group in listing["groups"]} >= {"mirage_mmst", "mirage_mmst_sample"}


def test_path_is_the_folder_that_holds_the_yaml_files(capsys):
    from pathlib import Path

    assert main(["path"]) == 0
    assert list(Path(capsys.readouterr().out.strip()).glob("mirage/mirage_mmst_id.yaml"))


def test_the_manifest_has_the_hash_of_the_rubric_that_the_judges_saw(capsys, tmp_path, monkeypatch):
    path, _ = sample_answers(tmp_path, "mirage_mmst_mg_sample", count=1)
    (tmp_path / "mine.txt").write_text("Compare {{answer}} with {{gold_answer}}.")
    judge = '[[mirage.mmst.judges]]\nname = "x"\nmodel = "judge"\n'
    own = '[mirage.mmst.rubric_file]\n"mirage.mmst_mg" = "mine.txt"\n'
    (tmp_path / "shipped.toml").write_text(judge)
    (tmp_path / "own.toml").write_text(own + judge)
    reply = json.dumps(dict.fromkeys(FACETS, 4))
    found = {}
    with JudgeServer(reply) as server:
        monkeypatch.setenv("LMMS_TASKS_JUDGE_X_BASE_URL", server.base_url)
        for name in ("shipped", "own"):
            profile = tmp_path / f"{name}.toml"
            printed = score(capsys, "mirage_mmst_mg_sample", path, "--judges", profile)
            found[name] = printed["manifests"]["mirage_mmst_mg_sample"]["rubrics"]["mirage.mmst_mg"]
    from lmms_tasks.mirage.hooks import MG_RUBRIC

    assert found["shipped"] == MG_RUBRIC.hash != found["own"]
    assert found["own"] == MG_RUBRIC.with_template("Compare {{answer}} with {{gold_answer}}.").hash


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--judges", "single"], "leave out --judges"),
        (["--answer-key", "x"], "leave out --answer-key"),
        (["--offline"], "leave out --offline"),
        ([], "is a folder"),
    ],
)
def test_a_table_takes_one_file_and_no_option_that_it_would_ignore(tmp_path, options, words):
    with pytest.raises(SystemExit, match=words):
        main(["score", "mmdeepresearch_bench", str(tmp_path), "--table", *options])


def test_a_table_s_numbers_are_written_where_output_says(tmp_path, capsys, shared_data):
    table = shared_data / "mmdeepresearch_bench" / "gemini31flash.task_scores.csv"
    assert main(["score", "mmdeepresearch_bench", str(table), "--table", "--json", "--output", str(tmp_path)]) == 0
    printed = json.loads(capsys.readouterr().out)
    (written,) = tmp_path.glob("*_results.json")
    assert json.loads(written.read_text())["leaderboard"] == printed["leaderboard"]
    assert printed["leaderboard"]["Overall"] == 49.08
