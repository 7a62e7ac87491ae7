"""Tasks of direct producers: files that come one by one from a stream, and the manifests that they make up."""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec

from longline.engine.lifecycle.manifests import ManifestLifecycle
from longline.engine.stored_secrets import Vault
from longline.model.downloads.download import NewDownload
from longline.model.errors import BadInput, Unavailable
from longline.model.manifests.manifest import NewManifest, ProxyHint, SubmittedManifest
from longline.model.runs.run import NewRun, RunKind
from longline.plugins.manifest_handlers import DownloadTask
from longline.ports.records.manifests import ManifestStore, ManifestSubmission
from longline.ports.sources import Delivery, SourceEvents
from longline.services.manifests.downloads import downloads_of, run_plan
from longline.services.manifests.manifest_kinds import DEFAULT_KIND, ManifestKind, ManifestKinds

log = logging.getLogger(__name__)

MAX_DELIVERIES = 5
"""Failed deliveries after which a message is parked."""

SNAPSHOT_BYTES = 512

TASK_BATCH_SIZE = 500
"""Largest number of tasks that are taken from the stream at once."""


class DirectTask(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a direct producer; `total` announces the number of all files of its manifest, if it is known."""

    uid: str
    kind: str
    resource_id: str
    url: str
    headers: dict[str, str] = {}
    tags: dict[str, str] = {}
    bucket: str | None = None
    key: str | None = None
    object_metadata: dict[str, str] = {}
    checksum: str | None = None
    content_type: str | None = None
    proxy_hint: ProxyHint | None = None
    metadata_key: str = ""
    tenant: str = ""
    trace_id: str = ""
    total: int | None = None


TaskReader = Callable[[bytes], DirectTask | None]
"""A function that reads a message: None for one that is no task of a direct producer, `BadInput` for a broken one."""


class DirectTasks:
    """The consumer of tasks. A task is acknowledged when it is stored; a file that is known already changes nothing."""

    def __init__(
        self,
        messages: SourceEvents,
        store: ManifestStore,
        lifecycle: ManifestLifecycle,
        kinds: ManifestKinds,
        vault: Vault,
        read: TaskReader,
    ) -> None:
        self._messages, self._store, self._lifecycle = messages, store, lifecycle
        self._kinds, self._vault, self._read = kinds, vault, read

    async def once(self) -> None:
        """Receive tasks, waiting for a short time, and store them."""
        settled: list[str] = []
        of_manifests: defaultdict[str, list[tuple[Delivery, DirectTask]]] = defaultdict(list)
        for delivery in await self._messages.receive():
            try:
                task = self._read(delivery.body or b"")
            except Exception as error:  # one record never stops the stream
                why = str(error) if isinstance(error, BadInput) else f"not a task: {error!r}"
                log.warning("task of a direct producer not readable", extra={"error": why})
                await self._messages.park(delivery, why)
                continue
            if task is None:
                settled.append(delivery.id)
            else:
                of_manifests[task.uid].append((delivery, task))
        for given in of_manifests.values():
            settled += await self._stored(given)
        await self._messages.acknowledge(settled)

    async def _stored(self, given: Sequence[tuple[Delivery, DirectTask]]) -> list[str]:
        """Store tasks of one manifest, one by one if that fails together; return the deliveries of those stored.

        Others are delivered again; one that has failed at its last delivery is parked.
        """
        try:
            await self._store_all([task for _, task in given])
        except Unavailable:
            raise
        except Exception as error:
            if len(given) > 1:
                return [stored for one in given for stored in await self._stored([one])]
            [(delivery, task)] = given
            extra = {"manifest": task.uid, "resource": task.resource_id, "times": delivery.times, "error": repr(error)}
            log.warning("task of a direct producer not stored", extra=extra)
            if delivery.times >= MAX_DELIVERIES:
                await self._messages.park(delivery, f"the task could not be stored: {error!r}")
            return []
        return [delivery.id for delivery, _ in given]

    async def _store_all(self, tasks: Sequence[DirectTask]) -> None:
        first = tasks[0]
        kind = self._kinds.find(first.kind) or self._kinds.get(DEFAULT_KIND)
        plan = run_plan(msgspec.structs.replace(kind, name=first.kind), first.tenant)
        totals = [task.total for task in tasks if task.total is not None]
        placed = await self._lifecycle.place(self._downloads(tasks, kind), plan)
        found = await self._store.get(first.uid)
        if found is None:
            manifest = NewManifest(
                first.kind,
                first.tenant,
                first.metadata_key,
                0,
                origin="direct",
                total=max(totals, default=None),
                trace_id=first.trace_id,
                bytes=SNAPSHOT_BYTES + len(first.metadata_key),
            )
            run = NewRun(first.uid, RunKind.MANIFEST, plan.text(), first.uid)
            await self._lifecycle.submit([ManifestSubmission(run, manifest, placed)])
            return
        if totals:
            await self._store.note_total(found.run_id, max(totals))
        await self._lifecycle.extend(found.run_id, placed)

    def _downloads(self, tasks: Sequence[DirectTask], kind: ManifestKind) -> list[NewDownload]:
        first = tasks[0]
        manifest = SubmittedManifest(first.kind, first.tenant, (), b"{}", b"{}", trace_id=first.trace_id)
        wanted = [
            DownloadTask(
                task.resource_id,
                task.url,
                task.headers,
                _hints(task),
                bucket=task.bucket,
                key=task.key,
                object_metadata=task.object_metadata,
                proxy_hint=task.proxy_hint,
            )
            for task in tasks
        ]
        return downloads_of(wanted, manifest, kind, first.uid, self._vault)


def _hints(task: DirectTask) -> dict[str, str]:
    named = {"content_type": task.content_type, "checksum_hint": task.checksum}
    return {name: value for name, value in named.items() if value} | task.tags
