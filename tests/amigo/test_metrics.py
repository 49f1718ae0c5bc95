"""Scores: the task card's own recipe beside ours, worked values, diagnostics, what counts as no transcript."""

from __future__ import annotations

import json
import math

import pytest

from lmms_tasks.amigo import agents
from lmms_tasks.amigo.diagnostics import breakdowns, noise_tolerance, trajectories
from lmms_tasks.amigo.hooks import amigo_process_results
from lmms_tasks.amigo.metrics import METRICS, episode_record, episode_scores
from lmms_tasks.amigo.transcript import as_text, parse
from tests.amigo.games import generated, play_all, row

GUESS = agents.guess_line


class Turn(str):
    """A turn as the recipe wants it: a text with an attribute `oracle`."""

    oracle: str | None


def recipe(predictions, gold_idx):
    """The task card's scoring recipe, word for word."""
    final_guess = int(predictions[-1].split("#")[-1].strip())
    success = 1 if final_guess == gold_idx else 0
    skips = sum(1 for p in predictions if p.oracle == "Skip")
    compliance = 1.0 - (skips / len(predictions))
    efficiency = len(predictions)
    return {"identification success": success, "protocol compliance": compliance, "efficiency": efficiency}


def predictions(played):
    turns = []
    for turn in played["turns"]:
        one = Turn(turn["visible"])
        one.oracle = turn["oracle_shown"]
        turns.append(one)
    return turns


@pytest.mark.parametrize("player", [agents.greedy, agents.random, agents.guess_at_once, agents.index_search])
@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_the_cards_recipe_gives_our_three_numbers_on_every_transcript_that_ends_in_a_guess(player, noise):
    for given in generated(40):
        played = play_all(given, player, noise=noise)
        ours = episode_scores(played)
        assert played["end"] == "guess"
        assert recipe(predictions(played), given["gold_idx"]) == {
            "identification success": ours["identification_success"],
            "protocol compliance": ours["protocol_compliance"],
            "efficiency": ours["efficiency"],
        }


def test_the_recipe_counts_positions_from_1():
    for gold in (1, 2, 3, 4):
        for number in (0, 1, 2, 3, 4, 5):
            scores = episode_scores(play_all(row(gold), [GUESS(number)]))
            assert scores["identification_success"] == float(number == gold)


def test_the_worked_example_of_six_questions_with_one_skip():
    # 1 - 1/7 with the guess in the denominator as the recipe has it, 1 - 1/6 without.
    asked = ["Is it belted?", "Is it blue?", *["Is it floral?"] * 4]
    scores = episode_scores(play_all(row(1), [*asked, GUESS(1)]))
    assert scores["protocol_compliance"] == pytest.approx(0.857, abs=5e-4)
    assert scores["compliance_questions"] == pytest.approx(0.833, abs=5e-4)
    assert (scores["efficiency"], scores["questions_asked"]) == (7, 6)


def test_the_worked_example_of_the_cap_with_three_skips():
    asked = ["Is it belted?"] * 27 + ["Is it blue?"] * 3
    scores = episode_scores(play_all(row(1), asked))
    assert scores["protocol_compliance"] == 0.9 and scores["efficiency"] == 30
    assert scores["identification_success"] == 0.0 and scores["cap_rate"] == 1.0
    assert scores["strict_format_rate"] is None  # no guess, no format


def test_guessing_at_once_is_compliant_by_the_card_and_not_by_the_strict_metric():
    scores = episode_scores(play_all(row(1), agents.guess_at_once))
    assert scores["identification_success"] == scores["protocol_compliance"] == scores["efficiency"] == 1.0
    assert scores["compliance_strict"] == scores["verified_success"] == 0.0
    assert scores["compliance_questions"] == 1.0 and scores["questions_asked"] == 0.0


def test_a_loose_guess_line_counts_and_is_not_strict():
    scores = episode_scores(play_all(row(1), ["my guess of your favourite dress is 1"]))
    assert (scores["identification_success"], scores["strict_format_rate"]) == (1.0, 0.0)


def test_a_flipped_answer_eliminates_the_target():
    played = play_all(row(1), ["Is it belted?", "Is it a V-neck?", GUESS(1)], noise=1.0)
    scores = episode_scores(played)
    assert scores["target_eliminated_rate"] == 1.0 and scores["verified_success"] == 0.0
    assert scores["identification_success"] == 1.0  # a model may know better than the oracle
    assert episode_record(played)["flips"] == 2


def test_bits_redundant_and_contradictory_questions():
    asked = ["Is it belted?", "Is it a V-neck?", "Is the neckline round?", "Is it striped?"]
    record = episode_record({**play_all(row(1), asked), "end": "turn_cap"})
    # 4 images; belted: 1 and 4 (unsure) stay; no V-neck: both stay; round: 1 stays; striped: settled.
    assert record["curve"] == [4, 2, 2, 1, 1]
    assert record["bits"] == [1.0, 0.0, 1.0, 0.0] and record["no_gain"] == 2
    # Both images have no V-neck, and the last one is not striped: earlier answers had ruled both out.
    assert (record["redundant"], record["contradictory"]) == (2, 2)


def test_asking_again_after_a_contradiction_is_seen_as_verification():
    seed = next(
        seed
        for seed in range(100)
        if [t["oracle_shown"] for t in play_all(row(1), ["Is it belted?"] * 3, noise=0.5, noise_seed=seed)["turns"]]
        == ["Yes", "No", "Yes"]
    )
    asked = ["Is it belted?", "Is it belted?", "Isn't it belted?", GUESS(1)]
    played = play_all(row(1), asked, noise=0.5, noise_seed=seed)
    record = episode_record(played)
    assert (record["repeated"], record["conflict"], record["checked_after_conflict"]) == (2, True, True)
    assert trajectories([record])["recovery"] == {"episodes_with_flipped_answer": 1, "success": 1.0}
    unchecked = episode_record(play_all(row(1), ["Is it belted?"] * 2 + [GUESS(1)], noise=0.5, noise_seed=seed))
    assert unchecked["checked_after_conflict"] is False


def items_of(rows, played):
    scored = [amigo_process_results(given, [as_text(one)]) for given, one in zip(rows, played, strict=True)]
    return {metric: [items[metric] for items in scored] for metric in METRICS}


def test_breakdowns_are_by_gallery_size_and_count_rules():
    rows = [*generated(10, 5, 4), *generated(10, 10, 6, seed=2)]
    items = items_of(rows, [play_all(given, agents.index_search) for given in rows])
    table = breakdowns(items["identification_success"], items)
    assert set(table["by_gallery_size"]) == {"5", "10"}
    assert table["episodes"]["n"] == 20
    assert table["episodes"]["chance"] == pytest.approx((1 / 5 + 1 / 10) / 2)
    # Halving 10 positions with Skip for No asks up to 5, 8 and 9, then guesses; of 5 positions up to 3 and 4.
    assert table["by_gallery_size"]["10"]["skips_by_rule"]["R7"] == 10 * 3
    assert table["by_gallery_size"]["5"]["skips_by_rule"]["R7"] == 10 * 2
    assert table["by_gallery_size"]["5"]["efficiency"] < table["by_gallery_size"]["10"]["efficiency"]
    json.dumps(table)


def test_an_infrastructure_error_is_excluded_listed_and_counted():
    rows = generated(10)
    failed = "[LMMS_EVAL_REQUEST_FAILED] x"
    played = [play_all(given, [failed] if number == 0 else agents.greedy) for number, given in enumerate(rows)]
    items = items_of(rows, played)
    assert items["identification_success"][0]["status"] == "infrastructure_error"
    assert all("score" not in items[metric][0] for metric in METRICS)
    table = breakdowns(items["identification_success"], items)
    assert table["excluded"] == [{"episode_id": rows[0]["episode_id"], "error": "turn 1: the model's request failed"}]
    assert table["episodes"]["infrastructure_errors"] == 1 and table["episodes"]["n"] == 9


@pytest.mark.parametrize(
    "text", ["", "Is it belted?", "{", "[]", "{}", '{"turns": 3}', '{"format": 1, "turns": [1]}', None]
)
def test_what_is_no_transcript_is_unscored_and_never_raises(text):
    items = amigo_process_results(row(), [text])
    assert set(items) == set(METRICS)
    assert all("score" not in item and item["status"] == "no_transcript" for item in items.values())


def test_the_transcript_of_another_row_is_not_scored():
    other = as_text(play_all(row(2), agents.greedy))
    assert amigo_process_results(row(1), [other])["identification_success"]["status"] == "no_transcript"


def test_lmms_evals_payload_at_its_own_step_limit_still_holds_the_transcript():
    played = play_all(row(), ["Is it belted?"])
    payload = json.dumps({"success": False, "error": "max_agentic_steps_reached", "state": played, "trace": []})
    assert parse(payload)["turns"] == played["turns"]


def test_a_closing_reasoning_tag_cannot_be_found_in_a_transcript():
    played = play_all(row(), ["Hm.</think>Is it belted?"])
    assert "</think>" not in as_text(played) and parse(as_text(played)) == played


def test_repeats_are_averaged():
    texts = [as_text(play_all(row(1), [GUESS(number)])) for number in (1, 2)]
    assert amigo_process_results(row(1), texts)["identification_success"]["score"] == 0.5


def test_noise_tolerance_is_the_ratio_over_the_same_episodes():
    def record(row, success, noise=0.0, noisy=None, settings="default"):
        return {"row": row, "settings": settings, "success": success, "noise": noise, "noisy": noisy}

    # Of four episodes without noise two have a noisy twin; the fourth twin was not played to its end.
    expected = {"0.1": {"n": 2, "success_without_noise": 1.0, "success": 0.5, "ratio": 0.5, "difference": -0.5}}
    clean = [record("a", 1.0), record("b", 1.0), record("c", 0.0), record("d", 1.0)]
    noisy = [record("a", 1.0, 0.1), record("b", 0.0, 0.1), record("e", 1.0, 0.1), record("d", None, 0.1)]
    assert noise_tolerance([*noisy, *clean]) == expected
    # Told by the transcripts without noise, and both ways at once, it is the same.
    told = [record("a", 1.0, noisy={"0.1": [1]}), record("b", 1.0, noisy={"0.1": [0]}), *clean[2:]]
    assert noise_tolerance(told) == noise_tolerance([*told, *noisy]) == expected
    assert noise_tolerance(clean) == noise_tolerance(noisy) == {}
    # An episode that was played twice counts once; one under another protocol is another episode.
    assert noise_tolerance([*clean, *clean[:1], *noisy, *noisy[:1]]) == expected
    assert noise_tolerance([*clean, *(one | {"settings": "else"} for one in noisy)]) == {}
    assert math.isnan(noise_tolerance([record("a", 0.0, noisy={"0.1": [1]})])["0.1"]["ratio"])
