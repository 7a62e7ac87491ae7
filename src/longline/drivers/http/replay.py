"""Responses from files: a crawl that is the same every time, and needs no network.

One JSON file is one response, `<folder>/<domain>/GET_<12 hex digits>.json`; the digits begin the SHA-256 of the URL as
normalized by the interval contract. The fields are those of the contract, so that files made elsewhere can be used
unchanged.
"""

import asyncio
import binascii
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.frontier.standing_frontier import url_hash
from longline.model.urls.url import parse
from longline.ports.http import FetchFailed, Request, Response, StreamedResponse, StreamingHttp

METHOD, BASE64 = "GET", "base64"
_ENDINGS = (".json", "")
_LEFT_OUT = frozenset({"content-length", "transfer-encoding", "connection", "set-cookie"})
"""Headers that are not saved: those of one connection, and cookies of one visitor."""


class Fixture(msgspec.Struct, frozen=True, omit_defaults=True):
    """A saved response; a body that is not UTF-8 is saved in base64, with `body_encoding` set."""

    url: str
    method: str
    status_code: int
    headers: dict[str, str | list[str]] = {}
    body: str = ""
    body_encoding: str = ""
    timestamp: str = ""

    @classmethod
    def of(cls, answer: Response, max_bytes: int) -> "Fixture":
        """Return the fixture of a response: its body decoded, or undecoded when decoding fails."""
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
        """Return the saved response."""
        pairs = ((name, [said] if isinstance(said, str) else said) for name, said in self.headers.items())
        headers = tuple((name, value) for name, values in pairs for value in values)
        body = b64decode(self.body, validate=True) if self.body_encoding == BASE64 else self.body.encode()
        return Response(url, self.status_code, headers, body, "HTTP/1.1", 0)


def _written(body: bytes) -> tuple[str, str]:
    """Return a body as text, and the text's encoding."""
    try:
        return body.decode(), ""
    except UnicodeDecodeError:
        return b64encode(body).decode(), BASE64


class Fixtures:
    """The fixture files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, url: str) -> Path:
        """Return the path of a URL's fixture, existing or not."""
        return self._folder / parse(url).hostname.strip("[]") / f"{METHOD}_{url_hash(url).hex()[:12]}.json"

    def read(self, url: str) -> Response | None:
        """Return the saved response for a URL; raise `FetchFailed` for a file that is no fixture."""
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
        """Save a response; concurrent readers see the old file or the new one, whole."""
        path = self.path(answer.url)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = msgspec.json.format(msgspec.json.encode(Fixture.of(answer, max_bytes)), indent=2)
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(text)
        Path(file.name).replace(path)


class SavedStream:
    """A saved response as a stream."""

    def __init__(self, answer: Response) -> None:
        self.head, self._body = msgspec.structs.replace(answer, body=b""), answer.body
        self.content_length: int | None = len(answer.body)

    async def pieces(self) -> AsyncIterator[memoryview]:
        """Yield the body."""
        yield memoryview(self._body)

    async def close(self) -> None:
        """Do nothing: no connection is open."""


class ReplayingHttp:
    """The `Http` port without a network: a URL without a file gets 404, robots.txt too."""

    def __init__(self, fixtures: Fixtures) -> None:
        self._fixtures = fixtures

    async def fetch(self, request: Request) -> Response:
        """Return the saved response, or raise `FetchFailed`."""
        answer = await asyncio.to_thread(self._fixtures.read, request.url) if request.method == METHOD else None
        if answer is None:
            why = f"there is no fixture {self._fixtures.path(request.url)}"
            return Response(request.url, 404, (("content-type", "text/plain"),), why.encode(), "HTTP/1.1", 0)
        if len(answer.body) <= request.max_bytes:
            return answer
        if not request.cut:
            raise FetchFailed("too_large", f"more than {request.max_bytes} bytes")
        return msgspec.structs.replace(answer, body=answer.body[: request.max_bytes])

    async def open(self, request: Request) -> StreamedResponse:
        """Return the saved response; its body is one piece."""
        return SavedStream(await self.fetch(request))

    async def close(self) -> None:
        """Do nothing: no connections are open."""


class RecordingHttp:
    """The `Http` port that also saves every response to a file."""

    def __init__(self, live: StreamingHttp, fixtures: Fixtures) -> None:
        self._live, self._fixtures = live, fixtures

    async def fetch(self, request: Request) -> Response:
        """Send one request and read the whole response, or raise `FetchFailed`."""
        answer = await self._live.fetch(request)
        # A 304 has no body, and a replaying crawl may not have the body either; the answer to a POST may be a token.
        if answer.status != 304 and request.method == METHOD:
            await asyncio.to_thread(self._fixtures.write, answer, request.max_bytes)
        return answer

    async def open(self, request: Request) -> StreamedResponse:
        """Return the response of the live client; files are not saved."""
        return await self._live.open(request)

    async def close(self) -> None:
        """Close all connections."""
        await self._live.close()
