"""Passwords of URLs are sent to their host alone."""

from base64 import b64decode

import pytest

from longline.drivers.http import WreqHttp
from longline.drivers.http.credentials import split_credentials
from longline.model.urls.url import parse
from longline.ports.http import FetchFailed, Request
from tests.drivers.http.wire import keeps_answering, says, serving, to_loopback


@pytest.mark.parametrize(
    ("text", "bare", "pair"),
    [
        ("http://site.test/a?b", "http://site.test/a?b", None),
        ("http://site.test/a@b", "http://site.test/a@b", None),
        ("http://site.test?a@b", "http://site.test/?a@b", None),
        ("http://anna:secret@site.test:81/a?b@c", "http://site.test:81/a?b@c", b"anna:secret"),
        ("http://anna@site.test/", "http://site.test/", b"anna:"),
        ("http://:secret@site.test/", "http://site.test/", b":secret"),
        ("http://a:b:c@d@site.test/", "http://site.test/", b"a:b:c@d"),
        ("http://a%3Ab:%E2%82%AC@site.test/", "http://site.test/", b"a:b:\xe2\x82\xac"),
        ("http://anna:secret@[::1]:81/", "http://[::1]:81/", b"anna:secret"),
    ],
)
def test_credentials_are_split_from_a_url(text: str, bare: str, pair: bytes | None):
    href, authorization = split_credentials(parse(text, credentials=True).href)
    assert href == bare
    assert (b64decode(authorization.removeprefix("Basic ")) if authorization else None) == pair


async def test_credentials_are_sent_and_not_shown():
    client = WreqHttp(to_loopback)
    async with serving(keeps_answering) as server:
        answer = await client.fetch(Request(server.url("/x#y", "anna:secret@site.test")))
        own = (("Authorization", "Bearer token"),)
        await client.fetch(Request(server.url("/x", "anna:secret@site.test"), own))
        plain = await client.fetch(Request(server.url("/x#y", "site.test")))
    await client.close()
    assert answer.url == server.url("/x", "site.test")
    assert plain.url == server.url("/x#y", "site.test")
    sent = [[line for line in head.split(b"\r\n") if line.startswith(b"authorization")] for head in server.heads]
    assert sent == [[b"authorization: Basic YW5uYTpzZWNyZXQ="], [b"authorization: Bearer token"], []]
    assert not [head for head in server.heads if b"secret" in head]


@pytest.mark.parametrize(
    "url",
    [
        "http://anna:secret@site.test:{port}/",  # breaks off
        "http://anna:secret@site.test:1/",  # no server
        "https://anna:secret@site.test:{port}/",  # no TLS
        "http://anna:secret@site.test:99999/",
        "http://anna:sec/secret@site.test/",
        "http:\\\\anna:secret@site test/",
        "anna:secret@site.test",
        "ftp://anna:secret@site.test/",
        "http://anna:secret@site.test/\n" + "x" * 200,
        "http://anna:secret@site.test/" + "x" * 9000,
    ],
)
async def test_no_failure_shows_credentials(url: str):
    client = WreqHttp(to_loopback)
    async with serving(says(b"")) as server:
        with pytest.raises(FetchFailed) as caught:
            await client.fetch(Request(url.format(port=server.port), connect_seconds=0.2))
    await client.close()
    assert "secret" not in str(caught.value)
    assert str(caught.value)


async def test_an_invalid_authorization_header_is_refused_without_its_value():
    client = WreqHttp(to_loopback)
    with pytest.raises(ValueError, match="Authorization") as caught:
        await client.fetch(Request("http://site.test/", (("Authorization", "secret\r\n"),)))
    await client.close()
    assert "secret" not in str(caught.value)
