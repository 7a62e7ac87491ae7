"""Changes on the command line are audited under the user of the operating system."""

import getpass
from unittest.mock import patch

from longline.cli.audited_changes import operator_order, run_change
from longline.model.callers.audit import audit_context


def test_the_operator_is_the_user_of_the_system():
    order = operator_order("source.create", "why")
    caller = order.caller
    assert (caller.subject, caller.kind, caller.role) == (getpass.getuser(), "operator", "admin")
    assert (order.door, order.action, order.noun, order.reason) == ("cli", "source.create", "source", "why")


def test_a_user_without_a_name_is_unknown():
    with patch("getpass.getuser", side_effect=KeyError("uid not found")):
        assert operator_order("a.b").caller.subject == "unknown"


def test_a_command_runs_in_its_context():
    async def work() -> str:
        found = audit_context("key")
        assert found
        return found.action

    assert run_change("key.revoke", work()) == "key.revoke"
    assert audit_context("key") is None
