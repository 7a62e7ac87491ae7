import gzip
import http.client
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.web import SiteHandle, running_site, trouble
from tests.web.asking import get
from tests.web.trouble import TROUBLES


@pytest.fixture(scope="module")
def site():
    with running_site(pages=2) as handle:
        yield handle


@pytest.mark.parametrize("status", [200, 204, 304, 404, 429, 500, 503, 599])
def test_status(site, status):
    assert get(f"{site.url}status/{status}").status == status


def test_a_status_may_ask_for_patience(site):
    assert get(f"{site.url}status/429?after=7").headers["retry-after"] == "7"
    assert "retry-after" not in get(f"{site.url}status/429").headers


def test_a_question_that_makes_no_sense_is_refused_and_the_connection_kept(site):
    connection = http.client.HTTPConnection(site.url.split("/")[2], timeout=10)
    for path, status in (("/status/high", 400), ("/big?bytes=many", 400), ("/", 200)):
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        assert response.status == status
    connection.close()

    assert len({visit.port for visit in site.requests[-3:]}) == 1


def test_slow(site):
    began = time.monotonic()

    assert get(site.url + "slow?seconds=0.2").status == 200
    assert time.monotonic() - began >= 0.2


def test_redirects_lead_to_the_first_page_in_so_many_steps(site):
    path, steps = "/redirect/3", []
    while path != "/":
        reply = get(site.url + path[1:])
        assert reply.status == 302
        path = reply.headers["location"]
        steps.append(path)

    assert steps == ["/redirect/2", "/redirect/1", "/"]


def test_loop(site):
    assert get(site.url + "loop").headers["location"] == "/loop"


def test_a_redirect_leads_where_one_likes(site):
    assert get(site.url + "to?url=ftp://off-site.example/").headers["location"] == "ftp://off-site.example/"


def test_truncated(site):
    with pytest.raises(http.client.IncompleteRead) as told:
        get(site.url + "truncated")

    assert told.value.partial == b"<title>Half"


def test_stall(site):
    with asked(site, "/stall") as response:
        assert response.read1() == b"<title>Half"
        with pytest.raises(TimeoutError):
            response.read1()


def test_drip(site):
    with asked(site, "/drip") as response:
        drops = [response.read1() for _ in range(4)]

    assert b"".join(drops).startswith(b"<title>Drip..")
    assert len(b"".join(drops)) < 50


@pytest.mark.parametrize("size", [0, 1, 65538, 3_000_000])
def test_big(site, size):
    assert len(get(f"{site.url}big?bytes={size}").body) == size


def test_gzip(site):
    reply = get(site.url + "gzip")

    assert reply.headers["content-encoding"] == "gzip"
    assert gzip.decompress(reply.body).startswith(b"<title>Compressed</title>")


def test_bomb(site):
    reply = get(site.url + "bomb?bytes=1000000")

    assert len(reply.body) < 2000
    assert len(gzip.decompress(reply.body)) == 1_000_000


@pytest.mark.parametrize(("path", "coding"), [("garbled", "gzip"), ("compress", "compress")])
def test_a_body_of_another_encoding_cannot_be_decoded(site, path, coding):
    reply = get(site.url + path)

    assert reply.headers["content-encoding"] == coding
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(reply.body)


def test_gibberish(site):
    with pytest.raises(http.client.BadStatusLine, match="220 mail"):
        get(site.url + "gibberish")


def test_intricate(site):
    assert get(site.url + "intricate").body.count(b" data-") == 10_000


def test_hang(site):
    with pytest.raises(TimeoutError):
        get(site.url + "hang", timeout=0.2)


def test_reset(site):
    with pytest.raises(ConnectionResetError) as told:
        get(site.url + "reset")

    # An orderly close can be reported as a kind of reset too, but this is the disorderly one.
    assert told.type is ConnectionResetError


def test_latin1(site):
    reply = get(site.url + "latin1")

    assert reply.headers["content-type"] == "text/html; charset=iso-8859-1"
    assert "Crème brûlée" in reply.body.decode("latin-1")
    with pytest.raises(UnicodeDecodeError):
        reply.body.decode()


def test_every_trouble_is_described():
    described = {line.split()[0].strip("/").partition("/")[0].partition("?")[0] for line in lines_of_paths()}

    assert described == set(TROUBLES)


@contextmanager
def asked(site: SiteHandle, path: str) -> Iterator[http.client.HTTPResponse]:
    """Yield a response with an unread body, to a client with a short timeout."""
    with closing(http.client.HTTPConnection(site.url.split("/")[2], timeout=2)) as connection:
        connection.request("GET", path)
        with connection.getresponse() as response:
            yield response


def lines_of_paths() -> list[str]:
    return [line for line in (trouble.__doc__ or "").splitlines() if line.startswith("/")]
