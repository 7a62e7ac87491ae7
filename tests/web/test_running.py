import asyncio
import socket
import ssl
import threading
import time
from contextlib import suppress
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
import trustme

from tests.web import SiteHandle, running_site
from tests.web.asking import get


async def fetch_all(url: str, paths: list[str]) -> int:
    """Request paths one after the other over one connection, and return the number of received bytes."""
    place, total = urlsplit(url), 0
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    for path in paths:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        total += len(await reader.readexactly(int(head.partition("content-length: ")[2].split("\r\n")[0])))
    writer.close()
    await writer.wait_closed()
    return total


async def test_many_connections_are_kept_at_once():
    with running_site(pages=600) as site:
        paths = site.site.paths
        sizes = await asyncio.gather(*(fetch_all(site.url, paths[number::200]) for number in range(200)))

        assert all(sizes)
        assert site.visits() == dict.fromkeys(paths, 1)
        assert len({visit.port for visit in site.requests}) == 200


def wait_for_a_visit(site: SiteHandle) -> None:
    deadline = time.monotonic() + 10
    while not site.requests:
        assert time.monotonic() < deadline, "no request arrived"
        time.sleep(0.005)


def test_a_shut_site_takes_no_more_connections():
    with running_site(pages=1) as site:
        assert get(site.url).status == 200

    with pytest.raises(ConnectionRefusedError):
        get(site.url)
    assert not [thread for thread in threading.enumerate() if thread.name == "site"]


def test_a_site_may_be_a_secure_one():
    issuer, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert("127.0.0.1").configure_cert(context)
    trusting = ssl.create_default_context()
    issuer.configure_trust(trusting)
    with running_site(pages=1, tls=context) as site:
        with urlopen(site.url, timeout=10, context=trusting) as response:
            assert b"<title>Page 0</title>" in response.read()
        with pytest.raises(URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urlopen(site.url, timeout=10)

    assert site.visits() == {"/": 1}


@pytest.mark.parametrize("path", ["/hang", "/drip", "/stall", "/slow?seconds=60", "/big?bytes=100000000"])
def test_a_site_shuts_during_an_unfinished_response(path):
    with running_site(pages=1) as site:
        place = urlsplit(site.url)
        guest = socket.create_connection((place.hostname, place.port), timeout=10)
        guest.sendall(f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        wait_for_a_visit(site)

    with guest:
        assert not [thread for thread in threading.enumerate() if thread.name == "site"]


def test_a_client_may_ask_to_close():
    with running_site(pages=1) as site:
        place = urlsplit(site.url)
        with socket.create_connection((place.hostname, place.port), timeout=10) as guest:
            guest.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: guest.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"</html>\n")


@pytest.mark.parametrize(
    "nonsense",
    [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: long\r\n\r\n", b"GET " + b"x" * 100_000],
)
def test_nonsense_ends_the_connection_and_nothing_else(nonsense, caplog):
    with running_site(pages=1) as site:
        place = urlsplit(site.url)
        with socket.create_connection((place.hostname, place.port), timeout=10) as guest:
            guest.sendall(nonsense)
            with suppress(ConnectionResetError):
                assert guest.recv(100) == b""

        assert get(site.url).status == 200
    assert caplog.text == ""
