"""The engine's time on either engine: read from the database, and kept apart from wall clocks that jump.

Every process computes the same time, from the row `engine_clock` and a reference clock that all of them share. Leases
and pauses never see a step: the offset changes slowly, or at once while no lease is held and no pause lasts.
"""

import logging
import sqlite3
from pathlib import Path
from typing import Any

import msgspec

from longline.drivers.clock import Followed, SystemClock
from longline.drivers.records.named_queries import NamedQuery
from longline.model.duration import DAY_MS, HOUR_MS
from longline.model.engine_clock import MAX_SLEW, Anchor
from longline.ports.clock import Clock

log = logging.getLogger(__name__)

CHECK_INTERVAL_SECONDS = 5.0
"""Seconds between two checks of the clocks."""

STEP_MS = 1000.0
"""Difference between the engine's time and the wall clock from which on the former follows the latter."""

JUMP_MS = 50.0
"""Difference between a server's clock and the engine's time that the error of both does not explain."""

SLEW_AFTER_MS = 4 * CHECK_INTERVAL_SECONDS * 1000
"""Milliseconds before a slew begins: by then every process has read the new anchor."""

DUE_SOON_MS = HOUR_MS
"""Milliseconds within which due work is not put off by a step of the clock."""

_UNDEFINED_TABLE = "42P01"
"""SQLSTATE of a table that does not exist."""

FAR_MS = DAY_MS
"""Longest wait that rules of the engine set, in milliseconds, except for intervals of schedules and feeds."""

PULL_IN = {
    "hosts": "pull_in_hosts",
    "wake times": "pull_in_wake_times",
    "tasks": "pull_in_tasks",
    "queue": "pull_in_queue",
    "offers": "pull_in_offers",
    "standing URLs": "pull_in_standing",
    "schedules": "pull_in_schedules",
    "bot schedules": "pull_in_bot_schedules",
    "feeds": "pull_in_feeds",
    "sitemaps": "pull_in_sitemaps",
    "proxies": "pull_in_probes",
}
"""Statements that move times which a clock far ahead has written, by the subject of the times."""

MAX_SAMPLES = 5
GOOD_SAMPLE_MS = 0.5
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TIME_NAMESPACE = Path("/proc/self/ns/time")


def boot_id() -> str | None:
    """Return the boot id of the machine, or None where the operating system has none.

    A container may have a monotonic clock of its own, so the id includes the name of the time namespace.
    """
    try:
        boot = _BOOT_ID.read_text().strip()
    except OSError:
        return None
    # Kernels before 5.6 have one monotonic clock for all.
    return f"{boot} {_TIME_NAMESPACE.readlink()}" if _TIME_NAMESPACE.is_symlink() else boot


class SqliteTime:
    """The engine's time for one SQLite file: the machine's monotonic clock plus the offset in the file.

    A machine without a boot id has no clock that its processes are known to share, and uses the wall clock. A clock
    that is not a `SystemClock` is left alone.
    """

    def __init__(self, clock: Clock, queries: dict[str, NamedQuery]) -> None:
        self._clock, self._queries = clock, queries
        self._boot = boot_id() if isinstance(clock, SystemClock) else None
        self._checked, self._version = float("-inf"), -1

    def read(self, connection: sqlite3.Connection) -> int:
        """Return the engine's time, by the anchor that the present transaction sees."""
        clock = self._clock
        if self._boot and isinstance(clock, SystemClock):
            row = self._row(connection)
            if row is not None and row["version"] > self._version and row["basis"] == self._boot:
                self._version = row["version"]
                clock.follow(Followed(_anchor(row)))
        return clock.now()

    def check(self, connection: sqlite3.Connection) -> None:
        """Set the anchor after a start of the machine, and change it when the wall clock was set."""
        clock = self._clock
        if not self._boot or not isinstance(clock, SystemClock):
            return
        now = clock.monotonic()
        if now - self._checked < CHECK_INTERVAL_SECONDS or (row := self._row(connection)) is None:
            return
        self._checked = now
        if self._changed(connection, _anchor(row), clock) is not None:
            self._change(connection, clock)

    def _change(self, connection: sqlite3.Connection, clock: SystemClock) -> None:
        """Write the changed anchor; SQLite has one writer at a time, so no lease is given meanwhile."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            before = _anchor(self._row(connection))
            changed = self._changed(connection, before, clock)
            if changed is not None:
                self._one(connection, "set_engine_clock", **msgspec.structs.asdict(changed))
                # New databases and restarted machines are routine.
                level = logging.INFO if changed.basis == before.basis else logging.DEBUG
                log.log(level, "engine time follows the wall clock", extra=msgspec.structs.asdict(changed))
                self._pull_in(connection, before, changed, clock)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _pull_in(self, connection: sqlite3.Connection, before: Anchor, after: Anchor, clock: SystemClock) -> None:
        """Move times that no rule explains, after a step back from a clock that was far ahead."""
        reference = clock.monotonic() * 1000
        now = round(after.engine_ms(reference))
        same = before.basis == after.basis
        was = round(before.engine_ms(reference)) if same else self._one(connection, "latest_time")["latest"] or 0
        if was - now <= FAR_MS or not self._one(connection, "time_leapt", now=now, most=FAR_MS)["leapt"]:
            return
        moved = {}
        for subject, name in PULL_IN.items():
            query, params = self._queries[name], {"now": now, "back": was - now, "most": FAR_MS}
            moved[subject] = connection.execute(query.sql, tuple(params[p] for p in query.params)).rowcount
        log.warning(
            "the clock was far ahead and is right again; due times that it wrote are moved",
            extra={"ahead_ms": was - now, "moved": {subject: count for subject, count in moved.items() if count}},
        )

    def _changed(self, connection: sqlite3.Connection, anchor: Anchor, clock: SystemClock) -> Anchor | None:
        """Return the anchor that leads to the wall clock's time, or None where the present anchor does.

        While a lease is held or a pause lasts, the engine's time neither steps nor goes back.
        """
        reference, boot = clock.monotonic() * 1000, self._boot or ""
        offset = clock.wall() - reference
        if anchor.basis != boot:
            latest = self._one(connection, "latest_time")["latest"] or 0
            busy = self._busy(connection, max(latest, clock.wall()), clock.wall())
            return anchor.stepped(boot, max(offset, latest - reference) if busy else offset)
        if abs(offset - anchor.offset_at(reference)) < STEP_MS:
            return None
        if not self._busy(connection, round(anchor.engine_ms(reference)), clock.wall()):
            return anchor.stepped(boot, offset)
        if abs(offset - anchor.final_offset_ms) < STEP_MS:
            return None
        return anchor.slewed(reference, offset, reference + SLEW_AFTER_MS)

    def _busy(self, connection: sqlite3.Connection, now: int, then: int) -> bool:
        """Return whether a step from `now` to `then` would change a lease, a pause or work that is due soon."""
        soon = now + DUE_SOON_MS if then < now else 0
        return bool(self._one(connection, "engine_busy", now=now, soon=soon)["busy"])

    def _row(self, connection: sqlite3.Connection) -> Any:
        """Return the row of the clock, or None before the tables exist."""
        try:
            return connection.execute(self._queries["engine_clock"].sql).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise

    def _one(self, connection: sqlite3.Connection, name: str, **params: Any) -> Any:
        query = self._queries[name]
        return connection.execute(query.sql, tuple(params[p] for p in query.params)).fetchone()


class PostgresTime:
    """The engine's time for one PostgreSQL server: the server's clock, corrected for jumps that processes detect.

    The server's clock is read every CHECK_INTERVAL_SECONDS and extended by the machine's monotonic clock in between.
    When the two clocks disagree, the server's clock has jumped: the offset in the database cancels the jump.
    """

    def __init__(self, clock: Clock, queries: dict[str, NamedQuery]) -> None:
        self._clock, self._queries = clock, queries
        self._last: Followed | None = None
        self._asked = 0.0
        self._due, self._asking = True, False

    def now(self) -> int:
        """Return the engine's time."""
        return self._clock.now()

    def invalidate(self) -> None:
        """Read the server's clock again before the next use: the server may be another one."""
        self._due = True

    async def check(self, connection: Any) -> None:
        """Measure the server's clock, if a measurement is due and none is under way."""
        clock = self._clock
        if not isinstance(clock, SystemClock) or self._asking:
            return
        if not self._due and clock.monotonic() - self._asked < CHECK_INTERVAL_SECONDS:
            return
        self._asking = True
        try:
            await self._measure(connection, clock)
        finally:
            self._asking = False

    async def _measure(self, connection: Any, clock: SystemClock) -> None:
        ahead, error = await self._sample(connection, clock)
        followed = Followed(await self._anchor(connection), ahead, error)
        if self._last is not None and self._jumped(self._last, followed, clock):
            followed = await self._corrected(connection, self._last, followed, clock)
        clock.follow(followed)
        self._last, self._asked, self._due = followed, clock.monotonic(), False

    async def _sample(self, connection: Any, clock: SystemClock) -> tuple[float, float]:
        """Return how far the server's clock is ahead of the monotonic clock, by the quickest answer, and the error."""
        ahead, error = 0.0, float("inf")
        for _ in range(MAX_SAMPLES):
            before = clock.monotonic() * 1000
            server_ms = await connection.fetchval(self._queries["server_time"].sql)
            after = clock.monotonic() * 1000
            if (after - before) / 2 < error:
                ahead, error = server_ms - (before + after) / 2, (after - before) / 2
            if error < GOOD_SAMPLE_MS:
                break
        return ahead, error

    def _jumped(self, last: Followed, followed: Followed, clock: SystemClock) -> bool:
        """Return whether the engine's time would jump and no other process has corrected the jump."""
        now = clock.monotonic()
        drift_ms = (now - self._asked) * 1000 * MAX_SLEW
        allowed = JUMP_MS + last.error_ms + followed.error_ms + drift_ms
        jump = engine_ms(followed, now) - engine_ms(last, now)
        return abs(jump) > allowed and followed.anchor.version <= last.anchor.version

    async def _corrected(self, connection: Any, last: Followed, followed: Followed, clock: SystemClock) -> Followed:
        now = clock.monotonic()
        reference = now * 1000 + followed.ahead_ms
        offset = round(engine_ms(last, now) - reference)
        changed = Anchor(followed.anchor.version + 1, "", offset, round(reference + SLEW_AFTER_MS), -offset)
        query, values = self._queries["set_engine_clock"], msgspec.structs.asdict(changed)
        written = await connection.fetch(query.sql, *(values[name] for name in query.params))
        log.warning(
            "the clock of the database server jumped; leases and pauses stay as they were", extra={"by_ms": -offset}
        )
        return followed._replace(anchor=changed if written else await self._anchor(connection))

    async def _anchor(self, connection: Any) -> Anchor:
        try:
            return _anchor(await connection.fetchrow(self._queries["engine_clock"].sql))
        except Exception as error:
            if getattr(error, "sqlstate", "") != _UNDEFINED_TABLE:
                raise
            return Anchor()


def engine_ms(followed: Followed, moment: float) -> float:
    """Return the engine's time at a moment of the monotonic clock."""
    return followed.anchor.engine_ms(moment * 1000 + followed.ahead_ms)


def _anchor(row: Any) -> Anchor:
    return Anchor(row["version"], row["basis"], row["offset_ms"], row["slew_from_ms"], row["slew_ms"])
