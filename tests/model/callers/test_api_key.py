"""API keys: their text, their checks, and the reasons to refuse them."""

import pytest

from longline.model.callers.api_key import PREFIX, ApiKeyParts, ApiKeyRow, NewApiKey, digest, new_key, parse_key
from longline.model.callers.roles import Role
from longline.model.errors import BadInput


def row(secret: str = "s", **more: int | None) -> ApiKeyRow:
    times = {"expires_at": None, "revoked_at": None, "last_used_at": None} | more
    return ApiKeyRow(1, "ab", "shop", digest(secret), "bots", Role.SERVICE, "", None, 0, **times)


def test_a_key_is_random_and_can_be_taken_apart():
    one, other = new_key(), new_key()
    assert one != other
    assert len(one.secret) >= 43
    assert parse_key(one.text) == one
    assert one.text.startswith(f"{PREFIX}_{one.uid}_")


def test_a_secret_may_have_the_separator():
    assert parse_key("llk_ab_c_d_") == ApiKeyParts("ab", "c_d_")


@pytest.mark.parametrize("text", [None, "", "llk", "llk_ab", "eyJ.a.b", "bot_b_c", "LLK_a_b"])
def test_other_texts_are_no_keys(text: str | None):
    assert parse_key(text) is None


def test_the_hash_is_stored_and_not_the_secret():
    assert "hunter2" not in digest("hunter2")
    assert row("hunter2").refusal("hunter2", 0) is None
    assert row("hunter2").refusal("hunter3", 0) == "wrong"


def test_a_key_ends_and_can_be_revoked():
    assert row(expires_at=10).refusal("s", 9) is None
    assert row(expires_at=10).refusal("s", 10) == "expired"
    assert row(revoked_at=5).refusal("s", 6) == "revoked"
    assert row(revoked_at=5).refusal("x", 6) == "wrong", "the refusal does not reveal that the key was revoked"


def test_the_last_use_is_written_once_a_minute():
    assert not row().was_used_lately(100)
    assert row(last_used_at=100).was_used_lately(60_099)
    assert not row(last_used_at=100).was_used_lately(60_100)


def test_the_preview_of_a_key_shows_no_secret():
    assert row("hunter2").preview == "llk_ab_…"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (NewApiKey(" ", "bots"), "name"),
        (NewApiKey("x" * 101, "bots"), "name"),
        (NewApiKey("x", "bots", Role.BANNED), "role"),
        (NewApiKey("x", "bots", Role.NONE), "role"),
        (NewApiKey("x", "bots", per_minute=0), "rate limit"),
    ],
)
def test_a_key_that_cannot_be_made_is_refused(key: NewApiKey, said: str):
    with pytest.raises(BadInput, match=said):
        key.check()
    NewApiKey("x", "bots").check()
