"""From a report to its scores: parse, find claims and figures, fetch evidence, judge, put together.

Each stage rests on what the stage before has stored: pages in the snapshot, replies in the judge's cache. A run that is
killed goes on where it was, and a second run asks nobody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from lmms_tasks.mmdeepresearch_bench import flae, mosaic, trace
from lmms_tasks.mmdeepresearch_bench.claims import (
    FIRST_IMAGE_LABEL,
    Claim,
    claims_of,
    official_pairs,
    pairs_are_official,
)
from lmms_tasks.mmdeepresearch_bench.document import Document, read_document
from lmms_tasks.mmdeepresearch_bench.domains import host_of, official_category, our_category
from lmms_tasks.mmdeepresearch_bench.evidence import ImageItem, image_items, is_direct_image
from lmms_tasks.mmdeepresearch_bench.figures import judge_image
from lmms_tasks.mmdeepresearch_bench.page import Page
from lmms_tasks.mmdeepresearch_bench.parts import (
    CONDITIONAL,
    NO_TRUTH,
    NOT_APPLICABLE,
    PARTS_OF_FLAE,
    PARTS_OF_MOSAIC,
    PARTS_OF_TRACE,
    PARTS_OF_VEF,
    Missing,
    ReportScores,
    nothing_written,
)
from lmms_tasks.mmdeepresearch_bench.passages import closest_passages, relevance
from lmms_tasks.mmdeepresearch_bench.snapshot import NOT_STORED, Pages
from lmms_tasks.mmdeepresearch_bench.verdicts import REPORT, SUPPORT, VISUAL_FIDELITY, WEIGHTS, choice
from lmms_tasks.utils.judge import Judgement, Panel
from lmms_tasks.utils.statistics import MINIMUM_COVERAGE

SHORTEST_REPORT = 1_000  # characters; a shorter one is no report (`detail/worker.py`)
LONGEST_REPORT, LONGEST_RULES = 14_000, 1_400  # characters that the judge of FLAE sees, as the official one does
_HTTP = re.compile(r"https?://", re.IGNORECASE)
# A model that repeats itself for megabytes would hold up the run for minutes; ten times any report that was seen.
READ_CHARACTERS = 1_000_000
_THREADS = 16


@dataclass(frozen=True)
class Assignment:
    """The task that a report answers: its texts, kind, images (as a judge takes them) and visual truth, if known."""

    title: str
    body: str
    report_type: str
    rules: str
    images: Sequence[Any] = ()
    truth: str | None = None

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.body}".strip()

    @property
    def segment(self) -> str:
        return "ACADEMIC" if self.report_type == "research" else "DAILY"


# The judge's weights for the four channels of FLAE and the four of EVI, in [-1, 1].
Controller = list[float] | Missing


def score_report(report: str, assignment: Assignment, panel: Panel, pages: Pages) -> ReportScores:
    """Score one report by one panel; failures of judges and pages are parts without a number, never an exception."""
    if len(report) < SHORTEST_REPORT:
        return nothing_written("too_short", assignment.truth)
    return _Scoring(report, assignment, panel, pages).run()


class _Scoring:
    """One report on its way through the stages."""

    def __init__(self, report: str, assignment: Assignment, panel: Panel, pages: Pages):
        self.report = report[:READ_CHARACTERS]
        self.assignment = assignment
        self.panel = panel
        self.pages = pages
        self.document: Document = read_document(self.report)
        n_images = len(assignment.images)
        self.claims: list[Claim] = (
            official_pairs(self.report) if pairs_are_official() else claims_of(self.document, n_images)
        )
        self.scores = ReportScores("judged", {})
        self.scores.counts["reports_cut"] = len(report) > READ_CHARACTERS
        self.failures = 0

    def run(self) -> ReportScores:
        with ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="row") as threads:
            self.threads = threads
            written, weights, seen = self._judge_report()
            # An answer without a single verdict means that calls are being counted, not made (Panel.planning).
            planned = not written.verdicts
            controller = self._controller(weights)
            self._flae(written, controller)
            self._vef(seen)
            found = self._fetch(planned)
            self._trace(found, controller, planned)
            self._mosaic(found, planned)
        own = range(FIRST_IMAGE_LABEL, FIRST_IMAGE_LABEL + len(self.assignment.images))
        self.scores.counts |= {
            "claims": len(self.claims),
            "figures": len(self.document.figures),
            "references": len(self.document.references),
            "unresolved_citations": len(self.document.unresolved(own)),
            "truncated": len(self.report) > LONGEST_REPORT,
            "judge_failures": self.failures,
        }
        return self.scores

    def _judge_report(self) -> tuple[Judgement, Judgement, Judgement | None]:
        task, kind = self.assignment.text, self.assignment.report_type
        texts = {
            "rules": self.assignment.rules[:LONGEST_RULES],
            "task": task,
            "report": self.report[:LONGEST_REPORT],
        }
        asked = [
            self.threads.submit(self.panel.judge, REPORT, texts),
            self.threads.submit(self.panel.judge, WEIGHTS, {"task": task, "report_type": kind}),
        ]
        if self.assignment.truth is not None:
            seen = {
                "segment": self.assignment.segment,
                "task": self.assignment.body,
                "visual_truth": self.assignment.truth,
                "report": self.report,
            }
            asked.append(self.threads.submit(self.panel.judge, VISUAL_FIDELITY, seen, self.assignment.images))
        judgements = [self._noted(future.result()) for future in asked]
        return judgements[0], judgements[1], judgements[2] if len(judgements) > 2 else None

    def _controller(self, judgement: Judgement) -> Controller:
        if judgement.fields is None:
            return _why(judgement)
        return [judgement.fields[name] / 100.0 for name in WEIGHTS.numeric]

    def _flae(self, judgement: Judgement, controller: Controller) -> None:
        if judgement.fields is None:
            self.scores.parts |= dict.fromkeys(PARTS_OF_FLAE, _why(judgement))
            return
        fields = {name: value / 100.0 for name, value in judgement.fields.items()}
        sections = frozenset(name for name in flae.SECTIONS if judgement.fields[name] >= 0.5)
        features = flae.JudgedFeatures(
            sections=sections, **{name: value for name, value in fields.items() if name not in flae.SECTIONS}
        )
        figures = len({figure.url for figure in self.document.figures if _HTTP.match(figure.url)})
        weights = (0.0,) * 4 if isinstance(controller, Missing) else controller[:4]
        found = flae.flae(self.report, features, figures, self.assignment.report_type, weights)
        if not isinstance(controller, Missing):
            self.scores.weights["flae"] = list(found.weights)
        self.scores.parts |= {
            "read": 100.0 * found.readability,
            "insh": 100.0 * found.insight,
            "stru": 100.0 * found.structure,
            # The channels stand without the controller; their official weights do not.
            "gen": controller if isinstance(controller, Missing) else found.gen,
        }

    def _vef(self, judgement: Judgement | None) -> None:
        if judgement is None:
            self.scores.parts |= dict.fromkeys(PARTS_OF_VEF, NO_TRUTH)
        elif judgement.fields is None:
            self.scores.parts |= dict.fromkeys(PARTS_OF_VEF, _why(judgement))
        else:
            score = judgement.fields["score"]
            ours = trace.visual_fidelity(score, judgement.fields["wrong_identity"])
            self.scores.parts |= {"vef": ours, "vef_official": trace.official_vef(score)}

    def _fetch(self, planned: bool) -> dict[str, Page]:
        get = self.pages.stored if planned else self.pages.get
        found = get(claim.url for claim in self.claims if claim.url)
        return found | get(item.url for item in self._items(found) if item.url and item.url not in found)

    def _items(self, found: Mapping[str, Page]) -> list[ImageItem]:
        items = image_items(self.claims, self.document.figures, found, len(self.assignment.images))
        self.scores.counts["images_dropped"] = max(0, len(items) - mosaic.MOST_ITEMS)
        return items[: mosaic.MOST_ITEMS]

    def _trace(self, found: Mapping[str, Page], controller: Controller, planned: bool) -> None:
        claims = [claim for claim in self.claims if not is_direct_image(claim, found)]
        # Fidelity is 0 where all that a report cites are images; the official table has 100 there.
        self.scores.counts["only_images"] = bool(self.claims) and not claims
        self.scores.counts["pages"] = dict(
            Counter("refused" if found[url].refused else found[url].state for url in {c.url for c in claims})
        )
        # While calls are counted, a page that is not stored yet stands for one that will be read.
        shown = [
            claim
            for claim in claims
            if found[claim.url].readable or (planned and found[claim.url].reason == NOT_STORED)
        ]
        judged = dict(zip(shown, self.threads.map(partial(self._support, found), shown), strict=True))
        failed = [self._noted(judgement) for judgement in judged.values() if judgement.fields is None]
        for judgement in judged.values():
            if judgement.fields is not None:
                self._noted(judgement)
        if shown and len(failed) > (1.0 - MINIMUM_COVERAGE) * len(shown):
            self.scores.parts |= dict.fromkeys(PARTS_OF_TRACE, _why(*failed))
            return
        usable = [claim for claim in claims if claim not in judged or judged[claim].fields is not None]
        official = [self._pair(claim, found[claim.url], judged.get(claim), official_category) for claim in usable]
        ours = [
            self._pair(claim, found[claim.url], judged.get(claim), our_category)
            for claim in usable
            if claim in judged or found[claim.url].missing
        ]
        self._trace_parts(ours, [trace.with_official_floor(pair) for pair in official], controller)

    def _trace_parts(self, ours: list[trace.Evidence], official: list[trace.Evidence], controller: Controller) -> None:
        kind = self.assignment.report_type
        weights = (0.0,) * 4 if isinstance(controller, Missing) else controller[4:]
        theirs = trace.evidence_scores(official, kind, weights)
        own = trace.evidence_scores(ours, kind, weights)
        if not isinstance(controller, Missing):
            self.scores.weights["evi"] = list(theirs.weights)
        # Every source that might exist is closed to us: that says nothing about the report.
        closed = Missing("unscored", "data") if official and not ours else None
        self.scores.parts |= {
            "con": closed or 100.0 * own.consistency,
            "cov": closed or 100.0 * own.coverage,
            "fid": closed or 100.0 * own.fidelity,
            "con_official": 100.0 * theirs.consistency,
            "cov_official": 100.0 * theirs.coverage,
            "fid_official": 100.0 * theirs.fidelity,
            "evi": controller if isinstance(controller, Missing) else theirs.evi,
        }

    def _support(self, found: Mapping[str, Page], claim: Claim) -> Judgement:
        page = found[claim.url]
        texts = {
            "claim": claim.text,
            "snippet": claim.snippet,
            "url": page.final_url or claim.url,
            "passages": closest_passages(page.text, claim.text),
        }
        return self.panel.judge(SUPPORT, texts)

    def _pair(self, claim: Claim, page: Page, judgement: Judgement | None, rule: Any) -> trace.Evidence:
        host = host_of(page.final_url or claim.url)
        category = rule(host, choice(judgement, "source_category") if judgement else "unknown")
        known = {
            "weight": claim.weight,
            "domain": host,
            "prohibited": category == "prohibited",
            "authoritative": category == "authoritative",
            "key": claim.key,
            "on_image": claim.on_image,
        }
        if judgement is None or judgement.fields is None:
            return trace.Evidence(support=0.0, read=False, **known)
        fields = {name: value / 100.0 for name, value in judgement.fields.items()}
        depth = 1.0
        if claim.on_image and page.content_type == "text/html":
            depth = trace.image_depth([relevance(claim.text, image.words) for image in page.images])
        return trace.Evidence(
            support=flae.clamp(fields["support_strength"] * depth),
            hallucination=fields["hallucination"],
            inversion=fields["inversion"],
            soundness=fields["soundness"],
            **known,
        )

    def _mosaic(self, found: Mapping[str, Page], planned: bool) -> None:
        parts = self.scores.parts
        gen, evi = parts["gen"], parts["evi"]
        unknown = next((part for part in (gen, evi) if isinstance(part, Missing)), None)
        if unknown is not None and not planned:
            parts |= dict.fromkeys(PARTS_OF_MOSAIC, unknown)
            return
        if unknown is None and not mosaic.gate(gen, evi):
            parts |= {**dict.fromkeys(CONDITIONAL, NOT_APPLICABLE), "mosaic": 0.0, "mm": 0.0}
            return
        items = self._items(found)
        self.scores.counts["images"] = len(items)
        shown = [(item, image) for item in items if (image := self._image(item, found)) is not None]
        self.scores.counts["images_missing"] = len(items) - len(shown)
        judged = list(self.threads.map(lambda pair: judge_image(self.panel, *pair), shown))
        for each in judged:
            for judgement in each.judgements:
                self._noted(judgement)
            if each.probability is not None:
                self.scores.judgements[-1]["yes_probability"] = each.probability
            # A valid answer whose tokens hold neither yes nor no.
            self.failures += each.item is None and all(judgement.fields is not None for judgement in each.judgements)
        failed = [each for each in judged if each.item is None]
        if shown and len(failed) > (1.0 - MINIMUM_COVERAGE) * len(shown):
            why = _why(*(judgement for each in failed for judgement in each.judgements))
            parts |= dict.fromkeys(PARTS_OF_MOSAIC, why)
            return
        scored = mosaic.mosaic_scores([each.item for each in judged if each.item is not None])
        parts |= {
            name: NOT_APPLICABLE if value is None else value
            for name, value in (("sem", scored.semantic), ("acc", scored.accuracy), ("vqa", scored.vqa))
        }
        parts |= {"mosaic": scored.card, "mm": scored.official}

    def _image(self, item: ImageItem, found: Mapping[str, Page]) -> Any:
        """The image as a judge takes it; None where it could not be had."""
        if item.position is not None:
            return self.assignment.images[item.position]
        page = found.get(item.url)
        return None if page is None else page.image

    def _noted(self, judgement: Judgement) -> Judgement:
        if judgement.verdicts:
            self.scores.judgements.append(judgement.record())
            self.failures += judgement.fields is None
        return judgement


def _why(*failed: Judgement) -> Missing:
    """Whose fault it is: the judge's provider where one call failed on the way, else an answer of no use."""
    statuses = {verdict.status for judgement in failed for verdict in judgement.verdicts if not verdict.valid}
    return Missing("unscored", "provider" if statuses & {"failed", "budget", "closed"} else "pipeline")
