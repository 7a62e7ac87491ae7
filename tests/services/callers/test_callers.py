"""Callers, from their credentials."""

import pytest

from longline.model.callers.caller import AccessRule, Caller, NotAllowed
from longline.model.callers.roles import OPERATORS, Role
from longline.services.callers.callers import CallerCredentials, Callers
from longline.services.callers.tokens import TokenRefused, Tokens

TOKENS = Tokens("s" * 64, lambda: 1_000_000)
CALLERS = Callers(TOKENS)
RULE = AccessRule("books", OPERATORS)


def given(role: str, tenant: str = "") -> CallerCredentials:
    return CallerCredentials(TOKENS.issue(role, "ann", 60, tenant), address="192.0.2.1")


async def test_a_token_identifies_its_caller():
    assert await CALLERS.identify(given("moderator", "acme")) == Caller(
        "ann", "ann", Role.MODERATOR, "user", "acme", "192.0.2.1"
    )
    assert (await CALLERS.identify(given("service"))).kind == "service"


async def test_a_caller_is_admitted_or_denied_by_the_rule():
    assert (await CALLERS.admit(given(""), RULE)).role == Role.NONE
    with pytest.raises(NotAllowed) as denied:
        await CALLERS.admit(given("member"), RULE)
    assert denied.value.why == "role"


@pytest.mark.parametrize("is_open", [True, False])
async def test_wrong_credentials_are_refused_at_open_doors_too(is_open: bool):
    with pytest.raises(TokenRefused):
        await CALLERS.identify(CallerCredentials("x.y.z"), is_open=is_open)


async def test_an_open_door_needs_no_credentials():
    anonymous = await CALLERS.identify(CallerCredentials(address="192.0.2.1"), is_open=True)
    assert (anonymous.kind, anonymous.role, anonymous.address) == ("anonymous", Role.NONE, "192.0.2.1")
    with pytest.raises(TokenRefused, match="missing"):
        await CALLERS.identify(CallerCredentials())
