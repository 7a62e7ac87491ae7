"""Keys of requests: identity, politeness, limits, TLS, proxies."""

from typing import Annotated

from longline.model.fetch.user_agents import DEFAULT_USER_AGENT
from longline.settings.keys.frontier import FrontierKeys
from longline.settings.values import (
    DURATION,
    HEADER_VALUE,
    NETWORKS,
    POSITIVE_DURATION,
    PROXIES,
    SIZE,
    SWITCH,
    TEXT,
    Key,
    integer,
    one_of,
    url,
)

TLS = one_of("1.0", "1.1", "1.2", "1.3", highest="1.3")
"""Versions of TLS."""


class FetchKeys(FrontierKeys, frozen=True, kw_only=True):
    """Requests to sites: identity, politeness, limits, TLS, proxies and recorded responses."""

    user_agent: Annotated[
        str, Key(HEADER_VALUE, "User-Agent header of every request, and the product token looked up in robots.txt.")
    ] = DEFAULT_USER_AGENT
    referer: Annotated[bool, Key(SWITCH, "Send a Referer header; other sites get the origin only.")] = True
    respect_robots: Annotated[bool, Key(SWITCH, "Obey robots.txt; leave on for sites that are not yours.")] = True
    politeness: Annotated[
        str,
        Key(
            one_of("host", "domain", "address"), "Unit that delays and limits are kept for: host, domain or IP address."
        ),
    ] = "host"
    delay: Annotated[float, Key(DURATION, "Delay between two requests to one host.")] = 1.0
    host_concurrency: Annotated[int, Key(integer(1, 1000), "Concurrent requests to one host.")] = 1
    download_concurrency: Annotated[
        int,
        Key(
            integer(0, 1000),
            "Files that a process with the role `fetch` downloads at once, beside its pages; 0 leaves hosts with files "
            "to other processes.",
        ),
    ] = 32
    request_timeout: Annotated[float, Key(POSITIVE_DURATION, "Time limit of one request, from first to last byte.")] = (
        30.0
    )
    connect_timeout: Annotated[float, Key(POSITIVE_DURATION, "Time limit for opening a connection.")] = 10.0
    idle_timeout: Annotated[float, Key(POSITIVE_DURATION, "Longest time without data while a response is read.")] = 15.0
    max_body: Annotated[
        int, Key(SIZE, "Largest response body that is read, in bytes; KB, MB and GB are powers of 1024.")
    ] = 10485760
    max_retries: Annotated[
        int, Key(integer(0, 100), "Retries of a page in `longline crawl` after a temporary failure.")
    ] = 3
    egress_allow: Annotated[
        tuple[str, ...], Key(NETWORKS, "Networks that may be fetched from although their addresses are not public.")
    ] = ()
    proxies: Annotated[
        tuple[str, ...],
        Key(PROXIES, "Proxies used in rotation; `longline proxies` registers more, and pools of them.", secret=True),
    ] = ()
    proxy_sticky: Annotated[
        float, Key(DURATION, "Time that a host keeps its proxy; 0 takes the next proxy for every request.")
    ] = 0.0
    probe_url: Annotated[
        str, Key(url("http", "https"), "URL that is fetched through a failed proxy to see if the proxy works again.")
    ] = "https://example.com/"
    ca_file: Annotated[
        str, Key(TEXT, "PEM file of certificate authorities that are trusted besides the well-known ones.")
    ] = ""
    tls_verify: Annotated[bool, Key(SWITCH, "Verify the certificates of sites; switch off for tests only.")] = True
    tls_min: Annotated[str, Key(TLS, "Lowest TLS version for connections to sites.")] = "1.2"
    tls_max: Annotated[str, Key(TLS, "Highest TLS version for connections to sites.")] = "1.3"
    render_url: Annotated[
        str,
        Key(
            url("http", "https"),
            "Service that renders the pages of dynamic sources, and of a crawl with `--render-url`; if not set,"
            " pages are not rendered.",
        ),
    ] = ""
    fixtures: Annotated[
        str, Key(TEXT, "Folder of recorded responses that replace the web; if not set, sites are fetched.")
    ] = ""
    fixtures_mode: Annotated[
        str,
        Key(
            one_of("replay", "record"),
            "Use of `fixtures`: replay serves its responses, record fetches sites and stores theirs.",
        ),
    ] = "replay"
