"""The mirror of manifests in streams outside of the platform.

It follows the events, which have one order, and adds the records of each batch of events together with the position
behind them: no record is lost, and none is added twice, whichever process is killed when.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol

import msgspec

from longline.model.downloads.dead_letter import DeadLetter
from longline.model.downloads.download import DownloadRow
from longline.model.logs.event import Event
from longline.model.logs.run_log import LogEntry, LogQuery
from longline.model.manifests.manifest import ManifestSnapshot
from longline.model.states import RunState
from longline.ports.manifests import ManifestStreams, StreamRecord
from longline.ports.records.downloads import DeadLetterStore, DownloadStore
from longline.ports.records.logs import EventStore
from longline.ports.records.manifests import ManifestStore
from longline.services.logs.log_pages import LogPages

BATCH_SIZE = 500
EVENTS = "events"
"""Name of the position in the events."""

_LOG = "log:"
"""Prefix of the names of positions in logs; the number of the run follows."""

_FIRST_MOVE = "create"

MIRROR_INTERVAL_SECONDS = 0.5
"""Seconds between two copies of new records."""


class RecordWriter(Protocol):
    """The form of the records."""

    def task(self, found: ManifestSnapshot, download: DownloadRow) -> bytes:
        """Return the record of a queued file."""
        ...

    def status(self, found: ManifestSnapshot, at: int) -> bytes:
        """Return the record of a manifest's state."""
        ...

    def log(self, found: ManifestSnapshot, entry: LogEntry) -> bytes:
        """Return the record of a log entry."""
        ...

    def dead_letter(self, found: ManifestSnapshot, download: DownloadRow, letter: DeadLetter) -> bytes:
        """Return the record of a file that was given up."""
        ...


class MirrorStores(msgspec.Struct, frozen=True):
    """The stores that the mirror reads."""

    events: EventStore
    manifests: ManifestStore
    downloads: DownloadStore
    letters: DeadLetterStore
    logs: LogPages


class StreamMirror:
    """The copier of manifests; several processes may run one, each batch is copied once."""

    def __init__(self, stores: MirrorStores, streams: ManifestStreams, writer: RecordWriter) -> None:
        self._stores, self._streams, self._writer = stores, streams, writer

    async def once(self) -> int:
        """Copy everything that is new; return the number of records."""
        copied = 0
        while (count := await self._copy_events()) is not None:
            copied += count
        return copied + await self._copy_logs()

    async def _copy_events(self) -> int | None:
        """Copy one batch of events; return None when there is none, or another process has copied it."""
        positions = await self._streams.positions()
        if EVENTS not in positions:
            await self._streams.append([], {}, {EVENTS: await self._stores.events.newest()})
            return None
        events = await self._stores.events.find(after=positions[EVENTS], limit=BATCH_SIZE)
        if not events:
            return None
        records, followed = await self._records(events)
        moved: dict[str, int | None] = {EVENTS: events[-1].id}
        moved |= {name: 0 for name in followed if name not in positions}
        return len(records) if await self._streams.append(records, positions, moved) else None

    async def _records(self, events: Sequence[Event]) -> tuple[list[StreamRecord], list[str]]:
        touched = {event.subject: event for event in events if event.noun == "run"}
        found = {one.run_id: one for one in await self._stores.manifests.of_runs(sorted(touched))}
        records: list[StreamRecord] = []
        for event in events:
            if event.noun == "run" and event.subject in found:
                records += await self._of_event(event, found[event.subject], is_last=touched[event.subject] is event)
        return records, [f"{_LOG}{run_id}" for run_id in found]

    async def _of_event(self, event: Event, found: ManifestSnapshot, *, is_last: bool) -> list[StreamRecord]:
        """Return the records of an event.

        They are the first state and the tasks of a new manifest, the letters of a report, and the state after the last
        event of a run.
        """
        records: list[StreamRecord] = []
        if event.move == _FIRST_MOVE and found.origin == "api":
            records.append(StreamRecord("status", self._writer.status(_as_queued(found), event.at)))
            records += await self._tasks(found)
        records += await self._letters(event, found)
        if is_last:
            state = StreamRecord("status", self._writer.status(found, event.at))
            records += [state] if state not in records else []
        return records

    async def _tasks(self, found: ManifestSnapshot) -> list[StreamRecord]:
        records, after = [], 0
        while rows := await self._stores.downloads.find(found.run_id, after=after, limit=BATCH_SIZE):
            records += [StreamRecord("tasks", self._writer.task(found, row)) for row in rows]
            after = rows[-1].task_id
        return records

    async def _letters(self, event: Event, found: ManifestSnapshot) -> list[StreamRecord]:
        """Return the letters of the tasks that a report gave up."""
        moves = msgspec.json.decode(event.moves) if event.moves else []
        failed = {move[0] for move in moves if move[2] == "failed"}
        if not failed:
            return []
        of_tasks: defaultdict[int, list[DeadLetter]] = defaultdict(list)
        for one in await self._stores.letters.of_tasks(sorted(failed)):
            of_tasks[one.task_id].append(one)
        letters = [_letter_of(event, of_task) for of_task in of_tasks.values()]
        rows = await self._stores.downloads.of_resources(found.run_id, [one.resource_id for one in letters])
        downloads = {row.task_id: row for row in rows}
        return [
            StreamRecord("dead_letters", self._writer.dead_letter(found, downloads[one.task_id], one))
            for one in letters
            if one.task_id in downloads
        ]

    async def _copy_logs(self) -> int:
        positions, copied = await self._streams.positions(), 0
        runs = [int(name.removeprefix(_LOG)) for name in positions if name.startswith(_LOG)]
        snapshots = {one.run_id: one for one in await self._stores.manifests.of_runs(sorted(runs))}
        for run_id in runs:
            copied += await self._copy_log(run_id, positions[f"{_LOG}{run_id}"], snapshots.get(run_id))
        return copied

    async def _copy_log(self, run_id: int, after: int, found: ManifestSnapshot | None) -> int:
        """Copy new entries of a log; the position of a log that is complete, or gone, is deleted."""
        name = f"{_LOG}{run_id}"
        if found is None:
            await self._streams.append([], {name: after}, {name: None})
            return 0
        page = await self._stores.logs.get(run_id, LogQuery(after), BATCH_SIZE)
        records = [StreamRecord("logs", self._writer.log(found, entry)) for entry in page.entries]
        if records:
            await self._streams.append(records, {name: after}, {name: page.entries[-1].number})
        elif page.sealed and found.state not in ("queued", "running"):
            await self._streams.append([], {name: after}, {name: None})
        return len(records)


def _as_queued(found: ManifestSnapshot) -> ManifestSnapshot:
    """Return a manifest as it was before a worker took its first task: events have no counts of their time."""
    counts = {"state": RunState.RUNNING, "begun": False, "completed": 0, "open": found.admitted}
    return msgspec.structs.replace(found, **counts, error_code=None, error_message=None, error_status=None)


def _letter_of(event: Event, letters: Sequence[DeadLetter]) -> DeadLetter:
    """Return the letter that an event's report wrote: a task that was opened again has several, in their order."""
    return ([one for one in letters if one.failed_at <= event.at] or letters)[-1]
