"""The audit trail, for reading and for changes of many things."""

import pytest

from longline.model.callers.audit import AuditContext, AuditFilter, audited_as
from longline.model.callers.caller import Caller, Role
from longline.model.errors import NotFound
from longline.ports.records import Records
from longline.services.callers.audit_trail import AuditTrail


async def test_an_operation_over_many_things_is_noted_once(records: Records):
    trail = AuditTrail(records.audit)
    await trail.note("source", {"sources": ["a"]})
    context = AuditContext(Caller("7", "ann", Role.ADMIN, "user"), "intervals", "source.sync")
    with audited_as(context):
        await trail.note("schedule", {})
        await trail.note("source", {"sources": ["a", "b"]})
        await trail.note("source", {"sources": ["c"]})
    [row] = await trail.find(AuditFilter(), 10)
    assert (row.action, row.thing, row.before, row.after) == ("source.sync", "", None, '{"sources":["a","b"]}')
    assert await trail.get(row.uid) == row
    assert await trail.find(AuditFilter(), 10, row.id) == []
    with pytest.raises(NotFound):
        await trail.get("none")
