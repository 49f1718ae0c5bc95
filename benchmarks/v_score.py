"""V-Score's rows a second with 1, 10 and 118 boxes a row (the most in one fastMRI+ brain), on one core.

A row is one answer parsed, put on frames, and matched with as many key boxes, of which a third is on other frames.

python benchmarks/v_score.py [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from typing import Any

SIZES = (1, 10, 118)
SECONDS = 1.5


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help=f"a size (default {SECONDS})")
    given = parser.parse_args()
    report = {
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
        "load_average_before": os.getloadavg()[0],
        "rows_a_second": {str(boxes): rows_a_second(boxes, given.seconds) for boxes in SIZES},
    }
    if given.json:
        print(json.dumps(report, indent=2))
    else:
        print(
            f"Python {report['python']}, load {report['load_average_before']:.1f}\n\n| boxes | rows a second |\n|---:|---:|"
        )
        print("\n".join(f"| {boxes} | {rate:,.0f} |" for boxes, rate in report["rows_a_second"].items()))
    return 0


def rows_a_second(boxes: int, seconds: float) -> float:
    """Rows with `boxes` key boxes and as many predictions, scored for `seconds`."""
    from lmms_tasks.sgmri_vqa.boxes import assign_default_frame, parse_boxes
    from lmms_tasks.sgmri_vqa.v_score import match_boxes

    rows = [made_row(boxes, seed) for seed in range(20)]
    keys = [parse_boxes(key) for key, _ in rows]

    def score(number: int) -> Any:
        return match_boxes(keys[number], assign_default_frame(parse_boxes(rows[number][1], 256, 256)))

    score(0)
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        score(done % len(rows))
        done += 1
    return done / spent


def made_row(boxes: int, seed: int) -> tuple[str, str]:
    """The texts of a key and of an answer with `boxes` boxes each."""
    rng = random.Random(seed)

    def text(shift: int) -> str:
        listed = (
            f"Frame {rng.randint(1, 16) if n % 3 == 0 else n % 16 + 1}: "
            f"<bbx>[{n % 60 * 4 + shift}, {n % 50 * 4}, {8 + n % 9}, {7 + n % 5}]</bbx>"
            for n in range(boxes)
        )
        return "Lesions: " + "; ".join(listed)

    return text(0), text(rng.randint(0, 4))


if __name__ == "__main__":
    sys.exit(main())
