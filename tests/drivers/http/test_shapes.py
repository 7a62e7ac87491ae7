"""Promises of the structs in `ports/http.py`."""

import msgspec
import pytest

from longline.model.proxies.proxy_uri import Proxy
from longline.ports.http import FetchFailed, Request, Response


def answer(*headers: tuple[str, str]) -> Response:
    return Response("http://site.test/a/b", 302, headers, b"", "HTTP/1.1", 1)


def test_headers_are_found_in_any_case():
    one = answer(("Set-Cookie", "1"), ("SET-COOKIE", "2"))
    assert one.header("set-cookie") == "1"
    assert one.header("location") is None


def test_a_response_leads_to_its_location():
    assert answer(("location", "/c")).leads_to("http://site.test/a/b") == "http://site.test/c"


def test_a_refused_location_is_a_failure_of_the_fetch():
    with pytest.raises(FetchFailed, match="redirected to a text that is no URL") as caught:
        answer(("location", "mailto:secret@site.test")).leads_to("http://site.test/")
    assert caught.value.kind == "bad_url"
    assert "secret" not in str(caught.value)


def test_a_failure_is_no_fault_of_the_proxy_unless_it_is_marked_as_one():
    assert not FetchFailed("reset", "gone").proxy_fault
    assert FetchFailed("proxy_failed", "gone", proxy_fault=True).proxy_fault


def test_a_request_is_immutable():
    request = Request("http://site.test/", proxy=Proxy("http", "proxy.test", 80, "anna", "secret"))
    with pytest.raises(AttributeError):
        request.url = "http://other.test/"  # type: ignore[misc]  # the assignment must fail
    assert msgspec.structs.replace(request, proxy=None) == Request("http://site.test/")
