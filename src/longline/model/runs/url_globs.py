"""Globs and prefixes of URLs, as people write them for a crawl, as patterns of its bounds.

`/blog` is a prefix of the path: it fits `/blog`, `/blog/2024` and `/blog?page=2`, but not `/blogger`. `/item-*` and
`*.pdf` are globs, which fit the whole path with its query or, beginning with a star or a scheme, the whole URL. Only
the star is special and stands for any characters, the slash included; a question mark begins a query.
"""

import re
from urllib.parse import quote

from longline.model.errors import BadInput
from longline.model.patterns import compile_pattern
from longline.model.urls.url import BadUrl, parse

_URL = re.compile(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_PLACE = r"^https?://[^/]*"
_END_OF_PREFIX = r"(?:[/?]|$)"
_KEPT = "/?#[]@!$&'()*+,;=:%-._~"


def pattern_of_glob(text: str) -> str:
    """Return the pattern, for searches in whole URLs, of a glob or prefix; raise `BadInput` for any other text."""
    glob = text.strip()
    if glob.startswith("/"):
        pattern = _PLACE + _rest(glob)
    elif glob.startswith("*"):
        pattern = "^" + _rest(glob)
    elif found := _URL.fullmatch(glob):
        scheme, host, rest = found.groups()
        pattern = f"^{scheme.lower()}://{_host(host, text)}{_rest(rest)}"
    else:
        raise BadInput(f"{text!r} is neither a path nor a URL: it has to begin with /, with * or with https://")
    compile_pattern(pattern)
    return pattern


def _rest(glob: str) -> str:
    """Return the pattern of a path with its query, or of the whole URL."""
    escaped = ".*".join(re.escape(quote(part, safe=_KEPT)) for part in glob.split("*"))
    if "*" in glob:
        return f"{escaped}$"
    return escaped if glob.endswith("/") else escaped + _END_OF_PREFIX


def _host(host: str, text: str) -> str:
    if "*" in host:
        return ".*".join(re.escape(part.lower()) for part in host.split("*"))
    try:
        return re.escape(parse(f"https://{host}/").host)
    except BadUrl:
        raise BadInput(f"{text!r} has no valid host") from None
