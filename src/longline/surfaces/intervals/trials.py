"""`/api/v1/sources/test-crawl` and `fetch-metadata`: previews of a site before it becomes a source."""

from typing import Any
from urllib.parse import urlsplit

from litestar import Response, post
from litestar.di import NamedDependency

from longline.model.errors import BadInput
from longline.model.patterns import check_patterns
from longline.services.page_preview import NoPreview, PagePreview
from longline.services.sources.trial_crawl import Trial
from longline.surfaces.http import answer
from longline.surfaces.intervals.asking import Asked, body, present, typed
from longline.surfaces.intervals.services import IntervalServices

Body = dict[str, Any]

SECONDS = 30
MOST_CHARACTERS = 1000
"""Most characters of an article's text in the response."""


def _url(found: Body) -> str:
    url: str | None = typed(found, "url", str)
    if not url:
        raise BadInput("url is required")
    return url


def _config(found: Body) -> Body:
    """Return the config for parsers, from the same fields as in the registration of a source."""
    kinds = {"selectors": dict, "article_url_patterns": list, "template_hint": str}
    config: Body = present({name: typed(found, name, kind) for name, kind in kinds.items()})
    if "article_url_patterns" in config:
        check_patterns("article_url_patterns", config["article_url_patterns"])
    return config


def tried(trial: Trial) -> Body:
    """Return the result of a trial crawl in the contract's format."""
    extract = trial.extract
    indexed = extract is not None and extract.skipped is None and trial.status < 400
    told: Body = {"url": trial.url, "status_code": trial.status, "content_type": trial.content_type}
    told |= {"articles_found": int(indexed), "success_rate": float(indexed), "links_found": trial.links}
    warnings = [f"status {trial.status}"] if trial.status >= 400 else []
    warnings += [] if extract else ["the page is no HTML that can be read"]
    if extract is not None and extract.skipped is not None:
        warnings.append(f"not indexed: {extract.skipped}")
    return told | {
        "warnings": warnings,
        "sample_articles": [_article(extract.fields, extract.method)] if extract else [],
    }


def _article(fields: Any, method: str) -> Body:
    names = {"title": "title", "url": "url", "author": "author", "published_date": "published_date"}
    told = present({name: fields.get(ours) for name, ours in names.items()})
    text = {"body": str(fields.get("raw_text") or "")[:MOST_CHARACTERS], "word_count": fields.get("word_count", 0)}
    return told | text | {"extraction_method": method}


def described(glance: PagePreview) -> Body:
    """Return the metadata of a site from a page preview."""
    host = urlsplit(glance.final_url).hostname or ""
    return {
        "url": glance.url,
        "final_url": glance.final_url,
        "status_code": glance.status,
        "name": glance.told.get("site_name") or glance.title or host,
        "title": glance.title,
        "description": glance.description or glance.told.get("description", ""),
        "author": glance.author,
        "og": glance.told or None,
        "feed_url": glance.feeds[0] if glance.feeds else None,
        "duration_ms": glance.took_ms,
    }


@post("/api/v1/sources/test-crawl", status_code=200, summary="What would be made of a page")
async def test_crawl(request: Asked, desk: NamedDependency[IntervalServices]) -> Response[Any]:
    found = await body(request)
    try:
        return Response(tried(await desk.trials.run(_url(found), _config(found), SECONDS)))
    except NoPreview as failed:
        return answer(502, str(failed))


@post("/api/v1/sources/fetch-metadata", status_code=200, summary="What a site says of itself")
async def fetch_metadata(request: Asked, desk: NamedDependency[IntervalServices]) -> Response[Any]:
    found = await body(request)
    try:
        return Response(described(await desk.glances.take(_url(found), SECONDS)))
    except NoPreview as failed:
        return answer(502, str(failed))


TRIALS = (test_crawl, fetch_metadata)
