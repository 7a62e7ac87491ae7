"""The audit on both engines: rows with their changes, read by filters, never changed or deleted."""

import sqlite3

import asyncpg
import pytest

from longline.model.bots.bot import NewBot
from longline.model.callers.audit import AuditContext, AuditFilter, audited_as
from longline.model.callers.caller import Caller
from longline.model.callers.roles import Role
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek


def order(action: str, subject: str = "ann") -> AuditContext:
    return AuditContext(Caller(subject, subject, Role.ADMIN, "user", "", "192.0.2.1"), "intervals", action, "why")


async def test_a_change_and_its_audit_row_are_written_together(records: Records, clock: FakeClock):
    with audited_as(order("source.create")):
        made = await records.sources.make(NewSource("news", "https://news.example/"))
    clock.advance(1)
    with audited_as(order("source.limit")) as _:
        await records.sources.limit(made.id, 5)
        await records.sources.limit(made.id, 6)
    last, first = await records.audit.find(AuditFilter())
    assert (first.action, first.noun, first.thing, first.before) == ("source.create", "source", made.public_id, None)
    assert (first.subject, first.role, first.address, first.reason) == ("ann", "admin", "192.0.2.1", "why")
    assert (last.action, last.at - first.at) == ("source.limit", 1000)
    assert '"budget":null' in (last.before or "")
    assert '"budget":5' in (last.after or ""), "the first change of an operation is the audited one"
    assert await records.audit.get(first.uid) == first
    assert await records.audit.get("none") is None


async def test_without_an_order_or_with_one_about_another_noun_no_row_is_written(records: Records):
    made = await records.sources.make(NewSource("news", "https://news.example/"))
    with audited_as(order("bot.change")):
        await records.sources.limit(made.id, 5)
    assert await records.audit.find(AuditFilter()) == []


async def test_a_refused_change_leaves_no_row(records: Records):
    await records.bots.register(NewBot(name="b"))
    with audited_as(order("bot.register")) as _:
        assert await records.bots.register(NewBot(name="b")) is None
    with audited_as(order("source.limit")):
        assert await records.sources.limit(7, 5) is None
    assert await records.audit.find(AuditFilter()) == []


async def test_rows_are_chosen_by_every_filter_and_paged(records: Records, clock: FakeClock):
    orders = (("bot.register", "ann"), ("bot.reset", "bob"), ("bot.register", "bob"))
    for number, (action, subject) in enumerate(orders):
        with audited_as(order(action, subject)):
            if action == "bot.reset":
                await records.bots.reset("b0")
            else:
                await records.bots.register(NewBot(name=f"b{number}"))
        clock.advance(10)
    rows = await records.audit.find(AuditFilter())
    assert [row.thing for row in rows] == ["b2", "b0", "b0"]
    third, second, first = rows
    for wanted, found in (
        (AuditFilter(subject="bob"), [third, second]),
        (AuditFilter(action="bot.register"), [third, first]),
        (AuditFilter(action="bot."), rows),
        (AuditFilter(action="bot"), []),
        (AuditFilter(noun="bot", thing="b0"), [second, first]),
        (AuditFilter(tenant="acme"), []),
        (AuditFilter(since=second.at), [third, second]),
        (AuditFilter(until=second.at), [first]),
    ):
        assert await records.audit.find(wanted) == found, wanted
    assert await records.audit.find(AuditFilter(), limit=1, before_id=third.id) == [second]


@pytest.mark.parametrize("statement", ["UPDATE audit SET subject = 'eve'", "DELETE FROM audit", "TRUNCATE audit"])
async def test_rows_are_neither_changed_nor_deleted(records: Records, peek: Peek, statement: str):
    if statement.startswith("TRUNCATE") and peek.engine == "lite":
        pytest.skip("SQLite has no such statement")
    with audited_as(order("bot.register")):
        await records.bots.register(NewBot(name="b"))
    before = await records.audit.find(AuditFilter())
    with pytest.raises((sqlite3.IntegrityError, asyncpg.RaiseError), match="audit rows are never"):
        await peek.rows(statement)
    assert await records.audit.find(AuditFilter()) == before != []
