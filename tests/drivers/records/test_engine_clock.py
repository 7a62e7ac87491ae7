"""The engine's time, with wall clocks and servers' clocks that jump."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from longline.drivers.clock import SystemClock
from longline.drivers.records import engine_clock, open_records
from longline.drivers.records.engine_clock import CHECK_INTERVAL_SECONDS, SLEW_AFTER_MS
from longline.model.engine_clock import MAX_SLEW
from longline.model.runs.run import NewRun, RunKind
from longline.model.schedules.schedule import NewSchedule, ScheduleFilter
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest
from tests.drivers.records.world import admit, ended, host_report, report, running_run, url

HOUR_MS = 3_600_000
ME, TTL_MS = 1, 30_000


class Machine:
    """A machine with an adjustable wall clock and a monotonic clock."""

    def __init__(self, wall_ms: int = 1_800_000_000_000) -> None:
        self.wall_ms, self.passed = wall_ms, 1000.0

    def wait(self, seconds: float) -> None:
        """Advance both clocks."""
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
        await self.records.counters.put("looked", 1)
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
    # The correction is absorbed slowly: until it is complete, the engine's time runs a little faster or slower.
    machine.wait(SLEW_AFTER_MS / 1000 + 1000)
    gained = await other.now() - before - 6000 - SLEW_AFTER_MS - 1_000_000
    assert gained == pytest.approx(1_000_000 * MAX_SLEW * (by / HOUR_MS), abs=2)
    assert await one.now() == await other.now()


@pytest.mark.parametrize("by", [-HOUR_MS, HOUR_MS])
async def test_a_wall_clock_that_is_set_without_leases_is_followed(processes: list[Process], machine: Machine, by: int):
    one, other = processes
    await one.now()
    machine.wall_ms += by
    machine.wait(CHECK_INTERVAL_SECONDS + 1)
    assert await other.now() == await one.now() == machine.wall_ms


@pytest.mark.parametrize(("by", "followed"), [(-HOUR_MS, False), (HOUR_MS, True)])
async def test_waiting_work_is_not_delayed(processes: list[Process], machine: Machine, by: int, followed: bool):
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
async def test_after_a_reboot_time_does_not_go_back_before_the_leases(
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


DAY_MS = 24 * HOUR_MS
MINUTE_MS = 60_000


class Starts:
    """Starts of one machine, each with its own wall clock, on one SQLite file."""

    def __init__(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._url, self._monkeypatch, self._count = url, monkeypatch, 0

    @asynccontextmanager
    async def at(self, wall_ms: int) -> AsyncIterator[Records]:
        """Provide the records of a process after a start of the machine at this time."""
        self._count += 1
        self._monkeypatch.setattr(engine_clock, "boot_id", lambda: f"start {self._count}")
        records = await open_records(self._url, MachineClock(Machine(wall_ms)))
        await records.schema.migrate()
        await records.counters.put("looked", 1)
        yield records
        await records.schema.close()


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Starts:
    return Starts(f"sqlite:///{tmp_path}/longline.db", monkeypatch)


async def leave_times(records: Records) -> None:
    """Store a schedule of each kind, and a host with a pause, all by the present clock."""
    now = await records.schema.now()
    for name, interval, due in (("minutely", MINUTE_MS, 20_000), ("weekly", 7 * DAY_MS, 3 * DAY_MS), ("once", None, 0)):
        due = now + due
        await records.schedules.add(NewSchedule(name, f"https://{name}.example/", interval_ms=interval, next_due=due))
    run = await running_run(records)
    await admit(records, url(run))
    (lease,) = await records.frontier.claim(ClaimRequest(ME, 1, 10, TTL_MS))
    later = [ended(task, TaskState.PENDING, "http_5xx", due=now + 2 * HOUR_MS) for task in lease.tasks]
    await report(records, host_report(lease, later, not_before=now))


async def due_times(records: Records) -> dict[str, int | None]:
    return {row.uid: row.next_due for row in await records.schedules.find(ScheduleFilter(), limit=10)}


async def test_times_of_a_clock_far_ahead_are_moved_when_the_clock_is_right(
    starts: Starts, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    right = 1_800_000_000_000
    async with starts.at(right) as records:
        await running_run(records)
    async with starts.at(right + 400 * DAY_MS) as records:
        await leave_times(records)
    with caplog.at_level("WARNING"):
        async with starts.at(right + HOUR_MS) as records:
            now = await records.schema.now()
            dues = await due_times(records)
            assert await records.schema.distant_times() == {}
            [again] = [record for record in caplog.records if "far ahead" in record.message]
            assert vars(again)["moved"]["schedules"] == 3
    assert now == right + HOUR_MS
    assert now <= (dues["minutely"] or 0) <= now + MINUTE_MS
    assert (dues["minutely"] or 0) % MINUTE_MS == (right + 20_000) % MINUTE_MS, "on its phase"
    assert now < (dues["weekly"] or 0) <= now + 7 * DAY_MS
    assert dues["once"] == now
    async with starts.at(right + 4 * HOUR_MS) as records:
        assert await records.frontier.claim(ClaimRequest(ME, 1, 10, TTL_MS)), "the host and its task are due"


@pytest.mark.parametrize("behind", [10 * 365 * DAY_MS, 2 * DAY_MS], ids=["before-the-database", "a-little"])
async def test_times_are_kept_if_the_present_clock_is_behind(starts: Starts, behind: int):
    right = 1_800_000_000_000
    async with starts.at(right - 3 * DAY_MS) as records:
        await running_run(records)
    async with starts.at(right - DAY_MS) as records:
        await running_run(records)
    async with starts.at(right) as records:
        now = await records.schema.now()
        await records.schedules.add(NewSchedule("u", "https://u.example/", next_due=now + DAY_MS))
        before = await due_times(records)
    async with starts.at(right - behind) as records:
        assert await due_times(records) == before


@pytest.mark.parametrize("records_url", ["sqlite", "postgres"], indirect=True)
async def test_distant_times_are_counted(records: Records):
    now = await records.schema.now()
    for name, due in (("near", 7 * DAY_MS), ("far", 8 * DAY_MS)):
        made = NewSchedule(name, f"https://{name}.example/", interval_ms=7 * DAY_MS, next_due=now + due)
        await records.schedules.add(made)
    assert await records.schema.distant_times() == {"schedules": 1}
    await admit(records, url(await running_run(records), due=now + 2 * DAY_MS))
    assert await records.schema.distant_times() == {"schedules": 1, "tasks": 1}


async def test_a_machine_without_a_boot_id_uses_the_wall_clock(
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
    """A server with an adjustable clock: the row of `shift` sets it."""
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
    assert abs(await later.now() - before - by) < 60_000, "a process without earlier times cannot correct the jump"
    for process in (one, other, later, await opened(postgres_url)):
        assert abs(await process.now() - before - 1000 * (process.clock.monotonic() - begun)) < 1000
        assert await process.records.frontier.reap(10) == []
        if process not in (one, other, later):
            await process.records.schema.close()
    assert await server.fetchval("SELECT version FROM engine_clock") == 1, "one jump is corrected once"
    for process in (one, other, later):
        await process.records.schema.close()


async def test_a_wall_clock_that_is_set_does_not_affect_a_server(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    one = await opened(postgres_url)
    before = await one.records.schema.now()
    monkeypatch.setattr(SystemClock, "wall", lambda _: 0)
    assert 0 <= await one.records.schema.now() - before < 60_000
    assert 0 <= one.clock.now() - before < 60_000
    await one.records.schema.close()
