"""Logs of runs: looked up, fetched from the archive, and followed while they are written.

A follower reads at its own pace, from its own mark: after a disconnect no entry is lost, and a slow follower does not
delay the others. Signals only trigger reads.
"""

import asyncio
import gzip
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import suppress

import msgspec

from longline.engine.logs.run_log_keeper import read_lines
from longline.engine.loop_supervisor import run_until
from longline.model.errors import LonglineError, NotFound, Unavailable
from longline.model.logs.run_log import START, LogEntry, LoggedRun, LogMark, LogPart, mark_after_run
from longline.model.signal_topics import LOGS_TOPIC
from longline.model.states import RUN_ENDED
from longline.ports.blobs import Blobs
from longline.ports.records.logs import LogStore
from longline.ports.records.schedules import ScheduleStore
from longline.ports.signals import Signals

log = logging.getLogger(__name__)

REPLAYED_ENTRIES = 200
"""Largest number of entries that a new follower gets first."""

BATCH_SIZE = 100
POLL_INTERVAL_SECONDS = 1.0
RETRY_INTERVAL_SECONDS = 0.1
ARCHIVE_TIMEOUT_SECONDS = 30.0
"""Seconds to wait for a complete log to be archived."""


class NoRuns(NotFound):
    """The schedule never ran."""


class NoArchive(NotFound):
    """The log of the run is not in the archive."""


class KeptElsewhere(LonglineError):
    """The log is archived, but not in the store of this instance, which is not shared."""

    def __init__(self, number: int) -> None:
        super().__init__(f"the log of run {number} is not in the store of this instance")
        self.number = number


class LogLines(msgspec.Struct, frozen=True):
    """Entries, each with the id of its run; `replayed` entries are older than the subscription."""

    entries: list[tuple[LogEntry, str]]
    replayed: bool = False


class Ended(msgspec.Struct, frozen=True):
    """The log of a run is complete, and archived if logs are archived at all."""

    run: LoggedRun


Step = LogLines | Ended


class RunLogs:
    """The logs of runs. `on` is False when no logs are written, `archive` when none are archived.

    A store that is `common` to all instances has every archived log; any other has the logs of its own instance only.
    """

    def __init__(
        self,
        logs: LogStore,
        schedules: ScheduleStore,
        blobs: Blobs,
        *,
        on: bool = True,
        archive: bool = True,
        common: bool = True,
    ) -> None:
        self._logs, self._schedules, self._blobs, self.on = logs, schedules, blobs, on
        self._archive, self._common = archive, common

    async def runs(self, name: str, limit: int, offset: int) -> list[LoggedRun]:
        """Return the runs of a schedule, newest first."""
        return await self._logs.find(name, limit=limit, offset=offset)

    async def check(self, name: str, uid: str | None) -> LoggedRun | None:
        """Return the run `uid`, or the newest run if any; raise `NotFound` for an unknown schedule or run."""
        found = await self._logs.find(name, uid=uid, limit=1)
        if not found and (uid is not None or await self._schedules.get_by_uid(name) is None):
            raise NotFound("run", uid) if uid else NotFound("schedule", name)
        return found[0] if found else None

    async def archive(self, name: str, number: int | None) -> tuple[LoggedRun, bytes]:
        """Return a run and its archived log, compressed; without `number`, of the newest run.

        The log of a run that has just ended is read from the database until it is archived.
        """
        found = await self._logs.find(name, number=number, limit=1)
        if not found and number is None:
            raise NoRuns("run", name, f"{name} has no runs")
        if found and found[0].key is None and found[0].sealed is not None and self._archive and found[0].ended:
            lines, _ = await read_lines(self._logs, found[0])
            return found[0], await asyncio.to_thread(gzip.compress, lines)
        if not found or found[0].key is None:
            raise NoArchive("log", name, f"no log of run {number or 'latest'} of {name} is kept")
        try:
            return found[0], await self._blobs.get(found[0].key)
        except NotFound:
            if self._common:
                raise NoArchive("log", name, f"the log of run {found[0].number} of {name} is gone") from None
            raise KeptElsewhere(found[0].number) from None

    async def lines(self, name: str, number: int | None) -> tuple[LoggedRun, list[bytes]]:
        """Return a run and the lines of its archived log."""
        run, data = await self.archive(name, number)
        return run, (await asyncio.to_thread(gzip.decompress, data)).splitlines()


class Followers:
    """All followers of logs in this process."""

    def __init__(
        self, logs: LogStore, signals: Signals, *, archive: bool = True, replayed: int = REPLAYED_ENTRIES
    ) -> None:
        self._logs, self._signals, self._archive, self._replayed = logs, signals, archive, replayed
        self._waiting: defaultdict[int, set[asyncio.Event]] = defaultdict(set)
        self._closed = False

    async def run(self, stop: asyncio.Event) -> None:
        """Wake followers on new entries of their runs, until `stop` is set."""
        await run_until(stop, self._hear())

    async def _hear(self) -> None:
        async with self._signals.listen(LOGS_TOPIC) as signals:
            async for signal in signals:
                for run_id in signal.text.split(","):
                    self._wake(int(run_id))

    def _wake(self, run_id: int) -> None:
        for waiting in self._waiting.get(run_id, ()):
            waiting.set()

    def close(self) -> None:
        """End all followers, after the entries that they are reading now."""
        self._closed = True
        for run_id in list(self._waiting):
            self._wake(run_id)

    async def follow(
        self, name: str, uid: str | None, mark: LogMark | None, *, endless: bool = False
    ) -> AsyncGenerator[Step]:
        """Yield the entries of a schedule's runs, or of run `uid`: after the mark, or a replay first; then new ones.

        The stream ends with the run under way or, when there is none, with the next run. A run that is already read to
        its end does not count: a follower that returns there waits. An `endless` stream goes on from run to run.
        """
        tail = _Tail(self._logs, name, uid, archive=self._archive)
        if not await tail.begin(mark):
            yield await tail.replay(self._replayed)
        while not self._closed:
            try:
                async for step in tail.steps():
                    yield step
                    if isinstance(step, Ended) and not (endless and uid is None):
                        return
            except Unavailable as error:
                log.warning("run log not readable, will retry", extra={"error": str(error)})
                await asyncio.sleep(RETRY_INTERVAL_SECONDS)
                continue
            await self.wait(tail.mark.run_id)

    @property
    def is_closed(self) -> bool:
        """Return whether all followers have to end."""
        return self._closed

    async def wait(self, run_id: int) -> None:
        """Wait for new entries of a run, at most for a second."""
        awake = asyncio.Event()
        self._waiting[run_id].add(awake)
        try:
            if not self._closed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(awake.wait(), POLL_INTERVAL_SECONDS)
        finally:
            self._waiting[run_id].discard(awake)
            if not self._waiting[run_id]:
                del self._waiting[run_id]


class _Tail:
    """The position of one follower. A sealed log gets no more entries, so going on to the next run misses none."""

    def __init__(self, logs: LogStore, name: str, uid: str | None, *, archive: bool) -> None:
        self._logs, self._name, self._uid, self._archive = logs, name, uid, archive
        self._run: LoggedRun | None = None
        self._has_news = uid is not None
        self._whole_since: float | None = None
        self.mark = START

    async def begin(self, mark: LogMark | None) -> bool:
        """Go to a mark; return False without a mark, or when it fits no run."""
        if self._uid is not None:
            [self._run] = await self._logs.find(self._name, uid=self._uid, limit=1)
        if mark is None or (self._run and self._run.run_id != mark.run_id):
            return False
        run = self._run or await self._logs.following(self._name, mark.run_id - 1)
        if run is None:
            return await self._begin_behind(mark)
        self._run, self.mark = run, mark if run.run_id == mark.run_id else LogMark(run.run_id, 0)
        return True

    async def _begin_behind(self, mark: LogMark) -> bool:
        """Go to the end of the run before the mark, when no later run has begun; return False otherwise."""
        run = await self._logs.following(self._name, mark.run_id - 2)
        if run is None or mark != mark_after_run(run.run_id):
            return False
        self._run, self.mark = run, LogMark(run.run_id, run.last or 0)
        return True

    async def replay(self, most: int) -> LogLines:
        """Return the newest entries; following continues after them."""
        entries = await self._logs.tail(self._name, self._uid, most)
        uids = {run.run_id: run.uid for run in await self._logs.find(self._name, uid=self._uid, limit=100)}
        if entries:
            last = entries[-1]
            self.mark = LogMark(last.run_id, last.number)
            [self._run] = await self._logs.find(self._name, uid=uids[last.run_id])
        elif self._run:
            self.mark = LogMark(self._run.run_id, 0)
        return LogLines([(entry, uids[entry.run_id]) for entry in entries], replayed=True)

    async def steps(self) -> AsyncGenerator[Step]:
        """Yield all entries that exist by now, and the ends of runs."""
        while self._run or await self._next_run():
            part = await self._logs.read(self.mark.run_id, self.mark.number, BATCH_SIZE)
            if part.entries and self._run:
                self._has_news, self._whole_since = True, None
                yield LogLines([(entry, self._run.uid) for entry in part.entries])
                self.mark = LogMark(self.mark.run_id, part.entries[-1].number)
                continue
            if self._run and not self._is_over(part, self._run):
                self._has_news = True
                return
            if self._run and self._has_news:
                self._has_news = False
                yield Ended(next(iter(await self._logs.find(self._name, uid=self._run.uid)), self._run))
            if not await self._next_run():
                return

    def _is_over(self, part: LogPart, run: LoggedRun) -> bool:
        """Return whether a log is complete and archived, or its archiving is no longer waited for."""
        if part.sealed is None and self.mark.number:
            return True  # the log was deleted
        if part.sealed and (part.key is not None or not self._archive):
            return True
        if not part.sealed and (part.sealed is not None or run.state not in RUN_ENDED):
            return False
        now = asyncio.get_running_loop().time()
        self._whole_since = self._whole_since or now
        return now - self._whole_since > ARCHIVE_TIMEOUT_SECONDS

    async def _next_run(self) -> bool:
        """Go to the next run that has a log; return False when there is none."""
        run = await self._logs.following(self._name, self.mark.run_id)
        if run is None:
            return False
        self._run, self.mark, self._whole_since = run, LogMark(run.run_id, 0), None
        return True
