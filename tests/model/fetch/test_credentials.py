import pytest

from longline.model.errors import BadInput
from longline.model.fetch.cookies import Cookie
from longline.model.fetch.credentials import (
    Credentials,
    masked,
    origins,
    parse_cookie,
    parse_header,
    without_cookie_values,
)
from longline.model.urls.url import parse


def test_credentials_are_read_as_written_and_not_shown():
    given = Credentials((("X-Key", "secret"),), (Cookie("a", "secret", "a.example"),))
    assert Credentials.read(given.text()) == given
    assert "secret" not in repr(given)
    assert (Credentials().text(), Credentials.read("")) == ("", Credentials())


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("X-Key: v", ("X-Key", "v")),
        (" accept-language :de, en ", ("accept-language", "de, en")),
        ("Authorization: Bearer a:b", ("Authorization", "Bearer a:b")),
        ("X-Empty:", ("X-Empty", "")),
    ],
)
def test_a_header_is_read_as_written(text: str, header: tuple[str, str]):
    assert parse_header(text) == header


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("secret", "written 'Name: value'"),
        ("bad name: secret", "written 'Name: value'"),
        (": secret", "written 'Name: value'"),
        ("X: se\r\ncret", "line breaks"),
        ("user-agent: secret", "use --user-agent"),
        ("Host: secret", "the URL names the host"),
    ],
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(text: str, error: str):
    with pytest.raises(BadInput, match=error) as caught:
        parse_header(text)
    assert "secret" not in str(caught.value)


def test_a_cookie_is_for_the_host_of_its_url():
    secure = parse_cookie(" id = a=b ", parse("https://a.example:8443/x"))
    assert secure == Cookie("id", "a=b", "a.example", secure=True)
    assert not parse_cookie("id=1", parse("http://a.example/")).secure
    for text in ("secret", "=secret", "a=secret; Path=/", "a=b,secret"):
        with pytest.raises(BadInput, match="written name=value") as caught:
            parse_cookie(text, parse("https://a.example/"))
        assert "secret" not in str(caught.value)


def test_origins_may_become_secure_and_never_insecure():
    urls = ("http://a.example/x", "https://b.example/", "http://c.example:8080/")
    assert origins(tuple(map(parse, urls))) == {
        "http://a.example",
        "https://a.example",
        "https://b.example",
        "http://c.example:8080",
    }


def test_secret_values_are_masked():
    headers = (("accept", "*/*"), ("Cookie", "a=1"), ("AUTHORIZATION", "x"), ("X-Key", "k"))
    assert [value for _, value in masked(headers)] == ["*/*", "(hidden)", "(hidden)", "k"]
    assert dict(masked(headers, frozenset({"x-key"})))["X-Key"] == "(hidden)"
    told = without_cookie_values((("Set-Cookie", "id=1; Path=/"), ("content-type", "text/html")))
    assert told == (("Set-Cookie", "id=(hidden)"), ("content-type", "text/html"))
