"""The order that a caller's operation carries, and states without secrets."""

import asyncio

import pytest

from longline.model.callers.audit import (
    AUDIT_CONTEXT,
    MAX_REASON_CHARS,
    MAX_STATE_CHARS,
    AuditContext,
    audit_context,
    audited_as,
    mask_text,
    masked,
    state_text,
)
from longline.model.callers.caller import Caller
from longline.model.callers.roles import Role

CALLER = Caller("7", "ann", Role.ADMIN, "user")


def order(action: str = "source.enable", reason: str | None = None) -> AuditContext:
    return AuditContext(CALLER, "intervals", action, reason)


async def test_a_change_of_the_audited_noun_is_audited_once():
    assert audit_context("source") is None
    with audited_as(order()) as _:
        found = audit_context("source")
        assert found is not None
        assert audit_context("schedule") is None
        assert await asyncio.create_task(seen()), "a task of the operation belongs to the operation"
        found.is_written = True
        assert audit_context("source") is None
    assert AUDIT_CONTEXT.get() is None


async def seen() -> bool:
    return audit_context("source") is not None


def test_a_reason_is_masked_and_cut():
    assert order(reason="see https://a:hunter2@b.example/").reason == "see https://a:***@b.example/"
    assert len(order(reason="x" * 9999).reason or "") == MAX_REASON_CHARS


SECRETS = (
    {"password": "hunter2"},
    {"proxy_password": "hunter2"},
    {"passwd": "hunter2"},
    {"secret": "hunter2"},
    {"client_secret": "hunter2"},
    {"api_key": "hunter2"},
    {"apiKey": "hunter2"},
    {"api-key": "hunter2"},
    {"request": {"X-Api-Key": "hunter2"}},
    {"extra_headers": {"X-Site": "hunter2"}},
    {"access_key": "hunter2"},
    {"encryption_key": "hunter2"},
    {"auth": "hunter2"},
    {"bearer": "hunter2"},
    {"pwd": "hunter2"},
    {"sessionId": "hunter2"},
    {"signature": "hunter2"},
    {"tokens": ["hunter2"]},
    {"api_token": "hunter2"},
    {"token": "hunter2"},
    {"Authorization": "Bearer hunter2"},
    {"Set-Cookie": "a=hunter2"},
    {"cookies": {"a": "hunter2"}},
    {"credentials": ["me", "hunter2"]},
    {"headers": {"X-Mine": "hunter2"}},
    {"private_key": "hunter2"},
    {"config": '{"login": {"password": "hunter2"}}'},
    {"config": '[{"secret": "hunter2"}]'},
    {"url": "https://me:hunter2@a.example/"},
    {"deep": [{"list": [{"url": "http://:hunter2@a"}]}]},
    {"text": '{"proxy": "socks5://me:hunter2@p:1"}'},
)


@pytest.mark.parametrize("state", SECRETS)
def test_secrets_are_masked(state: dict[str, object]):
    text = state_text(state)
    assert text is not None
    assert "hunter2" not in text
    assert "***" in text


def test_values_without_secrets_are_not_masked():
    state = {
        "token": 7,
        "name": "n",
        "config": '{"pages":2}',
        "secret": "",
        "enabled": True,
        "text": "{no",
    }
    assert masked(state) == state | {"config": {"pages": 2}}
    assert state_text(None) is None
    assert mask_text("https://a.example/x@y") == "https://a.example/x@y"


def test_a_huge_state_is_left_out():
    assert state_text({"text": "x" * MAX_STATE_CHARS}) == f'{{"omitted_chars":{MAX_STATE_CHARS + 11}}}'
