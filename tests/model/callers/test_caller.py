"""Callers, and the access rules that are applied to callers."""

from typing import Any

from longline.model.callers.caller import AccessRule, Caller, NotAllowed
from longline.model.callers.roles import ADMINS, Role, at_least


def caller(role: Role = Role.ADMIN, **more: Any) -> Caller:
    return Caller("7", "ann", role, "user", **more)


def test_a_rule_serves_its_roles():
    rule = AccessRule("books", at_least(Role.MODERATOR))
    served = [role for role in Role if rule.denial(caller(role)) is None]
    assert served == [Role.ADMIN, Role.MODERATOR]


def test_a_key_opens_its_own_door_alone():
    rule = AccessRule("books", ADMINS)
    assert rule.denial(caller(door="books")) is None
    assert rule.denial(caller(door="bots")) == "door"


def test_a_door_without_tenants_serves_no_caller_of_a_tenant():
    assert AccessRule("books", ADMINS).denial(caller(tenant="acme")) == "tenant"
    assert AccessRule("books", ADMINS, has_tenants=True).denial(caller(tenant="acme")) is None


def test_a_refusal_names_the_remedy():
    rule = AccessRule("books", at_least(Role.MODERATOR))
    texts = [str(NotAllowed(why, caller(Role.MEMBER, door="bots"), rule)) for why in ("role", "door", "tenant")]
    assert texts == [
        "the role member may not do this; it takes the role admin or moderator",
        "this API key opens the API bots; ask for a key of the API books",
        "this API has no tenants and serves no caller of a tenant; use credentials without one",
    ]
    assert str(NotAllowed("role", caller(Role.NONE), rule)).startswith("a caller without a role may not")


def test_requests_are_counted_by_subject_or_else_by_address():
    assert caller().limit_key == "user:7"
    assert Caller("", "anonymous", Role.NONE, "anonymous", address="192.0.2.1").limit_key == "anonymous:192.0.2.1"
