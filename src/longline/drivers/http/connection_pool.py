"""Clients of the wreq library, one for each host and route, so that no connection is used for another host."""

from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from typing import NamedTuple

import wreq

from longline.drivers.http.route import Route
from longline.model.proxies.proxy_uri import Proxy

IDLE_CONNECTION_SECONDS = 30.0
MAX_HEADERS = 512
MAX_REMEMBERED_CONNECTIONS = 1024
"""Largest number of answered connections of one host that a client remembers."""


class TlsSettings(NamedTuple):
    """TLS options for sites: certificate verification, and the oldest and newest version."""

    verify: bool = True
    oldest: str = "1.2"
    newest: str = "1.3"


DEFAULT_TLS = TlsSettings()

_VERSIONS = {
    "1.0": wreq.TlsVersion.TLS_1_0,
    "1.1": wreq.TlsVersion.TLS_1_1,
    "1.2": wreq.TlsVersion.TLS_1_2,
    "1.3": wreq.TlsVersion.TLS_1_3,
}


class HostClient:
    """A client that keeps connections to one host, and a second one that opens a connection for every request.

    The local address identifies a connection: the library reports it with each response and with each failure.
    """

    def __init__(self, build: Callable[[bool], wreq.Client]) -> None:
        self._build = build
        self._unpooled: wreq.Client | None = None
        self._answered: OrderedDict[str, float] = OrderedDict()
        self.pooled = build(True)

    @property
    def unpooled(self) -> wreq.Client:
        """Return the client without kept connections, built on first use because few hosts need one."""
        if self._unpooled is None:
            self._unpooled = self._build(False)
        return self._unpooled

    def note_answer(self, connection: str) -> bool:
        """Remember that a connection has answered; return whether it had answered before."""
        known = connection in self._answered
        self.note_use(connection)
        # The pool has closed connections that were idle for longer.
        idle_since = self._answered[connection] - IDLE_CONNECTION_SECONDS
        while len(self._answered) > MAX_REMEMBERED_CONNECTIONS or self._oldest_answer() < idle_since:
            self._answered.popitem(last=False)
        return known

    def note_use(self, connection: str) -> None:
        """Remember that a connection is in use at this moment."""
        self._answered[connection] = monotonic()
        self._answered.move_to_end(connection)

    def has_answered(self, connection: str) -> bool:
        """Return whether a connection has answered lately, so that a request on it was not the first one."""
        return connection in self._answered

    def close(self) -> None:
        """Close all connections."""
        self.pooled.close()
        if self._unpooled is not None:
            self._unpooled.close()

    def _oldest_answer(self) -> float:
        return next(iter(self._answered.values()))


class ClientCache:
    """Recently used clients, about 50 KB each; the least recently used is dropped first."""

    def __init__(self, size: int, store: wreq.CertStore, tls: TlsSettings = DEFAULT_TLS) -> None:
        self._size = size
        self._store, self._tls = store, tls
        self._clients: OrderedDict[tuple[str, Proxy | None, float], tuple[Route, HostClient]] = OrderedDict()

    def get(self, route: Route, connect_seconds: float) -> HostClient:
        """Return the client for a route; a new one when the addresses of the host have changed."""
        key = (route.hostname, route.proxy, connect_seconds)
        known = self._clients.get(key)
        if known and known[0].has_same_addresses(route):
            self._clients.move_to_end(key)
            return known[1]
        client = HostClient(lambda keeps_connections: self._build(route, connect_seconds, keeps_connections))
        self._clients[key] = (route, client)
        if len(self._clients) > self._size:
            self._clients.popitem(last=False)  # not closed: open requests keep the client until they are done
        return client

    def close(self) -> None:
        """Close all connections."""
        kept, self._clients = self._clients, OrderedDict()
        for _, client in kept.values():
            client.close()

    def _build(self, route: Route, connect_seconds: float, keeps_connections: bool) -> wreq.Client:
        names = wreq.DnsOptions()
        for name, addresses in route.pins().items():
            names.add_resolve(name, addresses)
        config: wreq.ClientConfig = {
            "redirect": wreq.Policy.none(),
            "gzip": False,
            "deflate": False,
            "brotli": False,
            "zstd": False,
            "referer": False,
            "dns_options": names,
            "connect_timeout": timedelta(seconds=connect_seconds),
            "pool_idle_timeout": timedelta(seconds=IDLE_CONNECTION_SECONDS),
            "http1_options": wreq.Http1Options(max_headers=MAX_HEADERS, ignore_invalid_headers_in_responses=True),
            "tls_verify": self._store if self._tls.verify else False,
            "tls_verify_hostname": self._tls.verify,
            "tls_min_version": _VERSIONS[self._tls.oldest],
            "tls_max_version": _VERSIONS[self._tls.newest],
        }
        if not keeps_connections:
            config["pool_max_idle_per_host"] = 0
        # Never both: `no_proxy` clears the given proxies, and all requests would bypass them.
        if route.proxy:
            config["proxies"] = [_library_proxy(route.proxy)]
        else:
            config["no_proxy"] = True
        return wreq.Client(**config)


def _library_proxy(proxy: Proxy) -> wreq.Proxy:
    # The library sends the name to a `socks5h` proxy, and the pinned address to a `socks5` proxy.
    uri = f"socks5{proxy.label.removeprefix('socks5h')}" if proxy.scheme == "socks5h" else proxy.label
    if not proxy.username and not proxy.password:
        return wreq.Proxy.all(uri)
    # A name without a password is dropped unless the password is given as empty.
    return wreq.Proxy.all(uri, username=proxy.username, password=proxy.password)
