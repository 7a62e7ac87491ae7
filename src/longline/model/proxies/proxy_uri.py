"""URIs of proxies: their schemes, default ports and credentials."""

from ipaddress import IPv6Address
from typing import Any, Literal, cast, get_args
from urllib.parse import unquote, urlsplit

import msgspec

from longline.model.errors import BadInput

ProxyScheme = Literal["http", "https", "socks5", "socks5h"]

_DEFAULT_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
"""Ports of proxies whose URI names none, by scheme."""


class Proxy(msgspec.Struct, frozen=True):
    """An outgoing proxy: configured by the operator, so its own address may be anywhere.

    The target's name is resolved and checked before any request goes to a proxy. `socks5` and `socks5h` proxies get the
    checked address. `http` and `https` proxies get the name, since a request by address would lose the name, so an HTTP
    proxy that resolves the name differently decides which address is dialled.
    """

    scheme: ProxyScheme
    host: str
    port: int
    username: str = ""
    password: str = ""

    def __post_init__(self) -> None:
        if self.scheme not in get_args(ProxyScheme):
            raise BadInput(f"not a kind of proxy: {self.scheme!r}; one of {', '.join(get_args(ProxyScheme))}")
        if not _is_host(self.host):
            raise BadInput("a proxy needs the name or the address of its host, and nothing else there")
        if not 0 < self.port < 65536:
            raise BadInput(f"not a port: {self.port}")
        msgspec.structs.force_setattr(self, "host", _canonical(self.host))

    @classmethod
    def parse(cls, text: str) -> "Proxy":
        """Return the proxy of a URI such as `socks5://user:password@192.0.2.1:1080`."""
        try:
            parts = urlsplit(text.strip())
            port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        except ValueError:
            raise BadInput("not a proxy: the URI cannot be parsed") from None  # not shown: it may hold a password
        if "://" not in text:
            raise BadInput("not a proxy: the URI has no scheme; write it out, as in http://192.0.2.1:3128")
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise BadInput("not a proxy: the URI goes on after host and port")
        username, password = unquote(parts.username or ""), unquote(parts.password or "")
        scheme = cast(ProxyScheme, parts.scheme)  # __post_init__ checks the scheme
        return cls(scheme, parts.hostname or "", port, username, password)

    @property
    def label(self) -> str:
        """Return scheme, host and port, without credentials, for display."""
        return f"{self.scheme}://{bracketed(self.host)}:{self.port}"

    def __repr__(self) -> str:
        return f"Proxy({self.label!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("label", self.label)]


def _canonical(host: str) -> str:
    """Return a host as it is compared: in lower case, an IPv6 address in its shortest form."""
    return str(IPv6Address(host)) if ":" in host else host.lower()


def _is_host(text: str) -> bool:
    if ":" not in text:
        return bool(text) and text.isascii() and text.isprintable() and not set(text) & set(" /@?#\\[]")
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def bracketed(host: str) -> str:
    """Return a host as it stands before a port: an IPv6 address in brackets (RFC 3986, section 3.2.2)."""
    return f"[{host}]" if ":" in host else host
