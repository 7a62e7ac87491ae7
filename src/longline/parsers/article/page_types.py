"""Types of pages by their content: article, listing, stub or other."""

import re
from dataclasses import dataclass

from longline.parsers.article.quality_gate import MIN_WORDS

MAX_SIGN_IN_WORDS = 200
"""Words below which a page may be only a sign-in form."""

_SIGN_IN = re.compile(r"sign[ -]in|log in", re.IGNORECASE)


@dataclass(frozen=True)
class PageTypeFeatures:
    """Inputs of the page type."""

    title: str
    words: int
    markup: str
    links: int
    schema_type: str
    og_type: str
    detected: str | None


def page_type(f: PageTypeFeatures) -> str:
    """Return `article`, `listing`, `stub` or `other`."""
    if f.words < MAX_SIGN_IN_WORDS and _SIGN_IN.search(f.markup):
        return "other"
    if article_score(f) >= 4:
        return "article"
    if f.links >= 20 and f.words / f.links < 10:
        return "listing"
    return "stub" if f.title and f.words < MIN_WORDS else "other"


def article_score(f: PageTypeFeatures) -> int:
    """Return the score for an article."""
    markup = f.markup.lower()
    signs = (
        (f.schema_type in ("Article", "NewsArticle", "BlogPosting", "Reportage"), 5),
        (f.og_type.lower() == "article", 3),
        (f.detected == "article", 3),
        ("<article" in markup, 2),
        ("<time datetime" in markup, 1),
        (bool(f.title) and f.words >= MAX_SIGN_IN_WORDS, 4),
    )
    return sum(worth for sign, worth in signs if sign)
