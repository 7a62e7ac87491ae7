"""Responses that are recorded in files, and replayed from the files."""

import gzip
import json
from hashlib import sha256
from pathlib import Path

import pytest

from longline.drivers.http.replay import Fixtures, RecordingHttp, ReplayingHttp, SavedStream
from longline.ports.http import FetchFailed, Request, Response

URL = "http://News.Example/a/?utm_source=x&b=2"
DIGITS = sha256(b"https://news.example/a?b=2").hexdigest()[:12]


class Live:
    """A website with one constant response."""

    def __init__(self, body: bytes, *headers: tuple[str, str], status: int = 200) -> None:
        self._said = status, headers, body
        self.closed = False

    async def open(self, request: Request) -> SavedStream:
        return SavedStream(await self.fetch(request))

    async def fetch(self, request: Request) -> Response:
        status, headers, body = self._said
        return Response(request.url, status, headers, body, "HTTP/2.0", 12)

    async def close(self) -> None:
        self.closed = True


async def kept(folder: Path, live: Live, url: str = URL) -> Response:
    """Record a response and return the replayed one."""
    recording = RecordingHttp(live, Fixtures(folder))
    await recording.fetch(Request(url))
    await recording.close()
    assert live.closed
    return await ReplayingHttp(Fixtures(folder)).fetch(Request(url))


def lay(folder: Path, name: str = f"GET_{DIGITS}.json", **fields: object) -> None:
    (folder / "news.example").mkdir(exist_ok=True)
    (folder / "news.example" / name).write_text(json.dumps({"url": URL, "method": "GET", "status_code": 200} | fields))


def files(folder: Path) -> list[Path]:
    return list(folder.rglob("*.json"))


async def test_a_file_of_the_contract_is_replayed(tmp_path: Path):
    lay(
        tmp_path, headers={"Content-Type": "text/html", "Link": ["<a>", "<b>"]}, body="<p>hällo", timestamp="2026-01-01"
    )
    answer = await ReplayingHttp(Fixtures(tmp_path)).fetch(Request(URL))
    assert (answer.url, answer.status, answer.body) == (URL, 200, "<p>hällo".encode())
    assert answer.headers == (("Content-Type", "text/html"), ("Link", "<a>"), ("Link", "<b>"))


async def test_a_file_name_may_lack_its_extension(tmp_path: Path):
    lay(tmp_path, f"GET_{DIGITS}", status_code=410)
    assert (await ReplayingHttp(Fixtures(tmp_path)).fetch(Request(URL))).status == 410


async def test_spellings_of_one_url_are_one_file(tmp_path: Path):
    lay(tmp_path, body="it")
    replaying = ReplayingHttp(Fixtures(tmp_path))
    for url in ("https://news.example/a?b=2", "http://news.example:80/a/?b=2&fbclid=1"):
        assert (await replaying.fetch(Request(url))).body == b"it", url


async def test_a_page_that_was_not_recorded_is_a_404(tmp_path: Path):
    answer = await ReplayingHttp(Fixtures(tmp_path)).fetch(Request(URL))
    assert answer.status == 404
    assert f"news.example/GET_{DIGITS}.json".encode() in answer.body


@pytest.mark.parametrize("text", ["{", '{"url": 1}', '{"url": "u", "method": "GET", "status_code": "200"}'])
async def test_a_file_that_is_no_response_is_named(tmp_path: Path, text: str):
    lay(tmp_path)
    (tmp_path / "news.example" / f"GET_{DIGITS}.json").write_text(text)
    with pytest.raises(FetchFailed, match=rf"GET_{DIGITS}\.json cannot be read"):
        await ReplayingHttp(Fixtures(tmp_path)).fetch(Request(URL))


async def test_a_body_that_is_no_base64_is_no_response(tmp_path: Path):
    lay(tmp_path, body="*", body_encoding="base64")
    with pytest.raises(FetchFailed, match="cannot be read"):
        await ReplayingHttp(Fixtures(tmp_path)).fetch(Request(URL))


async def test_a_replayed_response_lacks_the_headers_of_its_transfer_alone(tmp_path: Path):
    packed = gzip.compress("schön".encode())
    wire = (("content-encoding", "gzip"), ("content-length", str(len(packed))), ("set-cookie", "who=me"))
    answer = await kept(tmp_path, Live(packed, ("content-type", "text/plain"), ("link", "<a>"), ("link", "<b>"), *wire))
    assert answer.body == "schön".encode()
    assert answer.headers == (("content-type", "text/plain"), ("link", "<a>"), ("link", "<b>"))
    [file] = files(tmp_path)
    assert file.relative_to(tmp_path) == Path("news.example", f"GET_{DIGITS}.json")
    fields = json.loads(file.read_text())
    assert list(fields) == ["url", "method", "status_code", "headers", "body", "timestamp"]
    assert fields["body"] == "schön"


@pytest.mark.parametrize("body", [b"\xff\x00\xfe", b"", "日本".encode("shift_jis")])
async def test_any_bytes_of_a_body_are_replayed(tmp_path: Path, body: bytes):
    assert (await kept(tmp_path, Live(body))).body == body


async def test_a_broken_encoding_stays_broken(tmp_path: Path):
    answer = await kept(tmp_path, Live(b"not gzip", ("content-encoding", "gzip")))
    assert (answer.body, answer.headers) == (b"not gzip", (("content-encoding", "gzip"),))


async def test_not_modified_does_not_replace_the_recorded_page(tmp_path: Path):
    assert (await kept(tmp_path, Live(b"first"))).body == b"first"
    assert (await kept(tmp_path, Live(b"", status=304))).body == b"first"


async def test_no_body_is_larger_than_the_request_allows(tmp_path: Path):
    lay(tmp_path, body="123456")
    replaying = ReplayingHttp(Fixtures(tmp_path))
    with pytest.raises(FetchFailed, match="more than 5 bytes"):
        await replaying.fetch(Request(URL, max_bytes=5))
    assert (await replaying.fetch(Request(URL, max_bytes=5, cut=True))).body == b"12345"
    await replaying.close()


@pytest.mark.parametrize("url", ["http://[::1]:8000/x", "http://127.0.0.1:8000/x", "https://bücher.example/x"])
async def test_every_host_has_a_folder(tmp_path: Path, url: str):
    assert (await kept(tmp_path, Live(b"it"), url)).body == b"it"
    [file] = files(tmp_path)
    assert file.parent.parent == tmp_path
