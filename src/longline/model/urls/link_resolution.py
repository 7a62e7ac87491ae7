"""Resolution of links: the URLs of the links on a page."""

from collections.abc import Iterable

import ada_url
import can_ada

from longline.model.urls.url import has_punycode, is_international, read, without_fragment

_BLANK = "".join(map(chr, range(0x21)))  # as WHATWG strips them; str.strip() takes more, such as no-break spaces
_BLANK_BYTES = _BLANK.encode()
_NOT_PAGES = ("javascript:", "mailto:", "data:", "tel:")
_PAGES = ("http://", "https://")


def join(base: str, href: str) -> str | None:
    """Return the URL of a link on the page `base`, or None when it cannot be fetched."""
    joined = join_all(base, (href,))
    return joined[0] if joined else None


def join_all(base: str, hrefs: Iterable[str]) -> list[str]:
    """Return the URLs of the links on the page `base`, each once, in order, less links that cannot be fetched."""
    try:
        start = read(base)
    except (ValueError, TypeError):
        return []
    # Most links of a page are repeats, or differ in the fragment only: drop them before the costly part.
    raw = dict.fromkeys(_bare_all(list(dict.fromkeys(hrefs))))
    if isinstance(start, can_ada.URL):
        joined = _resolve_all(start, raw)
    else:
        joined = [_resolve_any(start, href) for href in raw if not href.startswith(_NOT_PAGES)]
    return list(dict.fromkeys(filter(None, joined)))


def _bare_all(hrefs: list[str]) -> list[str]:
    """Return links without their fragments and without the blanks around them."""
    text = "".join(hrefs).encode(errors="surrogatepass")
    # Blanks are found as bytes: `isprintable` takes five times as long, as much as to resolve ten links.
    if len(text.translate(None, _BLANK_BYTES)) < len(text):
        return [_bare(href) for href in hrefs]
    return [href.partition("#")[0] for href in hrefs] if b"#" in text else hrefs


def _bare(href: str) -> str:
    bare = href.strip(_BLANK).partition("#")[0]
    # A blank before the fragment is part of the path; at the very end it would be stripped.
    return f"{bare}#" if bare and bare[-1] in _BLANK else bare


def _resolve_all(start: can_ada.URL, hrefs: Iterable[str]) -> list[str | None]:
    """Join links to the URL of their page; one loop, since a page has a hundred links."""
    joined: list[str | None] = []
    for href in hrefs:
        if href.startswith(_NOT_PAGES):
            continue
        if "%" in href or not href.isascii():
            joined.append(_resolve_any(start, href))
            continue
        try:
            url = (start + href).href
        except (ValueError, TypeError):
            joined.append(_resolve_any(start, href) if has_punycode(href) else None)
            continue
        if url.startswith(_PAGES):
            joined.append(url if url[-1] != "#" else without_fragment(url))
    return joined


def _resolve_any(start: can_ada.URL | ada_url.URL, href: str) -> str | None:
    try:
        if isinstance(start, can_ada.URL) and not has_punycode(href) and not is_international(href):
            url = (start + href).href
        else:
            url = ada_url.join_url(start.href, href)
    except (ValueError, TypeError):
        return None
    return without_fragment(url) if url.startswith(_PAGES) else None
