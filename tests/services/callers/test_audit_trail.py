"""The audit trail, for reading."""

import pytest

from longline.model.bots.bot import NewBot
from longline.model.callers.audit import AuditContext, AuditFilter, audited_as
from longline.model.callers.caller import Caller
from longline.model.callers.roles import Role
from longline.model.errors import NotFound
from longline.ports.records import Records
from longline.services.callers.audit_trail import AuditTrail


async def test_rows_are_found_and_read_one_by_one(records: Records):
    trail = AuditTrail(records.audit)
    with audited_as(AuditContext(Caller("7", "ann", Role.ADMIN, "user"), "bots", "bot.register")):
        await records.bots.register(NewBot(name="b"))
    [row] = await trail.find(AuditFilter(), 10)
    assert (row.action, row.thing, row.before) == ("bot.register", "b", None)
    assert await trail.get(row.uid) == row
    assert await trail.find(AuditFilter(), 10, row.id) == []
    assert await trail.page(AuditFilter(), 10, 1) == []
    assert await trail.count(AuditFilter()) == 1
    with pytest.raises(NotFound):
        await trail.get("none")
