"""Previews of single pages: of a site before it becomes a source, and for other internal services."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from longline.services.page_preview import PagePreviews
from longline.services.sources.trial_crawl import Trials
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.errors import FETCH_FAILED, FORBIDDEN_ADDRESS, UNKNOWN_PARSER, URL_REQUIRED
from longline.surfaces.intervals.field_types import MAX_NUMBER, Text
from longline.surfaces.intervals.preview_responses import (
    FetchedPage,
    SiteMetadata,
    TrialBody,
    fetched_page,
    site_metadata,
    trial_body,
)
from longline.surfaces.intervals.sources.source_settings import (
    ArticlePatterns,
    ParserConfig,
    ParserName,
    Selectors,
    TemplateHint,
)
from longline.surfaces.operation import operation

TIMEOUT_SECONDS = 30
DEFAULT_TIMEOUT_SECONDS = 15
MAX_TIMEOUT_SECONDS = 30
PageUrl = Annotated[Text, Meta(min_length=1, description="Absolute HTTP URL.", extra_json_schema={"format": "uri"})]
Timeout = Annotated[
    int,
    Meta(
        le=MAX_NUMBER,
        description="Seconds: at most 30, and 15 for 0 or less.",
    ),
]


@dataclass(frozen=True, slots=True)
class PreviewServices:
    """Fetches of single pages, with and without a source's parser."""

    previews: PagePreviews
    trials: Trials


class PageRequest(msgspec.Struct, frozen=True):
    """A page to look at."""

    url: PageUrl


class TrialRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A page to try, with the settings of the source to come."""

    url: PageUrl
    selectors: Selectors | None = None
    article_url_patterns: ArticlePatterns | None = None
    template_hint: TemplateHint | None = None
    parser: ParserName | None = None
    config: ParserConfig | None = None

    def settings(self) -> dict[str, Any]:
        """Return the settings of the source that parsers see."""
        sent = msgspec.structs.asdict(self)
        return {name: value for name, value in sent.items() if name != "url" and value is not None}


class FetchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A page to fetch."""

    url: PageUrl
    timeout: Timeout | None = DEFAULT_TIMEOUT_SECONDS

    def seconds(self) -> int:
        """Return the timeout within its bounds."""
        asked = self.timeout or 0
        return min(asked, MAX_TIMEOUT_SECONDS) if asked > 0 else DEFAULT_TIMEOUT_SECONDS


@operation(
    "POST",
    "/api/v1/sources/test-crawl",
    "Try the settings of a source on one page",
    errors=(URL_REQUIRED, UNKNOWN_PARSER, FORBIDDEN_ADDRESS, FETCH_FAILED),
    request_example=examples.TRIAL_REQUEST,
    response_example=examples.TRIAL,
)
async def test_crawl(services: PreviewServices, body: TrialRequest) -> TrialBody:
    """Nothing is stored."""
    return trial_body(await services.trials.run(body.url, body.settings(), TIMEOUT_SECONDS))


@operation(
    "POST",
    "/api/v1/sources/fetch-metadata",
    "Fetch the name, the description and the feed of a site",
    errors=(URL_REQUIRED, FORBIDDEN_ADDRESS, FETCH_FAILED),
    request_example=examples.PAGE_REQUEST,
    response_example=examples.SITE_METADATA,
)
async def fetch_metadata(services: PreviewServices, body: PageRequest) -> SiteMetadata:
    return site_metadata(await services.previews.take(body.url, TIMEOUT_SECONDS))


@operation(
    "POST",
    "/api/internal/v1/fetch",
    "Fetch and extract a page for another internal service",
    access="internal",
    errors=(URL_REQUIRED, FORBIDDEN_ADDRESS, FETCH_FAILED),
    request_example=examples.FETCH_REQUEST,
    response_example=examples.FETCHED_PAGE,
)
async def fetch_page(services: PreviewServices, body: FetchRequest) -> FetchedPage:
    """Up to 10 redirects are followed. Without a configured secret there is no such path."""
    return fetched_page(await services.previews.take(body.url, body.seconds()))


SITE_PREVIEWS = (test_crawl, fetch_metadata)
INTERNAL = (fetch_page,)
