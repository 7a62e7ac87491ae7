"""Reasons for the rests of tasks. One word each; every failure class has exactly one."""

OK = "ok"
"""The reason of a page that was fetched and parsed."""

RESENT = "resent"
"""The reason of a request that broke on a keep-alive connection and was sent again, which is no failure."""

PARSER_ERROR = "parser_error"
"""The reason of a page whose parser failed."""

INTERNAL = "internal"
"""The reason of a page that an error of the platform has failed."""

RETRYABLE = {
    "dns": "the name of the host does not resolve",
    "refused": "the host refuses connections",
    "connect_timeout": "no connection within `connect_timeout`",
    "idle_timeout": "no data came for `idle_timeout`",
    "total_timeout": "the request was not done within `request_timeout`",
    "reset": "the connection was reset before the response was complete",
    "truncated": "the body ended before its announced length, or in the middle of a chunk",
    "protocol": "the response is not HTTP, or does not fit the request",
    "network": "the request failed in some other way on the network",
    "proxy_refused": "a proxy refuses the connection; the next proxy is tried, so no page ends with this reason",
    "proxy_auth": "a proxy needs another password; the next proxy is tried, so no page ends with this reason",
    "proxy_failed": "a proxy failed in another way; the next proxy is tried, so no page ends with this reason",
    "proxy_exhausted": "none of the proxies could be used for the page",
    "render_failed": "the rendering service was unreachable, or did not render the page",
    "login_failed": "the function that logs in failed, or the site asks to log in all the same",
    "http_408": "the site timed out while it waited for the request (408)",
    "http_425": "the site asks for the request to be sent later (425)",
    "http_429": "the site limits the rate of requests (429), for the page or for its robots.txt",
    "http_5xx": "the site failed (500 and above), for the page or for its robots.txt",
    "odd_status": "the status is neither a page nor a failure: 1xx, 206, 226, and for a single URL all but 200 and 304",
    "checksum": "the file does not have the digest that was given for it",
    INTERNAL: "an unexpected error of the platform",
}
"""Failures that another attempt may cure, and their meanings."""

TIMEOUTS = ("connect_timeout", "idle_timeout", "total_timeout")
"""Failures after which a run of a schedule does not try again: the site is slow, and other tasks wait."""

FINAL = {
    "egress": "the host has no address that may be reached from here; see `egress_allow`",
    "tls": "no secure connection: an untrusted certificate, or no TLS at all",
    "too_large": "the body is larger than `max_body`, compressed or decompressed",
    "bad_encoding": "the body does not match its Content-Encoding, or has an encoding that was not requested",
    "bad_url": "redirected to an invalid URL, or a redirect without a Location",
    "too_many_redirects": "more redirects than the limit",
    "redirect_loop": "redirected in a loop",
    "http_4xx": "the site refuses the page (400 to 499, but not 408, 425 and 429)",
    PARSER_ERROR: "the page is archived, but its parser failed; it can be parsed again without a fetch",
    "upload": "the object store does not take the file: the bucket refuses it, or all attempts failed",
    "worker_lost": "every worker that claimed the page was lost",
    "page_lost": "the page should be parsed again, but is missing or damaged in the archive",
}
"""Failures that no further attempt cures, and their meanings."""

WITHOUT_REQUEST = frozenset({INTERNAL, "worker_lost", "page_lost"})
"""Failures for which no request was made, unless they have a status; their reports look like requests all the same."""

NOT_OF_REQUESTS = WITHOUT_REQUEST | {PARSER_ERROR, "checksum", "upload"}
"""Failures that are not those of a request: its response had come whole, or no request was made."""

SKIPPED = {
    "robots": "the site's robots.txt forbids the page, or the one it redirects to",
    "content_type": "the page has a content type that was not requested",
    "no_content": "the site has no page to send (204 and 205)",
    "binary_url": "the URL is a file or a download, and only pages are wanted",
    "challenge": "the response was an anti-bot challenge",
    "redirected": "the page is a URL of its own: on another host, if the run admits it, or one that the run has",
}
"""Reasons for skipping an admitted page, and their meanings."""

REFUSED = {
    "known": "the URL was admitted before",
    "depth": "the URL is deeper than the depth limit",
    "offsite": "the host does not belong to the run",
    "excluded": "a pattern of the run excludes the URL",
    "not_included": "no pattern of the run includes the URL",
    "never_follow": "the parser `article` does not follow the URL: a file, or one of `never_follow` in its config",
    "trap": "the URL looks like part of a crawler trap",
    "unlisted": "the run is for pages that sitemaps list, and the link is on another page",
    "budget": "the budget of the run is used up",
    "source_budget": "the budget of the source is used up",
    "scheme": "the scheme is neither http nor https",
    "bad_url": "not a valid URL",
    "credentials": "the URL has a user name or a password",
    "too_long": "the URL is too long",
    "run_ended": "the run had ended",
    "too_many_links": "the page has more than `max_links` links, or their total length is too large",
}
"""Reasons for which a URL is never admitted, and their meanings."""

WITHOUT_ITEM = {
    "page_type": "the parser `article` detects none of the types of content in `page_types` of its config",
    "quality_gate": "the page has too few words, or neither title nor text",
    "noindex": "the page asks robots not to index it",
}
"""Reasons for which a built-in parser makes no item of a completed page, and their meanings."""


_PASSING = {408: "http_408", 425: "http_425", 429: "http_429"}
_UNASKED = (206, 226)
"""Statuses of partial responses, which only a request with Range or A-IM asks for; the crawler sends neither."""


NO_CONTENT = (204, 205)
"""Statuses of successful responses that never have content (RFC 9110, sections 15.3.5 and 15.3.6)."""


def for_status(status: int) -> str | None:
    """Return the failure that an HTTP status means, or None for a page."""
    if status < 200 or status in _UNASKED:
        return "odd_status"
    if status >= 500:
        return "http_5xx"
    return _PASSING.get(status, "http_4xx") if status >= 400 else None


def is_failure(reason: str) -> bool:
    """Return whether a reason is a failure, final or not."""
    return reason in RETRYABLE or reason in FINAL


def is_request_failure(reason: str) -> bool:
    """Return whether a reason is the failure of a request: the site refused it, or sent no whole response."""
    return is_failure(reason) and reason not in NOT_OF_REQUESTS
