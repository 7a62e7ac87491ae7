"""Answers from files: a crawl that is the same every time, and needs no network.

One JSON file is one answer, `<folder>/<domain>/GET_<12 hex digits>.json`; the digits begin the SHA-256 of the URL in
the spelling by which the interval contract tells URLs apart. The fields are those of the contract, so that files made
elsewhere can be used as they are.
"""

import asyncio
import binascii
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.frontier.standing_frontier import url_hash
from longline.model.url import parse
from longline.ports.http import FetchFailed, Http, Request, Response

METHOD, BASE64 = "GET", "base64"
_ENDINGS = (".json", "")
_LEFT_OUT = frozenset({"content-length", "transfer-encoding", "connection", "set-cookie"})
"""Headers that a file is better without: those of one connection, and what a site gave to one visitor."""


class Fixture(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer as it is kept; a body that is not UTF-8 is kept in base64, and says so."""

    url: str
    method: str
    status_code: int
    headers: dict[str, str | list[str]] = {}
    body: str = ""
    body_encoding: str = ""
    timestamp: str = ""

    @classmethod
    def of(cls, answer: Response, max_bytes: int) -> "Fixture":
        """What is to be kept of an answer: its body as it reads, unless that cannot be found out."""
        left_out = _LEFT_OUT | {"content-encoding"}
        try:
            body = decode_body(answer.headers, answer.body, max_bytes)
        except Undecodable:
            body, left_out = answer.body, _LEFT_OUT
        headers: dict[str, str | list[str]] = {}
        for name, value in answer.headers:
            if name.lower() not in left_out:
                headers[name] = [*headers.get(name, ()), value]
        text, encoding = _written(body)
        return cls(answer.url, METHOD, answer.status, headers, text, encoding, datetime.now(UTC).isoformat())

    def answer(self, url: str) -> Response:
        """The same as if a server had just said it."""
        pairs = ((name, [said] if isinstance(said, str) else said) for name, said in self.headers.items())
        headers = tuple((name, value) for name, values in pairs for value in values)
        body = b64decode(self.body, validate=True) if self.body_encoding == BASE64 else self.body.encode()
        return Response(url, self.status_code, headers, body, "HTTP/1.1", 0)


def _written(body: bytes) -> tuple[str, str]:
    """A body as text, and how."""
    try:
        return body.decode(), ""
    except UnicodeDecodeError:
        return b64encode(body).decode(), BASE64


class Fixtures:
    """The files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, url: str) -> Path:
        """Where the answer for a URL is, or would be."""
        return self._folder / parse(url).hostname.strip("[]") / f"{METHOD}_{url_hash(url).hex()[:12]}.json"

    def read(self, url: str) -> Response | None:
        """The answer that is kept for a URL; raises `FetchFailed` for a file that is not one."""
        path = self.path(url)
        for ending in _ENDINGS:
            try:
                return msgspec.json.decode(path.with_suffix(ending).read_bytes(), type=Fixture).answer(url)
            except FileNotFoundError:
                continue
            except (msgspec.DecodeError, binascii.Error, OSError) as error:
                raise FetchFailed(
                    "protocol", f"the fixture {path.with_suffix(ending)} cannot be read: {error}"
                ) from None
        return None

    def write(self, answer: Response, max_bytes: int) -> None:
        """Keep an answer; whoever reads meanwhile sees the old file or the new one, whole."""
        path = self.path(answer.url)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = msgspec.json.format(msgspec.json.encode(Fixture.of(answer, max_bytes)), indent=2)
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(text)
        Path(file.name).replace(path)


class ReplayingHttp:
    """The `Http` port without a network: what is in no file is answered 404, also a robots.txt."""

    def __init__(self, fixtures: Fixtures) -> None:
        self._fixtures = fixtures

    async def fetch(self, request: Request) -> Response:
        """The answer that is kept, or raise `FetchFailed`."""
        answer = await asyncio.to_thread(self._fixtures.read, request.url)
        if answer is None:
            why = f"there is no fixture {self._fixtures.path(request.url)}"
            return Response(request.url, 404, (("content-type", "text/plain"),), why.encode(), "HTTP/1.1", 0)
        if len(answer.body) <= request.max_bytes:
            return answer
        if not request.cut:
            raise FetchFailed("too_large", f"more than {request.max_bytes} bytes")
        return msgspec.structs.replace(answer, body=answer.body[: request.max_bytes])

    async def close(self) -> None:
        """There is nothing to let go of."""


class RecordingHttp:
    """The `Http` port that keeps every answer in a file as well."""

    def __init__(self, live: Http, fixtures: Fixtures) -> None:
        self._live, self._fixtures = live, fixtures

    async def fetch(self, request: Request) -> Response:
        """Send one request and read the whole answer, or raise `FetchFailed`."""
        answer = await self._live.fetch(request)
        if answer.status != 304:  # there is no body behind it, and whoever replays it may not have one either
            await asyncio.to_thread(self._fixtures.write, answer, request.max_bytes)
        return answer

    async def close(self) -> None:
        """Let go of connections."""
        await self._live.close()
