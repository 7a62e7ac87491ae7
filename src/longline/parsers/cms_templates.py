"""Templates of content management systems: their selectors, and the signs by which a page of them is recognised."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from longline.plugins import Page

TEMPLATE_SEARCH_CHARS = 4096
"""Characters of a page that are searched for the signs of a template."""


@dataclass(frozen=True)
class Template:
    """Selectors shared by many sites, and the signs and hosts by which these sites are recognised."""

    container: str
    body: str
    title: str
    signs: tuple[str, ...]
    hosts: tuple[str, ...] = ()


TEMPLATES = {
    "wordpress": Template("article", ".entry-content", "h1.entry-title", ("wp-content/", "wp-includes/", "wordpress")),
    "drupal": Template("", ".field--name-body", "h1.page-title", ("drupal", "/sites/default/files/")),
    "og-article": Template(
        "article", ".entry-content, [itemprop=articleBody]", "", ("property=og:type content=article",)
    ),
}
"""Generic templates, in the order in which they are tried; a source's `template_hint` may name one."""


def template_of(page: Page, hint: str) -> Template | None:
    """Return the template that a source names or that the page shows signs of, or None."""
    if hint.lower() in TEMPLATES:
        return TEMPLATES[hint.lower()]
    host = (urlsplit(page.url).hostname or "").removeprefix("www.")
    start = re.sub("[\"']", "", page.html[:TEMPLATE_SEARCH_CHARS].lower())
    by_host = (template for template in TEMPLATES.values() if host in template.hosts)
    by_sign = (template for template in TEMPLATES.values() if any(sign in start for sign in template.signs))
    return next(by_host, None) or next(by_sign, None)
