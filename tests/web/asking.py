"""Plain requests to a site, over a connection that can be kept."""

import http.client
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Reply:
    """A whole response."""

    status: int
    headers: dict[str, str]
    body: bytes


def get(url: str, method: str = "GET", timeout: float = 10.0) -> Reply:
    """Send one request and read the whole response; a redirect is not followed."""
    place = urlsplit(url)
    with closing(http.client.HTTPConnection(place.netloc, timeout=timeout)) as connection:
        connection.request(method, url[url.index(place.netloc) + len(place.netloc) :])
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
