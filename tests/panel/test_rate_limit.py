"""A judge that turns calls away, as its server sees it: fewer calls at once, and all of them again afterwards."""

from __future__ import annotations

import threading
import time

from tests.judge_server import Answer, JudgeServer

from .conftest import varied

CONCURRENCY = 16
BEARS = 4  # calls at once, until so many were served:
BUSY_FOR = 80


def test_too_many_requests_lower_the_concurrency_and_it_recovers(material, score):
    lock, healthy = threading.Lock(), varied()
    running = served = 0
    busy: list[bool] = []  # by number of the request
    refused: list[bool] = []

    def script(body: dict, number: int):
        nonlocal running, served
        with lock:
            busy.append(served < BUSY_FOR)
            refused.append(busy[-1] and running >= BEARS)
            if refused[-1]:
                return Answer({"error": {"message": "slow down"}}, 429)
            running += 1
        # Long enough afterwards that sixteen calls at once are no matter of the machine's speed.
        time.sleep(0.03 if busy[-1] else 0.15)
        with lock:
            running -= 1
            served += 1
        return healthy(body, number)

    with JudgeServer(script) as server:
        material.judged_at(server.base_url, concurrency=CONCURRENCY, tries=12)
        profile = material.profile.read_text().split("[[mirage.mmst.judges]]")
        # One judge of 20 × 15 calls.
        material.profile.write_text("[[mirage.mmst.judges]]".join(profile[:2]).replace("= 3\n", "= 15\n", 1))
        scored = score()
    at_once = [request.at_once for request in server.requests]
    assert {one["status"] for one in scored.all_verdicts()} == {"valid"}
    assert len(scored.all_verdicts()) == 300
    last_busy = busy.index(False)
    # Once the limit has found its place it stays at half of what the profile allows, or lower.
    assert max(at_once[last_busy // 2 : last_busy]) <= CONCURRENCY // 2
    assert sum(refused[last_busy // 2 : last_busy]) <= len(refused[last_busy // 2 : last_busy]) / 2
    assert max(at_once[-100:]) == CONCURRENCY == server.most_at_once
