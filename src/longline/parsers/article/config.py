"""Config of the article parser: the links that it never follows, and the pages of which it makes a document."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from longline.model.errors import BadInput
from longline.model.patterns import Patterns, check_patterns
from longline.model.runs.crawl_bounds import FILES
from longline.model.runs.crawl_plan import BY_NAME
from longline.parsers.article.content_types import FOLDERS_WITHOUT_CONTENT, PAGE_TYPES
from longline.plugins.results import Links, Refused

NEVER_FOLLOW = (
    FILES,
    r"^https?://(?:play\.google\.com|apps\.apple\.com|itunes\.apple\.com"
    r"|(?:[^/]+\.)?(?:cloudfront\.net|googleusercontent\.com|fbcdn\.net|twimg\.com))(?:[:/]|$)",
    r"(?i)^https?://[^/]+/(?:wp-content/uploads|assets|static)/",
    rf"(?i)^https?://[^/?#]+(?:/[^/?#]*)*/(?:{'|'.join(FOLDERS_WITHOUT_CONTENT)})(?:[/?#]|$)",
)
"""Patterns of URLs of a site without text to read."""


class ArticleConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The config of the article parser; `true` stands for the built-in rule, `false` switches a rule off."""

    never_follow: bool | list[str] = True
    """Regular expressions (RE2) of links that are not followed."""

    page_types: bool | list[str] = True
    """Types of pages that become documents; `true` for all detected types."""

    def __post_init__(self) -> None:
        if not isinstance(self.never_follow, bool):
            try:
                check_patterns("never_follow", self.never_follow)
            except BadInput as error:
                raise ValueError(str(error)) from None
        for kind in () if isinstance(self.page_types, bool) else self.page_types:
            if kind not in PAGE_TYPES:
                raise ValueError(f"page_types: there is no type {kind!r}; there are {', '.join(PAGE_TYPES)}")

    def links(self, urls: Sequence[str]) -> tuple[Links, Refused]:
        """Return the links to follow, and the links that are refused as `never_follow`."""
        patterns = _patterns(tuple(self._never()))
        refused = [url for url in urls if patterns.found_in(url)]
        unwanted = frozenset(refused)
        return Links([url for url in urls if url not in unwanted]), Refused("never_follow", refused)

    def _never(self) -> Sequence[str]:
        if isinstance(self.never_follow, bool):
            return NEVER_FOLLOW if self.never_follow else ()
        return self.never_follow

    def accepts(self, kind: str | None, settings: Mapping[str, Any]) -> bool:
        """Return whether a page of a detected type becomes a document.

        The rule is for links that a crawl found; pages requested by name pass it.
        """
        if self.page_types is False or settings.get(BY_NAME):
            return True
        return kind is not None if self.page_types is True else kind in self.page_types


DEFAULT_CONFIG = ArticleConfig()


@lru_cache(maxsize=256)
def _patterns(texts: tuple[str, ...]) -> Patterns:
    return Patterns(texts)
