"""The parser of articles and other pages of content: the document for the index, and the links."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from longline.html.structured_data import Thing, text_value
from longline.html.tree_copy import copy_tree
from longline.parsers.article import content_types, jsonld, page_types, quality_gate
from longline.parsers.article.config import DEFAULT_CONFIG, ArticleConfig
from longline.parsers.dates import date_of
from longline.parsers.page_content import PageContent, extract, remove_excluded, select, text_of
from longline.parsers.selectors import groups_of
from longline.plugins import Item, Links, Page, Refused, parser

_DATES = ".published-date, .post-date, .entry-date, .article-date"
_BYLINES = ".byline, .author, .post-author, .article-author"


@parser("article", match=(), config=ArticleConfig)
def article(page: Page, config: ArticleConfig) -> Iterator[Item | Links | Refused]:
    """Yield the links to follow and those refused, the extraction's result, and the document or the reason for none."""
    followed, refused = config.links(page.links())
    yield followed
    if refused.urls:
        yield refused
    reason = refusal(page, config)
    if reason is not None:  # before the extraction, which costs more than everything else
        yield Item("extraction", url=page.url, title=page.title, skipped=reason)
        yield Refused(reason)
        return
    made = document(page, config)
    reading = {"method": made.method, "words": made.bucket, "type": made.type, "skipped": made.skipped}
    yield Item("extraction", url=page.url, title=made.title, **reading)
    yield Item("article", **made.fields) if made.skipped is None else Refused(made.skipped)


@parser("trial_article", match=(), config=ArticleConfig)
def trial_article(page: Page, config: ArticleConfig) -> Iterator[Item | Links]:
    """Yield all links, and the document of a page with the reason, if any, for which a crawl would have none."""
    yield Links(page.links())
    made = document(page, config)
    yield Item("trial_article", fields=made.fields, method=made.method, skipped=made.skipped)


@dataclass(frozen=True)
class ArticleDocument:
    """The indexed document of a page, or the reason for none. `fields` lack only source and times."""

    fields: dict[str, Any]
    method: str
    skipped: str | None

    @property
    def title(self) -> str:
        """Return the title."""
        return str(self.fields["title"])

    @property
    def type(self) -> str:
        """Return the page type."""
        return str(self.fields["meta"]["page_type"])

    @property
    def bucket(self) -> str:
        """Return the word count's bucket for metrics."""
        return quality_gate.bucket(self.fields["word_count"])


def refusal(page: Page, config: ArticleConfig) -> str | None:
    """Return the reason for which a page is not read at all, or None."""
    if page.rules.noindex:
        return "noindex"
    return None if config.accepts(_detected_type(page), page.config) else "page_type"


def _detected_type(page: Page) -> str | None:
    return content_types.detected_type(page, page.config.get("article_url_patterns") or ())


def document(page: Page, config: ArticleConfig = DEFAULT_CONFIG) -> ArticleDocument:
    """Return the document of a page, by the config of its source; of a page with a `refusal` too, for trials."""
    selectors = groups_of(page).get("article", {})
    kind = _detected_type(page)
    found, text, method = _content(page, selectors)
    about = _Metadata(page, selectors, found)
    title, words = about.title(), len(text.split())
    fields = about.fields() | {
        "id": sha256(page.url.encode()).hexdigest(),
        "url": page.url,
        "title": title,
        "raw_text": text,
        "raw_html": found.markup,
        "word_count": words,
    }
    figures = _features(fields, kind)
    fields["meta"] = (
        about.meta() | {"page_type": page_types.page_type(figures)} | _without_none(detected_content_type=kind)
    )
    skipped = refusal(page, config) or quality_gate.skip_reason(title, words)
    return ArticleDocument({name: value for name, value in fields.items() if value not in (None, [])}, method, skipped)


def _content(page: Page, selectors: Mapping[str, Any]) -> tuple[PageContent, str, str]:
    """Return the content, its text, and the method of extraction."""
    found = extract(page, selectors, str(page.config.get("template_hint") or ""))
    if found.method == "selector" and (_is_enough(found.text) or not page.config.get("readability")):
        return found, found.text, found.method
    # The source's selectors come first; Longline's heuristics never replace the library's result.
    method = "readability" if found.method == "selector" else found.method
    text = _without(page, selectors.get("exclude")).article()
    # On a page with little text the library may extract the wrong part.
    return found, text if _is_enough(text) or len(text) >= len(found.text) else found.text, method


def _is_enough(text: str) -> bool:
    return len(text.split()) >= quality_gate.MIN_WORDS


def _without(page: Page, excluded: object) -> Page:
    """Return the page without the elements that its source excludes; the page itself is not modified."""
    if not excluded:
        return page
    tree = copy_tree(page.tree)
    remove_excluded(tree, excluded)
    return Page(page.url, (tree.html or "").encode(), content_type="text/html; charset=utf-8")


def _features(fields: Mapping[str, Any], kind: str | None) -> page_types.PageTypeFeatures:
    markup = fields["raw_html"]
    return page_types.PageTypeFeatures(
        title=fields["title"],
        words=fields["word_count"],
        markup=markup,
        links=len(LexborHTMLParser(markup).css("a[href]")),
        schema_type=(fields["json_ld_data"] or {}).get("jsonld_schema_type", ""),
        og_type=fields["og_type"],
        detected=kind,
    )


def _without_none(**fields: str | None) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


class _Metadata:
    """Metadata of a page: by the source's selectors first, then structured data, then visible elements."""

    def __init__(self, page: Page, selectors: Mapping[str, Any], found: PageContent) -> None:
        self._page, self._selectors, self._found = page, selectors, found
        self._ld: tuple[Thing, str] | None = jsonld.find_article([*page.data.json_ld, *page.data.microdata])

    def title(self) -> str:
        ld = jsonld.headline(*self._ld) if self._ld else ""
        return self._found.title or ld or self._page.data.meta("og:title") or self._page.title or self._page.text("h1")

    def fields(self) -> dict[str, Any]:
        page = self._page
        return {
            "meta_description": self._by("description") or page.data.meta("description"),
            "meta_keywords": self._by("keywords") or page.data.meta("keywords") or None,
            "og_type": self._by("og_type") or page.data.meta("og:type"),
            "og_title": self._by("og_title") or page.data.meta("og:title"),
            "og_description": self._by("og_description") or page.data.meta("og:description"),
            "og_image": self._by("og_image") or page.data.meta("og:image", "og:image:url") or None,
            "author": self._author() or None,
            "canonical_url": self._by("canonical") or page.canonical,
            "article_section": self._by("section")
            or page.data.meta("article:section")
            or self._of_ld("articleSection"),
            "published_date": self._published(),
            "json_ld_data": jsonld.json_ld_data(*self._ld) if self._ld else None,
        }

    def meta(self) -> dict[str, str]:
        page = self._page
        return _without_none(
            article_opinion=page.data.meta("article:opinion"),
            article_content_tier=page.data.meta("article:content_tier"),
            twitter_card=page.data.meta("twitter:card"),
            twitter_site=page.data.meta("twitter:site"),
            og_image_width=page.data.meta("og:image:width"),
            og_image_height=page.data.meta("og:image:height"),
            og_site_name=self._by("og_site_name") or page.data.meta("og:site_name"),
            indigenous_region=str(page.config.get("indigenous_region") or ""),
        )

    def _by(self, name: str) -> str:
        return text_of(select(self._page.tree, self._selectors.get(name)))

    def _of_ld(self, name: str) -> str | None:
        value = self._ld[0].get(name) if self._ld else None
        return text_value(value) or None

    def _published(self) -> str | None:
        page = self._page
        marked = page.tree.css_first("time[datetime]")
        written = (
            self._by("published_time"),
            page.data.meta("article:published_time"),
            page.data.meta("article:published"),
            jsonld.published(self._ld[0]) if self._ld else None,
            marked.attributes["datetime"] if marked else None,
            text_of(page.tree.css_first(_DATES)),
        )
        return next((date for text in written if (date := date_of(text))), None)

    def _author(self) -> str:
        page = self._page
        said = self._by("author") or self._by("byline") or page.data.meta("author") or self._of_ld("author")
        return said or page.text("a[rel~=author]") or page.text(_BYLINES)
