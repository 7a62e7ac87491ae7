"""`/api/v1/backfill`: sources with short documents, and crawls for them."""

from typing import Any

from litestar import get, post
from litestar.di import NamedDependency

from longline.model.search.item import Wordiness
from longline.surfaces.intervals.asking import Asked, switch
from longline.surfaces.intervals.paging import MOST, whole
from longline.surfaces.intervals.services import IntervalServices

Body = dict[str, Any]

ENOUGH_WORDS = 100
USUAL_SOURCES = 20
PASSES_AT = 0.5
"""Least share of documents with enough words for a source to pass."""


def _enough(request: Asked) -> int:
    asked = whole(request.query_params.get("min_word_count"))
    return asked if asked > 0 else ENOUGH_WORDS


def _thin(source: Wordiness) -> Body:
    told = {"source_id": source.source_ref, "source_name": source.name, "documents": source.documents}
    return told | {"average_word_count": round(source.average, 2)}


def _judged(source: Wordiness) -> Body:
    share = source.enough / source.documents
    told = {"documents_passing": source.enough, "pass_rate": round(share, 4), "passed": share >= PASSES_AT}
    return _thin(source) | told


@post("/api/v1/backfill/worst-sources", status_code=200, summary="Crawl the sources with the shortest documents")
async def worst_sources(request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    least, dry = _enough(request), switch(request.query_params.get("dry_run")) is not False
    wanted = whole(request.query_params.get("limit"))
    found = await desk.backfill.worst(least, min(wanted, MOST) if wanted > 0 else USUAL_SOURCES)
    sources = [_thin(one) for one in found]
    if not dry:
        for told, source in zip(sources, found, strict=True):
            told["job_id"] = (await desk.backfill.send(source)).uid
    dispatched = 0 if dry else len(sources)
    return {
        "dry_run": dry,
        "min_word_count": least,
        "sources": sources,
        "total": len(sources),
        "dispatched": dispatched,
    }


@get("/api/v1/backfill/validation-report", summary="Which sources bring documents with enough words")
async def validation_report(request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    least = _enough(request)
    sources = [_judged(one) for one in await desk.backfill.report(least)]
    passed = sum(one["passed"] for one in sources)
    figures = {"total_sources": len(sources), "passed": passed, "failed": len(sources) - passed}
    return {"min_word_count": least, "pass_threshold": PASSES_AT, **figures, "sources": sources}


BACKFILL = (worst_sources, validation_report)
