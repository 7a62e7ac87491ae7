"""Cross-site requests: a browser of this machine sends them for the web page of another site.

An API that is open because the server listens on loopback is open to the programs of this machine. The pages that a
person visits are not among them, and reach the server as well: by CORS, or under a name of their own that leads to
loopback (DNS rebinding). They need credentials.
"""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from longline.surfaces.server.request_head import Refusal

CROSS_SITE = Refusal(
    403, "A web page of another site needs credentials here; set the access of this API to open if not"
)

CREDENTIAL_HEADERS = frozenset({b"authorization", b"x-api-key"})


def is_cross_site(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Return whether a request without credentials comes from a page of another site, or under its name."""
    if any(name in CREDENTIAL_HEADERS for name, _ in headers):
        return False
    origins = [value.decode("latin-1") for name, value in headers if name == b"origin"]
    hosts = [f"//{value.decode('latin-1')}" for name, value in headers if name == b"host"]
    return not all(_is_local(url) for url in (*origins, *hosts))


def _is_local(url: str) -> bool:
    """Return whether a URL is of this machine; the origin `null` is that of a page without one."""
    try:
        name = urlsplit(url).hostname or ""
        return name == "localhost" or name.endswith(".localhost") or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
