"""Roles of callers."""

import pytest

from longline.model.callers.roles import ADMINS, NOT_BANNED, OPERATORS, Role, at_least, role_named


def test_roles_of_people_have_an_order():
    names = [[role.value for role in Role if role in at_least(rank)] for rank in at_least(Role.BANNED)]
    assert sorted(names, key=len) == [
        ["admin"],
        ["admin", "moderator"],
        ["admin", "moderator", "member"],
        ["admin", "moderator", "member", "banned"],
    ]


def test_the_platform_is_run_by_moderators_admins_services_and_tokens_without_a_role():
    assert {Role.ADMIN, Role.MODERATOR, Role.SERVICE, Role.NONE} == OPERATORS
    assert {Role.ADMIN} == ADMINS
    assert set(Role) - NOT_BANNED == {Role.BANNED}


@pytest.mark.parametrize(("text", "role"), [("admin", "admin"), ("", ""), ("Admin", "member"), ("editor", "member")])
def test_an_unknown_role_is_a_member(text: str, role: str):
    assert role_named(text) == role
