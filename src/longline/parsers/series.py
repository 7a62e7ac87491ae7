"""The generic extension: series and chapters by the CSS selectors of a source's config.

The config has groups of selectors as the parser `selectors` has them. The group `series` needs the fields `id`, `title`
and `url`, and may have `cover`; `chapter` needs `number`, and may have `language`, `group` and `title`. Links are
followed inside the group `list` while the catalogue is discovered, and inside `pages` while a series is crawled; its
`image`, as in `img.page@src`, selects the images of pages.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from longline.html.css_selectors import check_selectors
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
        yield Links(_page_links(page, groups["pages"]) if "pages" in groups else [])

    @staticmethod
    def check(config: Mapping[str, Any]) -> None:
        """Raise `ValueError` for a config without selectors, `BadInput` for a selector that cannot be used."""
        groups = config.get("selectors")
        if not isinstance(groups, Mapping) or not isinstance(groups.get(SERIES), Mapping):
            raise ValueError("config needs selectors with the group series")
        missing = [name for name in ("id", "title", "url") if not groups[SERIES].get(name)]
        if missing:
            raise ValueError(f"the selectors of series lack {', '.join(missing)}")
        check_selectors(groups)


def _groups(page: Page) -> dict[str, Mapping[str, Any]]:
    given = (page.config.get(CONFIG_KEY) or {}).get("selectors")
    groups = given.items() if isinstance(given, Mapping) else ()
    return {str(kind): fields for kind, fields in groups if isinstance(fields, Mapping)}


def _page_links(page: Page, where: Mapping[str, Any]) -> list[str]:
    """Return the links to pages of chapters, and the images that `image` selects, as `img.page@src`."""
    css, _, attribute = str(where.get("image") or "").partition("@")
    images = [node.attributes.get(attribute or "src") for node in page.tree.css(css)] if css else []
    has_links = not css or any(name in where for name in ("container", "article_cards", "article_list"))
    return (followed_links(page, where) if has_links else []) + absolute_urls(page, filter(None, images))
