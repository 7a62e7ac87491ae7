"""User names and passwords of URLs: refused, removed, hidden."""

import pytest

from longline.model.urls.url import BadUrl, parse
from longline.model.urls.url_credentials import hide_in_text, without_credentials


@pytest.mark.parametrize(
    "text",
    [
        "http://user:pw@example.com/",
        "https://pw@example.com/a?b#c",
        "https://:pw@example.com/",
        "HTTP:\\\\user:pw@example.com/",
        "https:user:pw@example.com",
        "https://user:a@b:pw@example.com/",
    ],
)
def test_a_user_name_and_a_password_are_refused_and_not_shown(text: str):
    with pytest.raises(BadUrl) as refused:
        parse(text)
    assert refused.value.reason == "credentials"
    assert "pw" not in str(refused.value)
    kept = parse(text, credentials=True)
    assert "pw" in kept.href
    assert "pw" not in without_credentials(kept.href)
    assert parse(without_credentials(kept.href)).host == kept.host


@pytest.mark.parametrize(
    "text", ["https://example.com/@me", "https://example.com/?to=a@b", "https://@example.com/", "https://example.com/"]
)
def test_an_at_sign_elsewhere_is_part_of_the_address(text: str):
    assert without_credentials(text) == text
    assert parse(text).host == "example.com"


@pytest.mark.parametrize(
    "text", ["http://user:pw@", "user:pw@example.com", "ftp://user:pw@example.com/", "//user:pw@x"]
)
def test_a_text_that_is_no_url_is_shown_without_its_password(text: str):
    with pytest.raises(BadUrl) as refused:
        parse(text)
    assert "pw" not in str(refused.value)
    assert "pw" not in without_credentials(text)


def test_passwords_of_urls_in_a_message_are_hidden():
    told = "cannot send to (http://anna:pw@h.example/a) nor to redis://:pw@[::1]:6379/0, write to me@h.example"
    assert hide_in_text(told) == (
        "cannot send to (http://***@h.example/a) nor to redis://***@[::1]:6379/0, write to me@h.example"
    )
