"""The Referer header of a request for a link."""

from longline.model.urls.url import read, target


def referer(page: str, href: str) -> str | None:
    """Return the Referer of a request, by the default policy of browsers (strict-origin-when-cross-origin).

    The page without its credentials to its own origin, the origin alone to others, None from https to http. Both URLs
    are written as `parse` writes them.
    """
    origin = page[: page.index("/", len("https://")) + 1]
    if href.startswith(origin) and "@" not in origin:
        return page
    here, there = read(page), read(href)
    if here.protocol == "https:" != there.protocol:
        return None
    return f"{here.origin}{target(here.href)}" if here.origin == there.origin else f"{here.origin}/"
