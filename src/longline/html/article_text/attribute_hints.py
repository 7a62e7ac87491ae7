"""Hints of an element's class, id and other attributes about its content."""

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from longline.html.article_text.tags import NEVER_ARTICLES, word_set

RARELY_TEXT, SELDOM_TEXT, UNKNOWN, NAMED_BODY, DECLARED_BODY = -2, -1, 0, 2, 3
"""Hints: boilerplate, probably boilerplate, no hint, named like the body of an article, declared as the body."""

TAG_HINTS = {
    "footer": RARELY_TEXT,
    "aside": SELDOM_TEXT,
    "form": SELDOM_TEXT,
    "figcaption": SELDOM_TEXT,
    "fieldset": SELDOM_TEXT,
}
"""Hints of elements without a name."""

MAX_NAME_CHARS = 400
"""Characters of an element's class and id that are read; longer names are generated, and would fill the cache."""

_NAMES_CACHED = 20_000
_CONTENT_TAGS = frozenset(("main", "article"))
_ROLES = word_set("navigation complementary contentinfo dialog banner search")
_ANYWHERE = word_set(
    "comment comments commentlist disqus cookie cookies consent gdpr outbrain taboola related relatedposts "
    "recommended recommendation recommendations recommend recirc recirculation newsletter newsletters breadcrumb "
    "breadcrumbs popup respond"
)
"""Words of boilerplate wherever they stand in a class."""

_AT_AN_END = word_set(
    "nav navbar navigation menu menus crumbs footer sidebar rail masthead share sharing shares sharebar social "
    "socials sociable addtoany addthis sharedaddy trending popular subscribe subscription signup optin mailchimp "
    "replies promo promos promotion advert adverts advertisement advertising ad ads adsense adslot adunit "
    "sponsor sponsors sponsored banner toolbar pagination pager paging modal overlay lightbox byline bylines bio "
    "dateline timestamp postmeta tags taglist tagcloud keywords login copyright disclaimer rating ratings "
    "caption captions credit credits teaser teasers livefyre follow morelinks readmore crosslinks donate "
    "donation paywall toc infobox navbox catlinks printfooter authorbox hatnote metadata readnext upnext "
    "nextprev"
)
"""Words of boilerplate as the first or the last word of a class."""

_AT_THE_START = word_set("widget skip tag topics categories category meta search print")
_AT_THE_END = word_set("player vote votes")
_WHOLE = word_set(
    "hidden hide d-none sr-only visually-hidden visuallyhidden screen-reader-text screen-reader noprint "
    "print-only invisible u-hidden offscreen lineno linenos linenumber gutter rouge-gutter"
)
_PAIRS = word_set(
    "most-read most-popular read-more read-next read-also see-also sign-up author-bio author-box author-info "
    "author-card author-profile about-author the-author side-bar tag-list post-meta entry-meta article-meta "
    "entry-footer post-footer article-footer more-stories more-from more-news also-like social-share up-next "
    "post-navigation nav-links table-of post-tags article-tags entry-tags post-author call-to"
)
"""Two words of boilerplate in a row, anywhere in a class."""

HYPHENS_OF_A_HEADING = 4
"""Hyphens from which an id is the text of a heading, as in `sharing-with-a-single-developer`, and no name of a part."""

_STATES = word_set(
    "has no with without is not hide show enable single template layout page status category type format"
)
"""First words of classes that name a state or a template of the element, and not its content."""

_BODY_NAME = re.compile(
    r"(?:article|post|entry|story|page|blog|news|content|main|text)[-_]{0,2}(?:body|content|text|copy)\b|articlebody|"
    r"body-?copy|field-name-body|mw-parser-output|rich-?text|markdown-body|\bprose\b"
)
_PARTS_OF_BODY = ("body", "content", "text", "copy", "prose", "mw-parser")
"""Parts of which each name of a body has one; the search for them is quicker than the expression."""

_WORD_BORDER = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])")
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def hint_of(tag: str, attributes: Mapping[str, str | None]) -> int:
    """Return the hint of an element about its content."""
    hint = UNKNOWN
    if attributes:
        name, identifier = attributes.get("class") or "", attributes.get("id")
        if identifier and identifier.count("-") < HYPHENS_OF_A_HEADING:
            name = f"{name} {identifier}"
        if name:
            hint = _hint_of_name(name if len(name) <= MAX_NAME_CHARS else name[:MAX_NAME_CHARS])
        if hint < 0:
            hint = UNKNOWN if tag in _CONTENT_TAGS else hint
        elif _is_hidden(attributes):
            hint = SELDOM_TEXT
        elif "itemprop" in attributes and _is_declared(tag, attributes):
            hint = DECLARED_BODY
    if tag in TAG_HINTS:
        return min(TAG_HINTS[tag], hint)
    return hint


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element is invisible, or beside the content by its role."""
    if "hidden" in attributes or attributes.get("role") in _ROLES:
        return True
    style = attributes.get("style")
    return style is not None and _INVISIBLE.search(style[:MAX_NAME_CHARS]) is not None


def _is_declared(tag: str, attributes: Mapping[str, str | None]) -> bool:
    """Return whether an element is declared as the body of an article; many pages declare each paragraph as well."""
    return (attributes["itemprop"] or "").lower() == "articlebody" and tag not in NEVER_ARTICLES


@lru_cache(_NAMES_CACHED)
def _hint_of_name(name: str) -> int:
    """Return the lowest hint of the classes and the id of an element, or the highest if none is negative."""
    hints = [_hint_of_class(each) for each in name.split()]
    return (min(hints) or max(hints)) if hints else UNKNOWN


@lru_cache(_NAMES_CACHED)
def _hint_of_class(name: str) -> int:
    if ":" in name or "[" in name:  # a utility class, such as `md:hidden`
        return UNKNOWN
    lowered = name.lower()
    if lowered in _WHOLE:
        return SELDOM_TEXT
    words = _words_of(name, lowered)
    if not words or (len(words) > 1 and words[0] in _STATES):
        return UNKNOWN
    if not _ANYWHERE.isdisjoint(words):
        return RARELY_TEXT
    if _is_boilerplate(words):
        return SELDOM_TEXT
    return NAMED_BODY if any(part in lowered for part in _PARTS_OF_BODY) and _BODY_NAME.search(lowered) else UNKNOWN


def _words_of(name: str, lowered: str) -> list[str]:
    """Return the words of a class in lower case, split at hyphens, underscores and capital letters."""
    if name == lowered:
        return [word for word in name.replace("_", "-").split("-") if word]
    return [word.lower() for word in _WORD_BORDER.split(name) if word]


def _is_boilerplate(words: list[str]) -> bool:
    first, last = words[0], words[-1]
    if first in _AT_AN_END or last in _AT_AN_END or first in _AT_THE_START or last in _AT_THE_END:
        return True
    return len(words) > 1 and not _PAIRS.isdisjoint(map("-".join, pairwise(words)))
