"""The tasks by the real lmms-eval: in one process where possible, by its command where a process matters."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from lmms_tasks.benchmarks import read_catalogue
from lmms_tasks.cli import main
from lmms_tasks.sgmri_vqa import encoders
from lmms_tasks.sources import load_rows
from lmms_tasks.utils.encoders import find_minilm
from tests.lmms_eval_process import lmms_eval
from tests.sgmri_vqa.conftest import image_row, volume_row, write_rows

SAMPLES = ("sgmri_vqa_image_sample", "sgmri_vqa_volume_sample")
CATALOGUE = read_catalogue()
REAL = sorted(
    name for name, task in CATALOGUE.tasks.items() if task.benchmark.name == "sgmri_vqa" and not task.on_samples
)


@pytest.fixture
def evaluate(evaluator, task_manager):
    def run(model, tasks, **options):
        options = {"task_manager": task_manager, "bootstrap_iters": 0, **options}
        return evaluator.simple_evaluate(model=model, tasks=list(tasks), **options)

    return run


@pytest.mark.parametrize("kind", ["ReferenceSimple", "ReferenceChat"])
def test_the_reference_reaches_the_best_scores_by_either_road(evaluate, kind, home):
    from lmms_tasks.baselines import reference

    results = evaluate(getattr(reference, kind)(), ["sgmri_vqa_sample"])["results"]
    for task in SAMPLES:
        assert results[task]["a_score,none"] == pytest.approx(1.0, abs=1e-6)
        assert results[task]["v_score,none"] == 1.0
        assert results[task]["predicted_boxes_stderr_clt,none"] > 0
    (path,) = (home / "runs").glob("*_lmms_tasks_sgmri_vqa_volume_sample.json")
    manifest = json.loads(path.read_text())
    assert manifest["breakdowns"]["by_task"]["localization"]["v_score"]["n"] == 5
    assert manifest["answers"] == {"answered": 14, "judged": 11}


def test_an_encoder_named_by_the_user_has_a_metric_of_its_own(evaluate, monkeypatch):
    from lmms_tasks.baselines.reference import ReferenceSimple

    monkeypatch.setenv("SGMRI_VQA_ENCODER", str(find_minilm()))
    monkeypatch.setenv("SGMRI_VQA_LAYER", "6")
    results = evaluate(ReferenceSimple(), SAMPLES)["results"]
    for task in SAMPLES:
        # Equal texts have 1 in every part; short ones less in BLEU, whose four-grams they do not have.
        assert 0.9 < results[task]["ar_score_custom_encoder,none"] <= 1.0
        assert math.isnan(results[task]["ar_score,none"]) and math.isnan(results[task]["ar_score_strict,none"])


def test_the_tiny_model_answers_every_sample_a_volume_of_16_slices_too(evaluate):
    from lmms_tasks.baselines.tiny_vlm import TinyVlmChat

    assert 16 in {row["num_slices"] for row in load_rows(CATALOGUE.tasks[SAMPLES[1]])}
    results = evaluate(TinyVlmChat(max_new_tokens=4), ["sgmri_vqa_sample"])
    for task in SAMPLES:
        assert 0 <= results["results"][task]["a_score,none"] < 1
        assert all(sample["filtered_resps"][0] for sample in results["samples"][task])


@pytest.mark.parametrize("name", [*REAL, "sgmri_vqa", "sgmri_vqa_lite"])
def test_one_row_of_every_task_and_group_on_local_data(evaluate, data, slices, name):
    from lmms_tasks.baselines.reference import ReferenceChat

    for organ in ("brain", "knee"):
        write_rows(data / f"{organ}_test_image.json", [image_row(1, organ), image_row(1, organ)])
        write_rows(data / f"{organ}_test_volume.json", [volume_row(1, organ), volume_row(1, organ)])
    results = evaluate(ReferenceChat(), [name], limit=1)["results"]
    leaves = [task.name for task in CATALOGUE.leaves([name])]
    assert leaves and all(results[task]["detection,none"] == results[task]["a_score,none"] == 1.0 for task in leaves)


def test_answers_logged_elsewhere_give_the_numbers_of_the_direct_run(evaluate, tmp_path, capsys):
    from tests.scripted_model import ScriptedModel

    results = evaluate(ScriptedModel(lambda task, doc_id, n: f"No, (A) [{doc_id}, 20, 30, 40]"), SAMPLES)
    for task in SAMPLES:
        log = tmp_path / f"x_samples_{task}.jsonl"
        log.write_text("\n".join(json.dumps(sample, default=str) for sample in results["samples"][task]))
        assert main(["score", task, str(log), "--json"]) == 0
        scored = json.loads(capsys.readouterr().out)["results"][task]
        for metric, value in scored.items():
            if metric.endswith(",none") and "stderr" not in metric and value is not None:
                assert value == pytest.approx(results["results"][task][metric], abs=1e-6)


@pytest.fixture(scope="module")
def hub_home(tmp_path_factory) -> Path:
    """An HF_HOME whose cache has a roberta-large: 17 random layers, small enough for a test, where the real one lies."""
    import torch
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    home = tmp_path_factory.mktemp("hf")
    snapshot = home / "hub" / "models--roberta-large" / "snapshots" / ("1" * 40)
    snapshot.mkdir(parents=True)
    (home / "hub" / "models--roberta-large" / "refs").mkdir()
    (home / "hub" / "models--roberta-large" / "refs" / "main").write_text("1" * 40)
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=specials, initial_alphabet=alphabet)
    bpe.train_from_iterator(["a drawn brain with one lesion"], trainer)
    bpe.model.save(str(snapshot))
    tokenizer = RobertaTokenizerFast.from_pretrained(snapshot, model_max_length=126)
    tokenizer.save_pretrained(snapshot)
    torch.manual_seed(3)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 128}
    model = RobertaModel(RobertaConfig(vocab_size=len(tokenizer), num_hidden_layers=18, initializer_range=0.5, **sizes))
    model.save_pretrained(snapshot)
    return home


def table(outcome) -> dict[str, float]:
    return {
        f"{task} {metric}": value
        for task, row in outcome.results.items()
        for metric, value in row.items()
        if metric.endswith(",none") and isinstance(value, float)
    }


@pytest.fixture
def with_roberta(hub_home, monkeypatch):
    """Let this process find the hub's cache with a roberta-large, and forget it afterwards."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(hub_home / "hub"))
    encoders._default_scorer.cache_clear()
    yield
    encoders._default_scorer.cache_clear()


def test_with_the_weights_of_bertscore_every_number_is_there_and_the_average_too(evaluate, with_roberta, home):
    from lmms_tasks.baselines.reference import ReferenceSimple

    results = evaluate(ReferenceSimple(), ["sgmri_vqa_sample"])["results"]
    found = {f"{task} {metric}": value for task, row in results.items() for metric, value in row.items()}
    for task in SAMPLES:
        for metric in (
            "ar_score",
            "ar_score_official",
            "ar_score_no_judge",
            "ar_score_strict",
            "captioning",
            "average",
        ):
            # A cosine of equal vectors may be 1.0000001, and the official score is not clamped.
            assert 0.9 < found[f"{task} {metric},none"] <= 1.0 + 1e-6
        assert math.isnan(found[f"{task} ar_score_custom_encoder,none"])
    both = [found[f"{task} average,none"] for task in SAMPLES]
    assert found["sgmri_vqa_sample average,none"] == pytest.approx(sum(both) / 2)
    (path,) = home.rglob("*_lmms_tasks_sgmri_vqa_image_sample.json")
    assert json.loads(path.read_text())["breakdowns"]["encoders"]["bertscore"] == "roberta-large, layer 17, rescaled"


@pytest.mark.long
def test_two_ranks_give_the_numbers_of_one(hub_home, tmp_path, home):
    run = ("--model", "reference", "--model_args", "error_rate=0.4", "--tasks", "sgmri_vqa_sample", "--log_samples")
    one, two = (table(lmms_eval(tmp_path / str(ranks), *run, ranks=ranks, HF_HOME=str(hub_home))) for ranks in (1, 2))
    assert one.keys() == two.keys()
    assert any(0.1 < value < 0.9 for value in one.values())
    for name, value in one.items():
        assert two[name] == pytest.approx(value, abs=1e-6, nan_ok=True)
