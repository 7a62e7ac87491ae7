"""The engine's time, with wall clocks and servers' clocks that jump."""

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from longline.drivers.clock import SystemClock
from longline.drivers.records import engine_clock, open_records
from longline.drivers.records.engine_clock import CHECK_INTERVAL_SECONDS, SLEW_AFTER_MS
from longline.model.engine_clock import MAX_SLEW
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from longline.ports.records.frontier import ClaimRequest
from tests.drivers.records.world import admit, running_run, url

HOUR_MS = 3_600_000
ME, TTL_MS = 1, 30_000


class Machine:
    """A machine with a wall clock that can be set and a monotonic clock that can be waited for."""

    def __init__(self, wall_ms: int = 1_800_000_000_000) -> None:
        self.wall_ms, self.passed = wall_ms, 1000.0

    def wait(self, seconds: float) -> None:
        """Let time pass, by both clocks."""
        self.passed += seconds
        self.wall_ms += round(seconds * 1000)


class MachineClock(SystemClock):
    """The clock of one process on a machine."""

    def __init__(self, machine: Machine, wrong_ms: int = 0) -> None:
        super().__init__()
        self._machine, self.wrong_ms = machine, wrong_ms

    def wall(self) -> int:
        return self._machine.wall_ms + self.wrong_ms

    def monotonic(self) -> float:
        return self._machine.passed


class Process:
    """One process that uses a database."""

    def __init__(self, clock: SystemClock, records: Records) -> None:
        self.clock, self.records = clock, records

    async def now(self) -> int:
        """Return the engine's time, after a write."""
        await self.records.tallies.put("looked", 1)
        return await self.records.schema.now()


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
async def processes(tmp_path: Path, machine: Machine) -> AsyncIterator[list[Process]]:
    """Two processes on one SQLite file."""
    clocks = [MachineClock(machine), MachineClock(machine)]
    made = [Process(clock, await open_records(f"sqlite:///{tmp_path}/longline.db", clock)) for clock in clocks]
    await made[0].records.schema.migrate()
    yield made
    for process in made:
        await process.records.schema.close()


async def hold_a_host(records: Records) -> None:
    await admit(records, url(await running_run(records)))
    assert await records.frontier.claim(ClaimRequest(ME, 1, 10, TTL_MS))


@pytest.mark.parametrize("by", [-HOUR_MS, HOUR_MS])
async def test_a_wall_clock_that_is_set_changes_no_lease(processes: list[Process], machine: Machine, by: int):
    one, other = processes
    before = await one.now()
    assert before == machine.wall_ms
    await hold_a_host(one.records)
    machine.wall_ms += by
    machine.wait(6)
    assert await other.now() == await one.now() == before + 6000
    assert await other.records.frontier.reap(10) == []
    assert one.clock.now() == other.clock.now() == before + 6000
    # The correction is absorbed, slowly: while it lasts, the engine's time runs a little faster or slower.
    machine.wait(SLEW_AFTER_MS / 1000 + 1000)
    gained = await other.now() - before - 6000 - SLEW_AFTER_MS - 1_000_000
    assert gained == pytest.approx(1_000_000 * MAX_SLEW * (by / HOUR_MS), abs=2)
    assert await one.now() == await other.now()


@pytest.mark.parametrize("by", [-HOUR_MS, HOUR_MS])
async def test_a_wall_clock_that_is_set_while_nothing_is_held_is_followed(
    processes: list[Process], machine: Machine, by: int
):
    one, other = processes
    await one.now()
    machine.wall_ms += by
    machine.wait(CHECK_INTERVAL_SECONDS + 1)
    assert await other.now() == await one.now() == machine.wall_ms


@pytest.mark.parametrize(("by", "followed"), [(-HOUR_MS, False), (HOUR_MS, True)])
async def test_work_that_waits_is_not_put_off(processes: list[Process], machine: Machine, by: int, followed: bool):
    one = processes[0]
    before = await one.now()
    run = await one.records.runs.add(NewRun("u", RunKind.CRAWL, "{}"))
    await admit(one.records, url(run))
    machine.wall_ms += by
    machine.wait(CHECK_INTERVAL_SECONDS + 1)
    assert await one.now() == (machine.wall_ms if followed else before + 1000 * (CHECK_INTERVAL_SECONDS + 1))
    assert await one.records.frontier.claim(ClaimRequest(ME, 1, 10, TTL_MS))


async def test_processes_with_different_wall_clocks_have_one_time(processes: list[Process], machine: Machine):
    one, other = processes
    before = await one.now()
    await hold_a_host(one.records)
    other.clock.wrong_ms = HOUR_MS  # type: ignore[attr-defined]  # a clock of this test
    for _ in range(20):
        machine.wait(CHECK_INTERVAL_SECONDS + 1)
        assert await one.now() == await other.now()
    assert abs(await one.now() - before - 20_000 * (CHECK_INTERVAL_SECONDS + 1)) < 1000


@pytest.mark.parametrize(("by", "kept"), [(-HOUR_MS, True), (HOUR_MS, False)])
async def test_after_a_start_of_the_machine_time_does_not_go_back_behind_what_is_held(
    tmp_path: Path, processes: list[Process], machine: Machine, monkeypatch: pytest.MonkeyPatch, by: int, kept: bool
):
    one = processes[0]
    await one.now()
    await hold_a_host(one.records)
    before = await one.now()
    monkeypatch.setattr(engine_clock, "boot_id", lambda: "another start")
    restarted = Machine(machine.wall_ms + by)
    clock = MachineClock(restarted)
    again = Process(clock, await open_records(f"sqlite:///{tmp_path}/longline.db", clock))
    assert await again.now() == (before if kept else before + by)
    await again.records.schema.close()


async def test_where_a_machine_has_no_boot_id_the_wall_clock_is_used(
    tmp_path: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engine_clock, "_BOOT_ID", tmp_path / "none")
    clock = MachineClock(machine)
    one = Process(clock, await open_records(f"sqlite:///{tmp_path}/longline.db", clock))
    await one.records.schema.migrate()
    machine.wall_ms += HOUR_MS
    assert await one.now() == machine.wall_ms
    await one.records.schema.close()


SHIFTED = """
CREATE TABLE shift (by_ms BIGINT NOT NULL);
INSERT INTO shift VALUES (0);
CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    $$ SELECT pg_catalog.clock_timestamp() + (SELECT by_ms FROM public.shift) * INTERVAL '1 millisecond' $$;
"""


@pytest.fixture
async def server(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A server whose clock can be set: by the row of `shift`."""
    connection = await asyncpg.connect(postgres_url)
    await connection.execute(SHIFTED)
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f'ALTER DATABASE "{name}" SET search_path = public, pg_catalog')
    yield connection
    await connection.close()


async def opened(url: str) -> Process:
    clock = SystemClock()
    return Process(clock, await open_records(url, clock))


@pytest.mark.parametrize("by", [-HOUR_MS, HOUR_MS])
async def test_a_servers_clock_that_jumps_changes_no_lease(
    postgres_url: str, server: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch, by: int
):
    monkeypatch.setattr(engine_clock, "CHECK_INTERVAL_SECONDS", 0.0)
    one, other = await opened(postgres_url), await opened(postgres_url)
    await one.records.schema.migrate()
    await hold_a_host(one.records)
    before, begun = await one.now(), one.clock.monotonic()
    await server.execute("UPDATE shift SET by_ms = $1", by)
    later = await opened(postgres_url)
    assert abs(await later.now() - before - by) < 60_000, "a process that knows no earlier time can know no better"
    for process in (one, other, later, await opened(postgres_url)):
        assert abs(await process.now() - before - 1000 * (process.clock.monotonic() - begun)) < 1000
        assert await process.records.frontier.reap(10) == []
        if process not in (one, other, later):
            await process.records.schema.close()
    assert await server.fetchval("SELECT version FROM engine_clock") == 1, "one jump is corrected once"
    for process in (one, other, later):
        await process.records.schema.close()


async def test_a_wall_clock_that_is_set_is_nothing_to_a_server(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    one = await opened(postgres_url)
    before = await one.records.schema.now()
    monkeypatch.setattr(SystemClock, "wall", lambda _: 0)
    assert 0 <= await one.records.schema.now() - before < 60_000
    assert 0 <= one.clock.now() - before < 60_000
    await one.records.schema.close()
