"""Changes that an operator makes on the command line; the audit names the user of the operating system."""

import getpass
from collections.abc import Coroutine
from typing import Any, TypeVar

from longline.cli.event_loop import run
from longline.model.callers.audit import AuditContext, audited_as
from longline.model.callers.caller import Caller
from longline.model.callers.roles import Role

T = TypeVar("T")

DOOR = "cli"
"""Name of the command line in the audit."""


def operator_order(action: str, reason: str | None = None) -> AuditContext:
    """Return the audit context of a change that the operator orders."""
    user = _user()
    return AuditContext(Caller(user, user, Role.ADMIN, "operator"), DOOR, action, reason)


def run_change(action: str, work: Coroutine[Any, Any, T], reason: str | None = None) -> T:
    """Run the asynchronous part of a command that changes one thing; `action` is audited."""
    with audited_as(operator_order(action, reason)):
        return run(work)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"  # a container may run under a number without a name
