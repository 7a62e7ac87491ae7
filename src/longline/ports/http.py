"""How a request leaves the house and what comes back."""

from ipaddress import IPv6Address
from typing import Any, Literal, Protocol, get_args
from urllib.parse import unquote, urlsplit

import msgspec

from longline.model.errors import BadInput
from longline.model.url import BadUrl, join, parse, without_credentials

REDIRECTS = frozenset({301, 302, 303, 307, 308})

ProxyScheme = Literal["http", "https", "socks5", "socks5h"]

_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


class Proxy(msgspec.Struct, frozen=True):
    """A way out: configured by the operator, so its own address may be anywhere.

    The target's name is resolved and checked here before a proxy is asked for anything. `socks5` and `socks5h` proxies
    are asked for the checked address. `http` and `https` proxies are asked for the name, since a request by address
    would lose it, so an HTTP proxy that resolves the name otherwise has the last word.
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

    @classmethod
    def parse(cls, text: str) -> "Proxy":
        """The proxy of a URI such as `socks5://user:password@192.0.2.1:1080`."""
        try:
            parts = urlsplit(text.strip())
            port = parts.port or _PORTS.get(parts.scheme, 0)
        except ValueError:
            raise BadInput("not a proxy: the URI cannot be parsed") from None  # not shown: it may hold a password
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise BadInput("not a proxy: the URI goes on after host and port")
        username, password = unquote(parts.username or ""), unquote(parts.password or "")
        scheme: ProxyScheme = parts.scheme  # type: ignore[assignment]  # __post_init__ looks at it
        return cls(scheme, parts.hostname or "", port, username, password)

    @property
    def label(self) -> str:
        """Scheme, host and port: what may be shown."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def __repr__(self) -> str:
        return f"Proxy({self.label!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("label", self.label)]


def _is_host(text: str) -> bool:
    if ":" not in text:
        return bool(text) and text.isascii() and text.isprintable() and not set(text) & set(" /@?#\\[]")
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


class Request(msgspec.Struct, frozen=True):
    """One GET. Redirects are never followed here: every hop is somebody's decision.

    Credentials in the URL are sent to that host as Basic authorization, unless a header says otherwise.
    `connect_seconds` is for reaching the host, through a proxy if there is one; `idle_seconds` is the longest
    silence, connecting included; of two that pass together the total gives the failure its name.
    A body of more than `max_bytes` is a failure, or with `cut` is cut there. With `render` the page is wanted as a
    browser shows it, wherever that leads; whoever cannot render answers with the page itself.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    connect_seconds: float = 10.0
    idle_seconds: float = 15.0
    total_seconds: float = 60.0
    max_bytes: int = 10 * 1024 * 1024
    proxy: Proxy | None = None
    cut: bool = False
    render: bool = False


class Response(msgspec.Struct, frozen=True):
    """An answer as it came; `url` is the one that was asked for, less any credentials, and `body` is undecoded.

    `headers` has every value, and those of one name in their order. Names may have lost their capitals and headers of
    different names their order, as HTTP/2 and the client's own table would have it. A request that broke on a kept
    connection was sent again after `resent_ms`. `ip` is the address of the server where the connection went to the
    server itself, and None behind a proxy.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    version: str
    elapsed_ms: int
    resent_ms: int | None = None
    ip: str | None = None

    def header(self, name: str) -> str | None:
        """The first header of that name, whatever its case."""
        wanted = name.lower()
        return next((v for k, v in self.headers if k.lower() == wanted), None)

    def leads_to(self, base: str) -> str:
        """The URL that the Location means to one who asked for `base`; raises `FetchFailed` when it is none of ours."""
        location = _escaped(self.header("location") or "")
        target = join(base, location)
        if target is None:
            raise FetchFailed("bad_url", "redirected to what is no URL")
        try:
            # Those of the base are known already; none are taken from a site.
            return parse(target, credentials=without_credentials(base) != base).href
        except BadUrl as error:
            raise FetchFailed("bad_url", f"redirected to what is no URL of ours ({error.reason})") from None


def _escaped(text: str) -> str:
    """Percent-encode the bytes of a header that are not ASCII, one by one, as browsers do.

    A header's bytes are told as Latin-1. Text that no bytes can be told as comes from a file, and is left as it is.
    """
    if text.isascii():
        return text
    try:
        return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in text.encode("latin-1"))
    except UnicodeEncodeError:
        return text


class FetchFailed(Exception):
    """No whole answer came. `kind` is one word of the taxonomy in `model/frontier/outcomes.py`.

    `proxy_fault` says that the way there failed and not the target: another proxy may do better, and the page is not
    to blame. It is set where the proxy said so, could not be reached, or broke off; a target that is known to have
    refused, an untrusted certificate and a long silence are not held against the proxy. A request that broke on a kept
    connection was sent again after `resent_ms`. `retry_after` is the number of seconds that the host asked to be left
    alone for.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        proxy_fault: bool = False,
        resent_ms: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.proxy_fault = proxy_fault
        self.resent_ms = resent_ms
        self.retry_after = retry_after


class Http(Protocol):
    """The one client for everything that is fetched."""

    async def fetch(self, request: Request) -> Response:
        """Send one request and read the whole answer, or raise `FetchFailed`."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
