"""SGMRI-VQA's rule-based scoring of a whole test split, 9,293 rows, on one core, and its memory.

Rows are made up, in the split's proportions (1,492 slices and 368 volumes, five questions each, cut to 9,293; closed
42 %, choice 36 %, open 22 %). Measured is what needs no model: reasoning stripped, the three A-Scores of closed and
choice questions, keyword recall of open ones, boxes parsed and matched, coordinates stripped, BLEU and ROUGE-L.

Memory: peak resident memory of a process that scores 1,000 and 9,293 rows and keeps their items, imports apart; the bar
is 20 KB for each further row.

python benchmarks/rules.py [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

ROWS, SMALL = 9293, 1000
SLICES = 1492 * 5
TARGET_SECONDS, TARGET_SLOPE = 30.0, 20.0
SENTENCE = "the a left right signal lesion frame abnormality no normal mild bone edema shows with of in"
LABELS = ("Mass", "Joint Effusion ", "Meniscus Tear", "Nonspecific white matter lesion")
TASKS = {
    "image": ("detection", "localization", "classification", "diagnosis", "captioning"),
    "volume": ("detection", "localization", "counting", "classification", "captioning"),
}


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside is not None:
        print(json.dumps(score_rows(given.inside)))
        return 0
    small, whole = (_in_a_process(rows) for rows in (SMALL, ROWS))
    slope = (whole["peak_kb"] - small["peak_kb"]) / (ROWS - SMALL)
    report = {
        "python": sys.version.split()[0],
        "load_average_before": os.getloadavg()[0],
        "rows": ROWS,
        "seconds": whole["seconds"],
        "target_seconds": TARGET_SECONDS,
        "imports_kb": whole["imports_kb"],
        "peak_kb": {str(SMALL): small["peak_kb"], str(ROWS): whole["peak_kb"]},
        "kb_a_row": slope,
        "target_kb_a_row": TARGET_SLOPE,
    }
    print(json.dumps(report, indent=2) if given.json else _table(report))
    return 0 if whole["seconds"] < TARGET_SECONDS and slope <= TARGET_SLOPE else 1


def score_rows(count: int) -> dict[str, float]:
    """Score `count` rows in this process: seconds, and peak memory before and after in KB."""
    from lmms_tasks.sgmri_vqa.a_score import OPEN_ENDED, keyword_recall
    from lmms_tasks.sgmri_vqa.coordinates import OFFICIAL
    from lmms_tasks.sgmri_vqa.scoring import answer_items, box_items
    from lmms_tasks.sgmri_vqa.text_metrics import bleu, rouge_l, strip_coordinates_and_frames
    from lmms_tasks.utils.reasoning import strip_reasoning

    bleu("warm up", "warm up")
    rouge_l("warm up", "warm up")
    imports = _peak_kb()
    kept, start = [], time.perf_counter()
    for row, raw in made_rows(count):
        answers = [strip_reasoning(raw)]
        if row["type"] in OPEN_ENDED:
            items: dict[str, Any] = {"recall": keyword_recall(answers[0].text, row["labels"])}
        else:
            items = dict(answer_items(row, answers))
        items |= box_items(row, answers, OFFICIAL).items
        if row["task"] in ("captioning", "localization"):
            texts = answers[0].text, row["answer"]
            if row["task"] == "localization":
                texts = tuple(map(strip_coordinates_and_frames, texts))
            items |= {"bleu": bleu(*texts), "rouge_l": rouge_l(*texts)}
        kept.append(items)
    return {"seconds": time.perf_counter() - start, "imports_kb": imports, "peak_kb": _peak_kb()}


def made_rows(count: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Rows as `process_docs` makes them, with an answer of 5 to 120 words to each."""
    rng, words = random.Random(3), SENTENCE.split()
    for number in range(count):
        # Spread, so that a small run has the proportions of the whole.
        level = "image" if number % ROWS * 797 % ROWS < SLICES else "volume"
        task = TASKS[level][number % 5]
        kind = {
            "detection": "closed_ended",
            "counting": "closed_ended",
            "localization": "open_ended",
            "captioning": "open_ended",
        }.get(task) or rng.choice(["single_choice", "multiple_choice", "single_choice", "closed_ended", "open_ended"])
        boxes = [[20 + n, 30, 12, 10, n % 16 + 1 if level == "volume" else None] for n in range(rng.choice([1, 3, 12]))]
        located = "; ".join(f"Frame {frame or 1}: <bbx>{four}</bbx>" for *four, frame in boxes)
        answer = {
            "closed_ended": "3" if task == "counting" else "Yes",
            "single_choice": "(B)",
            "multiple_choice": "(A), (C)",
        }.get(kind, " ".join(rng.choices(words, k=40)))
        if task == "localization":
            answer = f"{rng.choice(LABELS)}: {located}"
        said = (
            f"<think>{' '.join(rng.choices(words, k=80))}</think>{' '.join(rng.choices(words, k=rng.randint(5, 120)))}"
        )
        said += f" (B) {located}" if task == "localization" else "\nTherefore, the final answer is: (B)."
        yield (
            {
                "organ": "brain",
                "level": level,
                "task": task,
                "type": kind,
                "answer": answer,
                "labels": [rng.choice(LABELS)],
                "width": 256,
                "height": 256,
                "key_boxes": json.dumps(boxes if task == "localization" else []),
            },
            said,
        )


def _in_a_process(rows: int) -> dict[str, float]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--inside", str(rows)]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def _peak_kb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform == "darwin" else float(peak)


def _table(report: dict[str, Any]) -> str:
    peaks = ", ".join(f"{kb / 1024:.0f} MB with {rows} rows" for rows, kb in report["peak_kb"].items())
    return (
        f"Python {report['python']}, load {report['load_average_before']:.1f}\n\n"
        f"{report['rows']:,} rows by rules: {report['seconds']:.1f} s on one core "
        f"(bar: {report['target_seconds']:.0f} s).\n"
        f"Peak memory: {report['imports_kb'] / 1024:.0f} MB for imports, {peaks}: {report['kb_a_row']:.2f} KB a row "
        f"(bar: {report['target_kb_a_row']:.0f} KB)."
    )


if __name__ == "__main__":
    sys.exit(main())
