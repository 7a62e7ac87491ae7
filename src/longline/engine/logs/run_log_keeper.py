"""Upkeep of run logs: entries about progress, closing of the logs of ended runs, and archiving as objects.

Each entry is written once, whichever process writes it. An archive grows by whole gzip members: a log that opened again
is continued behind the archived part, and a crash in between repeats the same bytes.
"""

import gzip
import logging
from typing import Any

import msgspec

from longline.engine.logs.redis_copy import RedisLogCopy
from longline.engine.logs.run_log_writer import LogSignals
from longline.model.duration import DAY_MS
from longline.model.errors import NotFound
from longline.model.logs.run_log import DueLog, LogFilter, LoggedRun, NewLogEntry, log_line
from longline.model.object_keys import run_log_key
from longline.model.runs.run import RunKind
from longline.model.states import RUN_ENDED, RunState
from longline.model.timestamps import written
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records.logs import LogStore
from longline.ports.signals import Signals

log = logging.getLogger(__name__)

PRUNE_INTERVAL_SECONDS = 60.0
BATCH_SIZE = 2000

HEARTBEAT_INTERVAL_MS = 15_000
"""Milliseconds without an entry after which the log of an open run gets one about its progress."""

GRACE_MS = 1000
"""Milliseconds after the end of a run for which its log stays open."""


class RunLogKeeperSettings(msgspec.Struct, frozen=True):
    """Settings of progress entries and retention. Times are milliseconds."""

    archive: bool = True
    wanted: LogFilter = LogFilter()
    due: DueLog = DueLog(every_ms=15_000, step=50, grace_ms=1000)
    entries_ms: int = DAY_MS
    logs_ms: int = 30 * DAY_MS


class RunLogKeeper:
    """A keeper of the logs of all runs."""

    def __init__(
        self,
        logs: LogStore,
        blobs: Blobs,
        signals: Signals,
        clock: Clock,
        settings: RunLogKeeperSettings,
        mirror: RedisLogCopy | None = None,
    ) -> None:
        self._logs, self._blobs, self._clock, self._settings, self._mirror = logs, blobs, clock, settings, mirror
        self._announcer = LogSignals(signals)
        self._pruned = float("-inf")

    async def once(self) -> None:
        """Write due entries, archive closed logs, delete old ones."""
        said = set()
        for run in await self._logs.due(self._settings.due):
            if await (self._close(run) if run.state in RUN_ENDED else self._beat(run)):
                said.add(run.run_id)
        if self._settings.archive:
            for run in await self._logs.unarchived():
                if await self._keep(run):
                    said.add(run.run_id)
        await self._announcer.send(said)
        if self._mirror is not None:
            await self._mirror.copy(said)
        await self._prune()

    async def _beat(self, run: LoggedRun) -> bool:
        said = self._milestones(run)
        if run.silent:
            said += self._entry(run, "info", "metrics", "heartbeat", _progress(run))
        return await self._logs.beat(run, said)

    def _milestones(self, run: LoggedRun) -> list[NewLogEntry]:
        """Return one entry for each `step` pages, however many pages came between two looks."""
        step, facts = self._settings.due.step, _progress(run)
        passed = range((run.reported_pages or 0) // step + 1, run.completed // step + 1)
        return [
            entry
            for number in passed
            for entry in self._entry(run, "info", "metrics", "milestone", facts | {"milestone": number * step})
        ]

    async def _close(self, run: LoggedRun) -> bool:
        milestones = self._milestones(run)
        lines, lost = (run.last or 0) + len(milestones) + 1, run.dropped or 0
        facts = {
            "status": run.state,
            "pages": run.completed,
            "items": run.items,
            "errors": run.failed,
            "duration_ms": (run.ended_at or 0) - (run.started_at or run.ended_at or 0),
            "logs_emitted": lines,
            "logs_throttled": lost,
            "throttle_percent": round(100 * lost / (lines + lost), 2),
            "error": run.error,
        }
        level = "error" if run.state == RunState.FAILED else "info"
        always = run.kind == RunKind.SERIES
        summary = self._entry(run, level, "lifecycle", f"run {run.state}", facts, always=always)
        sealed = await self._logs.seal(run.run_id, milestones + summary)
        if sealed:
            sums = {name: facts[name] for name in ("status", "pages", "items", "errors", "duration_ms", "error")}
            log.info("run ended", extra={"run": run.run_id, "uid": run.uid} | sums)
        return sealed

    def _entry(
        self, run: LoggedRun, level: str, topic: str, message: str, facts: dict[str, Any], *, always: bool = False
    ) -> list[NewLogEntry]:
        """Return a list with the entry, empty when the filter refuses the entry."""
        if not always and not self._settings.wanted.takes(level, topic):
            return []
        fields = msgspec.json.encode({name: fact for name, fact in facts.items() if fact is not None}).decode()
        return [NewLogEntry(run.run_id, self._clock.now(), level, topic, message, fields)]

    async def _keep(self, run: LoggedRun) -> bool:
        """Append the entries that are not archived yet to the archive."""
        key, was = run.key or run_log_key(run.name, run.number), run.kept or 0
        before = await self._before(run)
        lines, kept = await read_lines(self._logs, run, was if before else 0)
        # The same entries give the same bytes, whichever process writes them.
        data = before + gzip.compress(lines, mtime=0)
        await self._blobs.put(key, data, _labels(run, kept, self._clock.now()))
        return await self._logs.archived(run.run_id, was, key, len(data), kept)

    async def _before(self, run: LoggedRun) -> bytes:
        """Return the archived part of a log; empty when another instance has it: all is then archived here."""
        if not (run.key and run.bytes):
            return b""
        try:
            return await self._blobs.get_range(run.key, 0, run.bytes)
        except NotFound:
            log.warning("archived run log not in this store, archiving it again", extra={"run": run.uid})
            return b""

    async def _prune(self) -> None:
        now = self._clock.monotonic()
        if now - self._pruned < PRUNE_INTERVAL_SECONDS:
            return
        self._pruned = now
        s = self._settings
        keys = await self._logs.prune(s.entries_ms, s.logs_ms, unkept=not s.archive)
        if keys:
            await self._blobs.delete(keys)
            log.info("deleted old run logs", extra={"logs": len(keys)})


async def read_lines(logs: LogStore, run: LoggedRun, after: int = 0) -> tuple[bytes, int]:
    """Return the entries from behind number `after` as JSON lines, and the number of the last one."""
    lines: list[bytes] = []
    while entries := (await logs.read(run.run_id, after, BATCH_SIZE)).entries:
        lines += [msgspec.json.encode(log_line(entry, run.name, run.uid)) + b"\n" for entry in entries]
        after = entries[-1].number
    return b"".join(lines), after


def _progress(run: LoggedRun) -> dict[str, Any]:
    return {"pages": run.completed, "items": run.items, "errors": run.failed, "queue_depth": run.open}


def _labels(run: LoggedRun, lines: int, now: int) -> dict[str, str]:
    """Return the metadata of an archived log in the store."""
    return {
        "Content-Type": "application/gzip",
        "job_id": run.name,
        "execution_id": run.uid,
        "execution_number": str(run.number),
        "line_count": str(lines),
        "started_at": written(run.started_at or 0),
        "archived_at": written(now),
    }
