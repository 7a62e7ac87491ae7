"""Responses about trial crawls and fetched pages, and their making from previews."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from longline.services.page_preview import PagePreview
from longline.services.sources.trial_crawl import Trial

MAX_ARTICLE_CHARACTERS = 1000

MAX_SAMPLE_ITEMS = 10


class OpenGraph(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Open Graph properties of a page; missing ones are left out."""

    title: str | None = None
    description: str | None = None
    image: str | None = None
    type: str | None = None
    url: str | None = None
    site_name: str | None = None


class SampleArticle(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document that a page would become; the text is shortened, and missing fields are left out."""

    title: str | None = None
    url: str | None = None
    author: str | None = None
    published_date: str | None = None
    body: str
    word_count: int
    extraction_method: str


class SampleItem(msgspec.Struct, frozen=True):
    """An item that the parser of the source made of the page."""

    kind: str
    fields: dict[str, Any]


class TrialBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a trial crawl of one page; items are those of a named parser, or of an own one for the page."""

    url: str
    status_code: int
    content_type: str
    articles_found: int
    success_rate: float
    links_found: int
    warnings: list[str]
    sample_articles: list[SampleArticle]
    parser: str | None = None
    sample_items: list[SampleItem] = []


class SiteMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a site by one of its pages."""

    url: str
    final_url: str
    status_code: int
    name: str
    title: str
    description: str
    author: str
    og: OpenGraph | None
    feed_url: str | None
    duration_ms: int


class FetchedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page with its text and metadata, which are empty unless it is HTML."""

    url: str
    final_url: str
    status_code: int
    content_type: str
    html: str
    title: str
    body: str
    author: str
    description: str
    og: OpenGraph | None
    duration_ms: int


def trial_body(trial: Trial) -> TrialBody:
    """Return the result of a trial crawl in the contract's format."""
    if trial.parser is not None:
        return _items_body(trial)
    extract = trial.extract
    indexed = extract is not None and extract.skipped is None and trial.status < 400
    warnings = [f"status {trial.status}"] if trial.status >= 400 else []
    warnings += [] if extract else ["the page is no HTML that can be read"]
    if extract is not None and extract.skipped is not None:
        warnings.append(f"not indexed: {extract.skipped}")
    return TrialBody(
        url=trial.url,
        status_code=trial.status,
        content_type=trial.content_type,
        articles_found=int(indexed),
        success_rate=float(indexed),
        links_found=trial.links,
        warnings=warnings,
        sample_articles=[_sample(extract.fields, extract.method)] if extract else [],
    )


def _items_body(trial: Trial) -> TrialBody:
    """Return the result of a trial with a parser that makes items."""
    warnings = [f"status {trial.status}"] if trial.status >= 400 else []
    if trial.error is not None:
        warnings.append(f"parser failed: {trial.error}")
    elif not trial.items:
        warnings.append(f"the parser {trial.parser} makes no item of the page")
    return TrialBody(
        url=trial.url,
        status_code=trial.status,
        content_type=trial.content_type,
        articles_found=len(trial.items),
        success_rate=float(bool(trial.items) and trial.status < 400),
        links_found=trial.links,
        warnings=warnings,
        sample_articles=[],
        parser=trial.parser,
        sample_items=[SampleItem(item.kind, _builtins(item.fields)) for item in trial.items[:MAX_SAMPLE_ITEMS]],
    )


def _builtins(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as JSON has them; values of other types are texts, as in the tables of items."""
    found: dict[str, Any] = msgspec.to_builtins(dict(fields), str_keys=True, enc_hook=str)
    return found


def _sample(fields: Mapping[str, Any], method: str) -> SampleArticle:
    return SampleArticle(
        title=fields.get("title"),
        url=fields.get("url"),
        author=fields.get("author"),
        published_date=fields.get("published_date"),
        body=str(fields.get("raw_text") or "")[:MAX_ARTICLE_CHARACTERS],
        word_count=fields.get("word_count", 0),
        extraction_method=method,
    )


def site_metadata(preview: PagePreview) -> SiteMetadata:
    """Return the metadata of a site from a page preview."""
    host = urlsplit(preview.final_url).hostname or ""
    return SiteMetadata(
        url=preview.url,
        final_url=preview.final_url,
        status_code=preview.status,
        name=preview.open_graph.get("site_name") or preview.title or host,
        title=preview.title,
        description=preview.description or preview.open_graph.get("description", ""),
        author=preview.author,
        og=_open_graph(preview),
        feed_url=preview.feeds[0] if preview.feeds else None,
        duration_ms=preview.took_ms,
    )


def fetched_page(preview: PagePreview) -> FetchedPage:
    """Return a page preview in the contract's format."""
    return FetchedPage(
        url=preview.url,
        final_url=preview.final_url,
        status_code=preview.status,
        content_type=preview.content_type,
        html=preview.html,
        title=preview.title,
        body=preview.text,
        author=preview.author,
        description=preview.description,
        og=_open_graph(preview),
        duration_ms=preview.took_ms,
    )


def _open_graph(preview: PagePreview) -> OpenGraph | None:
    return OpenGraph(**preview.open_graph) if preview.open_graph else None
