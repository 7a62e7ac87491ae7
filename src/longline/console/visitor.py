"""The visitor of a page: a caller with a session, and the choices that the browser keeps."""

from longline.console.actions import Toast
from longline.model.callers.caller import Caller
from longline.model.callers.roles import ADMINS, OPERATORS


class Visitor(Caller, frozen=True, kw_only=True):
    """A caller with a session. `csrf` is the token that the forms of the session carry; `theme` may be empty.

    `reason` comes with the form of an action, `toast` tells the outcome of the last one. `alerts` is the number of
    alerts that hold.
    """

    session: str = ""
    csrf: str = ""
    theme: str = ""
    reason: str | None = None
    toast: Toast | None = None
    alerts: int = 0

    @property
    def may_act(self) -> bool:
        """Return whether the visitor may change something."""
        return self.role in OPERATORS

    @property
    def is_admin(self) -> bool:
        """Return whether the visitor administers the platform."""
        return self.role in ADMINS
