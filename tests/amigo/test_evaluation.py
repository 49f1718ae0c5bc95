"""AMIGO played by the real lmms-eval, inside one process: baselines, images, odd replies, transcripts, resuming."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import Counter

import PIL.Image
import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from tests.amigo.games import breakdowns, transcripts

TASK = "amigo_synthetic"
TIERS = {5: 15, 10: 20, 20: 20, 30: 30}
EPISODES = 85


def test_greedy_solves_every_episode_and_each_tier_in_log2_n_plus_2_turns(evaluate, home):
    results, _ = evaluate("amigo_greedy")
    for metric in ("identification_success", "verified_success", "protocol_compliance", "compliance_strict"):
        assert results[metric] == 1.0
    assert results["premature_rate"] == results["cap_rate"] == results["target_eliminated_rate"] == 0.0
    table = breakdowns(home)
    for size, count in TIERS.items():
        tier = table["by_gallery_size"][str(size)]
        assert tier["n"] == count and tier["efficiency"] <= math.log2(size) + 2
    assert table["episodes"]["bits_per_question"] > 0.9
    assert [point["questions"] for point in table["episodes"]["feasible_share_by_turn"]] == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("options", [{}, {"force_simple": True}])
def test_the_reference_plays_as_greedy_without_knowing_amigo(evaluate, options):
    results, _ = evaluate("reference", **options)
    assert results["identification_success"] == results["verified_success"] == 1.0
    wrong, _ = evaluate("reference", model_args="error_rate=1.0", **options)
    assert wrong["identification_success"] == 0.0


def test_guess_at_once_is_compliant_and_right_on_1_in_n(evaluate, home):
    results, _ = evaluate("amigo_guess_at_once")
    table = breakdowns(home)["by_gallery_size"]
    for size in TIERS:
        assert table[str(size)]["identification_success"] == pytest.approx(1 / size)
    assert results["protocol_compliance"] == 1.0 and results["verified_success"] == 0.0
    assert results["premature_rate"] == 1.0 and results["compliance_strict"] == 0.0


def test_index_search_is_skipped(evaluate):
    results, samples = evaluate("amigo_index_search")
    assert results["compliance_questions"] == 0.0
    rules = Counter(turn["hits"][0][0] for one in transcripts(samples) for turn in one["turns"][:-1])
    assert set(rules) == {"R7"}


def test_each_image_is_decoded_once_an_episode_and_none_in_scoring(evaluator, monkeypatch, tmp_path):
    import lmms_eval.__main__ as command

    from lmms_tasks.baselines.amigo import GreedySimple

    opened = {"playing": 0, "scoring": 0}
    phase = ["playing"]
    pil_open, clean = PIL.Image.open, GreedySimple.clean

    def counting(*arguments, **options):
        opened[phase[0]] += 1
        return pil_open(*arguments, **options)

    def clean_and_turn(self):
        clean(self)
        phase[0] = "scoring"

    monkeypatch.setattr(PIL.Image, "open", counting)
    monkeypatch.setattr(GreedySimple, "clean", clean_and_turn)
    arguments = [
        "lmms-eval",
        "--model",
        "amigo_greedy",
        "--tasks",
        TASK,
        "--output_path",
        str(tmp_path),
        "--log_samples",
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    command.cli_evaluate()
    assert opened == {"playing": sum(size * count for size, count in TIERS.items()), "scoring": 0}


def test_a_lone_closing_tag_keeps_the_transcript_on_the_command_line_and_from_python(
    evaluate, player, monkeypatch, tmp_path
):
    import lmms_eval.__main__ as command

    from lmms_tasks.amigo import agents
    from lmms_tasks.baselines.amigo import GreedySimple

    def thinking(row, prompt):
        return f"Is it #1? My guess of your favorite dress: #1</think>{agents.greedy(row, prompt)}"

    results, samples = evaluate(player(thinking))
    assert results["identification_success"] == results["protocol_compliance"] == 1.0
    python = transcripts(samples)
    assert all("</think>" in turn["raw"] for one in python for turn in one["turns"])
    monkeypatch.setattr(GreedySimple, "agent", staticmethod(thinking))
    arguments = [
        "lmms-eval",
        "--model",
        "amigo_greedy",
        "--tasks",
        TASK,
        "--output_path",
        str(tmp_path),
        "--log_samples",
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    command.cli_evaluate()
    (log,) = tmp_path.rglob(f"*_samples_{TASK}.jsonl")
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    assert [json.loads(sample["filtered_resps"][0]) for sample in logged] == python
    (results_file,) = tmp_path.rglob("*_results.json")
    assert json.loads(results_file.read_text())["results"][TASK]["identification_success,none"] == 1.0


ODD = [
    "",
    "x" * 10_000,
    '{"question": "belt"}',
    '{"success": true, "turns": []}',
    "它有腰带吗？",
    "\x00\ud83d",
    "<think>",
    "`" * 50,
]


@pytest.mark.parametrize("chat", [False, True])
def test_no_reply_breaks_an_episode(evaluate, player, chat):
    def odd(row, prompt):
        return ODD[int(hashlib.sha256(prompt.encode()).hexdigest(), 16) % len(ODD)]

    results, samples = evaluate(player(odd, chat), limit=8)
    assert results["cap_rate"] == 1.0 and results["efficiency"] == 30.0
    for one in transcripts(samples):
        assert {turn["oracle_shown"] for turn in one["turns"]} <= {"Skip", "Unsure"}


@pytest.mark.long
def test_tiny_vlm_plays_to_the_cap(evaluate):
    results, samples = evaluate("tiny_vlm", limit=1, model_args="max_new_tokens=8")
    assert results["cap_rate"] == 1.0 and results["identification_success"] == 0.0
    assert all(len(one["turns"]) == 30 for one in transcripts(samples))


def test_the_noise_group_has_its_levels_and_leaves_a_folder_from_which_tolerance_follows(
    evaluator, task_manager, home, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "transcripts"
    monkeypatch.setenv("AMIGO_TRANSCRIPTS", str(folder))
    found = evaluator.simple_evaluate(
        model="amigo_greedy", tasks=["amigo_synthetic_noise"], task_manager=task_manager, bootstrap_iters=0
    )["results"]
    levels = {
        name: found[name]["identification_success,none"]
        for name in read_catalogue().groups["amigo_synthetic_noise"].members
    }
    assert list(levels) == [TASK, f"{TASK}_noise05", f"{TASK}_noise10", f"{TASK}_noise20"]
    success = list(levels.values())
    assert success[0] == 1.0 > success[1] > success[3]
    assert found[f"{TASK}_noise20"]["target_eliminated_rate,none"] == pytest.approx(1 - success[3])
    for name, value in levels.items():
        assert main(["score", name, str(folder), "--json"]) == 0
        scored = json.loads(capsys.readouterr().out)
        assert scored["results"][name]["identification_success,none"] == value
        for metric, direct in found[name].items():
            if metric.endswith(",none") and "stderr" not in metric:
                assert scored["results"][name][metric] == pytest.approx(direct, nan_ok=True)
        tolerance = scored["manifests"][name]["breakdowns"]["noise_tolerance"]
        if name == TASK:
            assert tolerance["0.2"] == {
                "n": EPISODES,
                "success_without_noise": 1.0,
                "success": pytest.approx(success[3]),
                "ratio": pytest.approx(success[3]),
                "difference": pytest.approx(success[3] - 1),
            }
        else:
            assert tolerance == {}


class Stopped(Exception):
    pass


def test_a_stopped_run_goes_on_from_its_transcripts(evaluate, player, monkeypatch, tmp_path):
    from lmms_tasks.amigo import agents

    monkeypatch.setenv("LMMS_TASKS_LOCKSTEP", "0")
    task = f"{TASK}_noise20"
    expected = transcripts(evaluate(player(agents.random), task)[1])
    monkeypatch.setenv("AMIGO_TRANSCRIPTS", str(tmp_path / "kept"))
    calls = []

    def until_stopped(row, prompt):
        calls.append(row["episode_id"])
        if len(calls) == 203:
            raise Stopped
        return agents.random(row, prompt)

    with pytest.raises(Stopped):
        evaluate(player(until_stopped), task)
    begun = len(set(calls))
    finished = len(list((tmp_path / "kept").rglob("*.json")))
    assert 0 < finished == begun - 1 and len(list((tmp_path / "kept").rglob("*.jsonl"))) == 1
    again = []

    def counting(row, prompt):
        again.append(row["episode_id"])
        return agents.random(row, prompt)

    resumed = transcripts(evaluate(player(counting), task)[1])
    assert resumed == expected
    # One message of each episode that had begun tells that it is the same model; nothing else is asked again.
    turns = sum(len(one["turns"]) for one in expected)
    assert len(again) == turns - 202 + begun


def test_another_model_is_not_taken_for_the_one_that_was_stopped(evaluate, player, monkeypatch, tmp_path):
    from lmms_tasks.amigo import agents

    monkeypatch.setenv("AMIGO_TRANSCRIPTS", str(tmp_path))
    evaluate(player(agents.guess_at_once), limit=4)
    results, samples = evaluate(player(agents.greedy), limit=4)
    assert results["identification_success"] == 1.0
    assert all(len(one["turns"]) > 1 for one in transcripts(samples))


def test_repeats_are_episodes_of_their_own(evaluate, player, tmp_path, monkeypatch):
    from lmms_tasks.amigo import agents

    monkeypatch.setenv("AMIGO_TRANSCRIPTS", str(tmp_path / "kept"))
    count = [0]

    def alternating(row, prompt):
        count[0] += 1
        return agents.guess_line(row["gold_idx"] if count[0] % 2 else 0)

    results, _ = evaluate(player(alternating), limit=6, repeats=2)
    assert results["identification_success"] == 0.5
    assert len(list((tmp_path / "kept").rglob("*.json"))) == 12
