"""FLAE, TRACE and MOSAIC as pure arithmetic, against values that were computed independently (synthetic.json)."""

from __future__ import annotations

import json
import math

import pytest

from lmms_tasks.mmdeepresearch_bench import flae, mosaic, overall, trace
from lmms_tasks.mmdeepresearch_bench.task_scores import read_score_table
from tests.mmdeepresearch_bench.reports import SOLAR

NEAR = {"abs": 1e-6}


@pytest.fixture(scope="module")
def synthetic(shared_data):
    return json.loads((shared_data / "mmdeepresearch_bench" / "synthetic.json").read_text())


@pytest.fixture
def claims(synthetic):
    return [
        trace.Evidence(
            weight=c["w"],
            support=c["s"],
            hallucination=c["h"],
            inversion=c["i"],
            soundness=c["c"],
            domain=c["d"],
            prohibited=c["proh"],
            authoritative=c["d"].endswith(".gov"),
            key=c["key"],
            on_image=c["img"],
        )
        for c in synthetic["evi_claims"]
    ]


def judged(**changes) -> flae.JudgedFeatures:
    """A judge's view; by default the numbers that the official code puts in place of a judge that failed."""
    official = {
        "error_rate": 0.08,
        "analysis": 0.35,
        "connection": 0.45,
        "synthesis": 0.35,
        "uniformity": 0.55,
        "order": 0.50,
        "transition": 0.55,
        "conflict": 0.02,
        "section_quality": 0.65,
        "sections": frozenset(),
        "readability": 0.60,
        "insight": 0.55,
        "coherence": 0.55,
        "structure": 0.55,
    }
    return flae.JudgedFeatures(**{**official, **changes})


def test_text_features_of_the_synthetic_report(synthetic):
    expected = synthetic["text_features"]
    found = flae.text_features(SOLAR)
    assert (found.words, found.unique_words) == (expected["words"], expected["unique"]) == (74, 54)
    assert (found.headings, found.paragraphs, found.sentences) == (3, 8, 9)
    assert found.ttr == pytest.approx(expected["TTR"], **NEAR)
    assert found.headings_share == pytest.approx(expected["H"], **NEAR)
    assert found.long_share == pytest.approx(expected["L"], **NEAR)
    assert flae.readability_formula(found, 0.05) == pytest.approx(expected["R_formula_at_E_0.05"], **NEAR)


def test_a_report_without_words_has_features_and_divides_by_nothing():
    assert flae.text_features("") == flae.TextFeatures(0, 0, 0, 0, 0, 0.0, 0.0, 0.0)


def test_flae_channels_and_weights_at_the_fallback_of_the_reference_run(synthetic):
    expected = synthetic["flae_fallback"]
    view = judged()
    kind = "daily_medium"
    assert flae.ALPHA[kind] == expected["alpha"]
    insight = flae.fused(flae.insight_formula(view.analysis, view.connection, view.synthesis), 0.55, kind)
    formula = flae.coherence_formula(view.uniformity, view.order, view.transition, view.conflict)
    coherence = flae.fused(formula, 0.55, kind)
    structure = flae.fused(flae.structure_formula(frozenset(), 0.65, 3, 900, kind), 0.55, kind)
    assert insight == pytest.approx(expected["I"], **NEAR)
    assert coherence == pytest.approx(expected["C"], **NEAR)
    assert structure == pytest.approx(expected["S"], **NEAR)
    weights = flae.weights((0.8, 0.0, 0.0, 1.0))
    assert weights == pytest.approx(expected["weights_g_0.8_0_0_1_v0"], **NEAR)
    for row in ("Q28", "Q31"):
        gen = flae.general_score((expected[row]["R"], insight, coherence, structure), weights)
        assert round(gen, 3) == expected[row]["FLAE"]


@pytest.mark.parametrize("task, gen", [("Q28", 46.300), ("Q31", 47.108)])
def test_flae_of_the_two_reference_rows_follows_from_their_columns(shared_data, task, gen):
    rows = read_score_table(shared_data / "mmdeepresearch_bench" / "gemini31flash.task_scores.csv").rows
    (row,) = [row for row in rows if row["Task ID"] == task]
    coherence = flae.fused(flae.coherence_formula(0.55, 0.50, 0.55, 0.02), 0.55, "daily_medium")
    channels = (row["Read."] / 100, row["Insh."] / 100, coherence, row["Stru."] / 100)
    assert row["FLAE"] == gen
    assert flae.general_score(channels, flae.weights((0.8, 0.0, 0.0, 1.0))) == pytest.approx(gen, abs=0.0005)


def test_flae_of_a_whole_report_worked_by_hand():
    # daily_medium, α = .35. R: σ(2·.7297 + 1.2·.375 − 2·.4444 − 3·.08) = σ(.78057) = .68580 → .35·.68580 + .65·.60
    # = .63003. I = .4907041, C = .5363387 (above). S: summary, analysis and conclusion are named in the text,
    # one figure for 74 words → 1·.65 → .35·.65 + .65·.55 = .585. g: L > .35 → .8; S ≥ .5 and complete → 0; S ≤ .7 → 0.
    # w = softmax(.8, 0, 0, 0): e^.8 / (e^.8 + 3) = .42590, others .19137.
    # GEN = 100·(.42590·.63003 + .19137·(.4907041 + .5363387 + .585)) = 57.683.
    found = flae.flae(SOLAR, judged(), figures=1, report_type="daily_medium")
    assert found.readability == pytest.approx(0.63003, abs=1e-5)
    assert found.structure == pytest.approx(0.585, **NEAR)
    assert found.gen == pytest.approx(57.683, abs=1e-3)


def test_research_needs_all_six_sections_and_more_figures():
    six = frozenset(flae.SECTIONS)
    assert flae.structure_formula(six, 0.8, 1, 700, "research") == pytest.approx(0.4)  # two figures expected
    assert flae.structure_formula(six, 0.8, 1, 700, "daily_easy") == pytest.approx(0.8)
    assert flae.structure_formula(six - {"methodology"}, 0.8, 9, 700, "research") == 0.0
    assert flae.missing_sections(six - {"methodology"}, "daily_easy") == ()


def test_a_controller_that_answers_fifty_moves_the_weights_no_further_than_one():
    assert flae.weights((0, 0, 0, 0), (50, 0, 0, 0)) == flae.weights((0, 0, 0, 0), (1, 0, 0, 0))


def test_high_error_and_dense_headings_shift_the_weights():
    features = flae.TextFeatures(100, 50, 3, 10, 10, 0.5, 0.3, 0.0)
    assert flae.document_terms(0.8, (), 0.2, features) == (0.8, 0.4, 0.4, 0.0)
    assert flae.document_terms(0.8, ("conclusion",), 0.0, features) == (0.0, 0.4, 0.4, 1.0)


@pytest.mark.parametrize("case, report_type", [("evi_daily", "daily_medium"), ("evi_research", "research")])
def test_evidence_scores_of_the_four_synthetic_claims(synthetic, claims, case, report_type):
    expected = synthetic["evi"][case]
    found = trace.evidence_scores(claims, report_type)
    assert found.consistency == pytest.approx(expected["E_con"], **NEAR)
    assert found.coverage == pytest.approx(expected["E_cov"], **NEAR)
    assert found.fidelity == pytest.approx(expected["E_fid"], **NEAR)
    assert found.diversity == pytest.approx(expected["E_div"], **NEAR)
    assert found.violation == expected["violation"]
    assert list(found.terms) == expected["h"]
    assert found.weights == pytest.approx(expected["weights"], **NEAR)
    assert found.evi == pytest.approx(expected["EVI"], **NEAR)


def test_a_report_that_cites_nothing_has_no_evidence():
    assert trace.evidence_scores([], "research").evi == 0.0


def test_weak_coverage_and_hallucination_raise_their_own_weights(claims):
    weak = [trace.Evidence(1.0, 0.1, hallucination=0.5, soundness=0.2, domain="a.org") for _ in range(3)]
    assert trace.evidence_scores(weak, "research").terms == (0.0, 0.8, 0.8, 0.0)


def test_a_page_that_was_not_read_gets_the_official_floor_only_in_the_official_count():
    dead = trace.Evidence(1.0, 0.0, domain="gone.org", read=False)
    assert trace.with_official_floor(dead).support == 0.18
    assert trace.coverage([trace.with_official_floor(dead)], "daily_easy") == pytest.approx(0.40)  # 0.18 / 0.45
    assert trace.coverage([dead], "daily_easy") == 0.0
    assert trace.fidelity([dead]) == 0.0
    banned = trace.Evidence(1.0, 0.0, domain="reddit.com", read=False, prohibited=True)
    assert trace.with_official_floor(banned).support == 0.0


def test_depth_falls_with_the_rank_of_the_best_matching_image(synthetic):
    for rank, depth in synthetic["depth_score_rank"].items():
        assert trace.rank_depth(int(rank)) == pytest.approx(depth, **NEAR)
    assert trace.image_depth([]) == 0.30
    assert trace.image_depth([0.01, 0.04]) == 0.45
    assert trace.image_depth([0.0] * 13 + [0.5]) == pytest.approx(0.55)  # rank 14


@pytest.mark.parametrize(
    "score, wrong, ours, official", [(6, 0, 100, 100), (5.9, 0, 0, 0), (9, 1, 0, 100), (0, 0, 0, 0)]
)
def test_visual_fidelity_needs_six_of_ten_and_no_wrong_identity(score, wrong, ours, official):
    assert trace.visual_fidelity(score, wrong) == ours
    # The official code reads the score alone.
    assert trace.official_vef(score) == official


def test_item_scores_and_task_score_of_mosaic(synthetic):
    items = [
        mosaic.Item("photo", 0.8),
        mosaic.Item("diagram", 0.5),
        mosaic.Item("datachart", 0.75),
        mosaic.Item("ocrchart", 0.6),
    ]
    expected = list(synthetic["mosaic_code_items"].values())
    assert [mosaic.item_score(item) for item in items] == pytest.approx(expected, **NEAR)
    found = mosaic.mosaic_scores(items)
    assert found.official == pytest.approx(synthetic["mosaic_code_task"], **NEAR)
    # Semantic over all four, accuracy over the two charts, VQA over photo and diagram; the card takes their mean.
    assert (found.semantic, found.accuracy, found.vqa) == pytest.approx((66.25, 67.5, 65.0))
    assert found.card == pytest.approx(66.25)


def test_parts_without_items_are_absent_and_do_not_lower_the_module():
    found = mosaic.mosaic_scores([mosaic.Item("photo", 0.4)])
    assert found.accuracy is None
    assert found.card == pytest.approx(40.0)
    assert mosaic.mosaic_scores([]).card == 0.0


def test_probability_of_yes(synthetic):
    vqa = synthetic["vqa"]
    assert mosaic.yes_probability(vqa["p_yes"], vqa["p_no"]) == pytest.approx(vqa["score"], **NEAR)
    assert mosaic.yes_probability(0.0, 0.0) == 0.0


def test_the_gate_opens_only_for_a_report_that_is_written_and_cites():
    assert mosaic.gate(1e-9, 1e-9)
    assert not mosaic.gate(50.0, 0.0) and not mosaic.gate(0.0, 50.0)


def test_overall_of_the_synthetic_modules(synthetic):
    given = synthetic["overall"]
    module = overall.official_trace(given["EVI"], given["VEF"])
    assert module == pytest.approx(given["TRACE"], **NEAR)
    assert overall.official_overall(given["GEN"], module, given["MM"]) == pytest.approx(given["Overall"], **NEAR)
    # Without a visual truth: (2·60 + 3·30 + 3·50) / 8.
    assert overall.official_overall_without_vef(60, 30, 50) == pytest.approx(45.0)
    assert overall.card_overall(50, 40, -3) == pytest.approx(30.0)


def _items(n_scored: int, score: float, *reasons: str):
    scored = [{"score": score, "status": "judged"}] * n_scored
    return scored + [{"status": "unscored", "reason": reason} for reason in reasons]


def test_validity_lowers_the_mean_once_and_by_the_reason(synthetic):
    given = synthetic["validity"]
    items = _items(given["n_scored"], given["mean_final"], "provider", "model")
    assert overall.validity_of(items) == pytest.approx(given["intended_p"], **NEAR)  # (8 + 0.8 + 0) / 10
    assert overall.mean_times_validity(items) == pytest.approx(given["intended_score"], **NEAR)
    assert overall.zeroed_mean(items) == pytest.approx(40.0)


def test_the_zeroed_mean_is_over_all_tasks_of_the_data_set():
    items = [{**item, "tasks": 140} for item in _items(2, 70.0, "model")]
    assert overall.zeroed_mean(items) == pytest.approx(140.0 / 140)
    assert overall.zeroed_mean([{**item, "tasks": 2} for item in items]) == pytest.approx(140.0 / 3)  # three answers


def test_the_official_validity_leaves_the_scored_tasks_out_and_ours_does_not(synthetic):
    # Defect of detail/mm_na_penalty.py: only the two unscored tasks enter its mean, (0.8 + 0) / 2.
    given = synthetic["validity"]
    unscored_alone = overall.validity(["provider", "model"])
    assert unscored_alone == pytest.approx(given["official_code_p"], **NEAR)
    assert given["mean_final"] * unscored_alone == pytest.approx(given["official_code_score"], **NEAR)
    assert overall.mean_times_validity(_items(8, 50.0, "provider", "model")) == pytest.approx(44.0)


@pytest.mark.parametrize(
    "reason, weight", [("model", 0), ("pipeline", 0.5), ("provider", 0.8), ("data", 0.9), ("?", 0.5)]
)
def test_each_reason_has_the_weight_of_the_paper(reason, weight):
    assert overall.validity([reason]) == weight


def test_a_metric_that_does_not_exist_is_nan_and_not_a_penalty():
    for status in ("no_judge", "no_truth"):
        items = [{"status": status, "reason": "provider"}] * 3
        assert math.isnan(overall.mean_times_validity(items)) and math.isnan(overall.zeroed_mean(items))
    assert math.isnan(overall.mean_times_validity([]))


def test_a_conditional_mean_counts_the_tasks_to_which_it_applies():
    items = [{"score": 40.0}, {"status": "not_applicable"}, {"score": 60.0}]
    assert overall.conditional_mean(items) == 50.0
    assert overall.total([{"count": 1.0}, {"count": 0.0}, {"count": 1.0}]) == 2.0
    assert math.isnan(overall.conditional_mean([{"score": 40.0}, {"status": "unscored"}]))  # 50 % of the applicable
    assert math.isnan(overall.conditional_mean([{"status": "not_applicable"}]))
