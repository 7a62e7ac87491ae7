"""The generic extension: series and chapters by the CSS selectors of a source's config.

The config has groups of selectors as the parser `selectors` has them. The group `series` needs the fields `id`, `title`
and `url`, and may have `cover`; `chapter` needs `number`, and may have `language`, `group` and `title`. Links are
followed inside the group `list` while the catalogue is discovered, and inside `pages` while a series is crawled.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from longline.parsers.selectors import followed_links, select_fields
from longline.plugins import Item, Links, Page
from longline.plugins.extension import CHAPTER, SERIES, chapter, extension, series
from longline.plugins.page import absolute_urls
from longline.plugins.parser import CONFIG_KEY

NAME = "longline.extension.selectors"
_SERIES_FIELDS = frozenset({"id", "title", "url", "cover"})
_CHAPTER_FIELDS = frozenset({"number", "language", "group"})


@extension(NAME)
class SelectorExtension:
    """Series and chapters by CSS selectors."""

    @staticmethod
    def discover(page: Page) -> Iterator[Item | Links]:
        """Yield the series of a list, and the links to further lists."""
        groups = _groups(page)
        for found in select_fields(page, SERIES, groups.get(SERIES, {})):
            if all(found.get(name) for name in ("id", "title", "url")):
                facts = {name: value for name, value in found.items() if name not in _SERIES_FIELDS}
                url, cover = (
                    absolute_urls(page, [found[name]]) if found.get(name) else [] for name in ("url", "cover")
                )
                if url:
                    yield series(found["id"], found["title"], url[0], cover=cover[0] if cover else None, **facts)
        yield Links(followed_links(page, groups.get("list", {})) if "list" in groups else [])

    @staticmethod
    def crawl(page: Page) -> Iterator[Item | Links]:
        """Yield the chapters of a series, and the links to their pages."""
        groups = _groups(page)
        for found in select_fields(page, CHAPTER, groups.get(CHAPTER, {})):
            if found.get("number"):
                facts = {name: value for name, value in found.items() if name not in _CHAPTER_FIELDS}
                language, group = str(found.get("language") or ""), str(found.get("group") or "")
                yield chapter(
                    str(page.config.get(SERIES) or ""), found["number"], language=language, group=group, **facts
                )
        yield Links(followed_links(page, groups.get("pages", {})) if "pages" in groups else [])

    @staticmethod
    def check(config: Mapping[str, Any]) -> None:
        """Raise `ValueError` for a config without selectors."""
        groups = config.get("selectors")
        if not isinstance(groups, Mapping) or not isinstance(groups.get(SERIES), Mapping):
            raise ValueError("config needs selectors with the group series")
        missing = [name for name in ("id", "title", "url") if not groups[SERIES].get(name)]
        if missing:
            raise ValueError(f"the selectors of series lack {', '.join(missing)}")


def _groups(page: Page) -> dict[str, Mapping[str, Any]]:
    given = (page.config.get(CONFIG_KEY) or {}).get("selectors")
    groups = given.items() if isinstance(given, Mapping) else ()
    return {str(kind): fields for kind, fields in groups if isinstance(fields, Mapping)}


def _absolute(page: Page, href: str | None) -> str | None:
    """Return the absolute URL of an href value, None without a valid one."""
    return next(iter(absolute_urls(page, [href])), None) if href else None
