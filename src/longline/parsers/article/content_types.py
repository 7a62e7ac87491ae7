"""Content types: news, events, reports and others, by markup and by the form of the URL."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from longline.html.structured_data import types_of
from longline.model.patterns import MAX_PATTERNS, Patterns
from longline.model.runs.crawl_bounds import FILE_EXTENSIONS
from longline.plugins import Page

_BY_TYPE = {
    "NewsArticle": "article",
    "Article": "article",
    "BlogPosting": "blog_post",
    "PressRelease": "press_release",
    "Event": "event",
    "SpecialAnnouncement": "advisory",
    "Report": "report",
}
_BY_PATH = (
    (("press", "media", "newsroom"), "press_release"),
    (("event", "events", "calendar", "upcoming"), "event"),
    (("alert", "alerts", "advisory", "advisories", "bulletin", "bulletins"), "advisory"),
    (("report", "reports"), "report"),
    (("blotter", "blotters", "incidents", "arrests"), "blotter"),
    (("investor", "investors", "updates"), "company_announcement"),
    (("obituary", "obituaries", "obits"), "obituary"),
    (("recipe", "recipes", "food"), "recipe"),
    (("jobs", "careers"), "job"),
    (("rfp", "rfps", "tender", "tenders", "procurement", "solicitation", "solicitations", "bids"), "rfp"),
)
PAGE_TYPES = tuple(dict.fromkeys((*_BY_TYPE.values(), *(kind for _, kind in _BY_PATH))))
"""Types of pages that can be detected."""

FOLDERS_WITHOUT_CONTENT = (
    *("login", "signin", "signup", "register", "search", "contact", "about", "privacy", "terms", "tag"),
    *("category", "author", "page", "feed", "rss", "sitemap", "admin", "wp-admin", "account", "cart"),
    *("checkout", "shop", "store", "product", "products"),
)
"""Folders of a path under which a site keeps pages that are no articles."""

_CONTENT = frozenset(("news", "article", "articles", "story", "stories", "post", "posts", "blog"))
_NOT_CONTENT = frozenset(FOLDERS_WITHOUT_CONTENT)
_FILES = tuple(f".{extension}" for extension in FILE_EXTENSIONS)
_DATED = re.compile(r"/\d{4}/\d{1,2}(?:/\d{1,2})?/[^/]+")
_SLUG = re.compile(r"[^\W_]+(?:-[^\W_]+){3,}(?:\.[a-z]{2,5})?")


def detected_type(page: Page, patterns: Iterable[str] = ()) -> str | None:
    """Return the content type by JSON-LD, path, `og:type` and the form of the URL, in that order; None for no content.

    `patterns` are the source's regular expressions for URLs of content; they replace the check of the URL's form.
    """
    kinds = map(types_of, page.data.json_ld)
    by_type = (word for of_thing in kinds for kind, word in _BY_TYPE.items() if kind in of_thing)
    found = next(by_type, None) or type_of_path(urlsplit(page.url).path)
    if found is None and (page.data.meta("og:type").lower() == "article" or _is_content(page.url, tuple(patterns))):
        return "article"
    return found


def type_of_path(path: str) -> str | None:
    """Return the content type by one of the path's folders, or by its suffix .pdf."""
    lowered = path.lower()
    if lowered.endswith(".pdf"):
        return "report"
    return next((kind for words, kind in _BY_PATH if any(f"/{word}/" in lowered for word in words)), None)


def is_content_url(url: str) -> bool:
    """Return whether a page may be content by the form of its URL alone."""
    return type_of_path(urlsplit(url).path) is not None or _is_content(url, ())


def _is_content(url: str, patterns: Sequence[str]) -> bool:
    if patterns:
        return _patterns(tuple(map(str, patterns[:MAX_PATTERNS]))).found_in(url)
    path = urlsplit(url).path.lower()
    parts = [part for part in path.split("/") if part]
    if path.endswith(_FILES) or not _NOT_CONTENT.isdisjoint(parts):
        return False
    after_content = any(part in _CONTENT for part in parts[:-1])
    return bool(_DATED.search(path)) or after_content or any(_SLUG.fullmatch(unquote(part)) for part in parts)


@lru_cache(maxsize=256)
def _patterns(texts: tuple[str, ...]) -> Patterns:
    return Patterns(texts)
