"""The answers of the tools, and their conversion from the results of services."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

import msgspec
from pydantic import BaseModel

from longline.model.search.item import RunItem, own_fields
from longline.services.archive.pages import ArchivedPage
from longline.services.crawls.crawl_loop import CrawlResult
from longline.services.frontier.url_fates import UrlOut
from longline.services.search.item_search import Hit, SearchPage

MAX_PAGE_CHARACTERS = 50_000
"""Largest number of characters of a page in one answer; `offset` leads to the rest."""


class HitAnswer(BaseModel):
    """A hit of a search; the best match has the rank 1."""

    rank: int
    title: str
    url: str
    kind: str
    run: int
    excerpt: str


class SearchAnswer(BaseModel):
    """Hits of a search, the best first; `searched_for` is a corrected query."""

    total: int
    hits: list[HitAnswer]
    searched_for: str | None


class PageAnswer(BaseModel):
    """A page as Markdown. `next_offset` leads to the rest of a long page; None at its end."""

    url: str
    status: int
    fetched_at: str
    markdown: str
    next_offset: int | None


class UrlsAnswer(BaseModel):
    """URLs of a run with their fates; `more` is whether the limit left some out."""

    run: int
    urls: list[dict[str, Any]]
    more: bool


class ItemsAnswer(BaseModel):
    """Items of a run; `next_position` leads to the items behind them, None at the end."""

    run: int
    items: list[dict[str, Any]]
    next_position: int | None


class CrawlAnswer(BaseModel):
    """The end of a crawl: its run, and its URLs by fate and reason."""

    run: int
    state: str
    pages: int
    urls: dict[str, int]
    errors: list[str]


def search_out(found: SearchPage) -> SearchAnswer:
    """Return a page of hits as an answer."""
    return SearchAnswer(total=found.total, hits=list(map(_hit, found.hits, count(1))), searched_for=found.meant)


def _hit(hit: Hit, rank: int) -> HitAnswer:
    item = hit.item
    excerpt = " ".join("".join(piece.text for piece in hit.excerpt).split())
    return HitAnswer(rank=rank, title=item.title, url=item.url, kind=item.kind, run=item.run_id, excerpt=excerpt)


def page_out(page: ArchivedPage, offset: int) -> PageAnswer:
    """Return a part of a page's Markdown as an answer."""
    text, end = page.markdown(), offset + MAX_PAGE_CHARACTERS
    return PageAnswer(
        url=page.row.url,
        status=page.row.status,
        fetched_at=datetime.fromtimestamp(page.row.fetched_at / 1000, UTC).isoformat(timespec="seconds"),
        markdown=text[offset:end],
        next_offset=end if end < len(text) else None,
    )


def urls_out(run_id: int, rows: Sequence[UrlOut], limit: int) -> UrlsAnswer:
    """Return the first URLs of a run as an answer, without empty fields."""
    shown = [{name: v for name, v in msgspec.to_builtins(row).items() if v is not None} for row in rows[:limit]]
    return UrlsAnswer(run=run_id, urls=shown, more=len(rows) > limit)


def items_out(run_id: int, rows: Sequence[RunItem], limit: int) -> ItemsAnswer:
    """Return items with the parser's own fields as an answer."""
    shown = [{"kind": row.kind, "page": row.url, **own_fields(row)} for row in rows[:limit]]
    return ItemsAnswer(run=run_id, items=shown, next_position=rows[limit - 1].position if len(rows) > limit else None)


def crawl_out(result: CrawlResult) -> CrawlAnswer:
    """Return the end of a crawl as an answer."""
    return CrawlAnswer(
        run=result.run.id,
        state=str(result.run.state),
        pages=result.run.completed,
        urls={f"{one.fate}: {one.reason}": one.count for one in result.fates},
        errors=[f"{count} failed: {error} (last: {url})" for error, count, url in result.errors],
    )
