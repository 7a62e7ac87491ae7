"""The submission of manifests: key, objects, handler, then one transaction; an answer only when all is durable."""

import asyncio
import hashlib
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec

from longline.engine.lifecycle.manifests import ManifestLifecycle
from longline.engine.stored_secrets import Vault
from longline.model.back_off import back_off
from longline.model.errors import Conflict, LonglineError, Unavailable
from longline.model.ids import new_id
from longline.model.manifests.idempotency_key import Reservation, ScopedKey
from longline.model.manifests.manifest import ManifestReceipt, NewManifest, SubmittedManifest
from longline.model.object_keys import DOCUMENT_FILE, manifest_key
from longline.model.runs.run import NewRun, RunKind
from longline.plugins.manifest_handlers import DownloadTask, HandlerFailed, Manifest
from longline.ports.blobs import Blobs
from longline.ports.records.manifests import ManifestSubmission
from longline.ports.records.proxies import PoolStore
from longline.services.group_commit import GROUP_WAIT_SECONDS, GroupCommit
from longline.services.manifests.downloads import downloads_of, run_plan
from longline.services.manifests.idempotency import IdempotencyKeys
from longline.services.manifests.manifest_kinds import ManifestKind

log = logging.getLogger(__name__)

ATTEMPTS = 3
RETRY_SECONDS = 0.2
PUT_TIMEOUT_SECONDS = 15.0
"""Time limit of one attempt to store the objects of a manifest: all attempts end before its reservation lapses."""

VERSION = "v1"
MAX_BATCH = 64
"""Largest number of manifests in one transaction."""

SNAPSHOT_BYTES = 512
"""Bytes of a snapshot without its texts."""

STORAGE_FAILED, QUEUE_FAILED = "STORAGE_UNAVAILABLE", "SYSTEM_QUEUE_UNAVAILABLE"
UNKNOWN_POOL, INVALID_MANIFEST = "HANDLER_TASK_GENERATION", "HANDLER_INVALID_MANIFEST"


class NotQueued(LonglineError):
    """A manifest that could not be queued; its run has failed under the id `uid`, if it could be stored at all."""

    def __init__(self, uid: str, code: str, text: str, *, is_refusal: bool = False, is_passing: bool = False) -> None:
        super().__init__(text)
        self.uid, self.code, self.is_refusal, self.is_passing = uid, code, is_refusal, is_passing


class KeyReused(Conflict):
    """An idempotency key that was used with another body."""

    def __init__(self, receipt: ManifestReceipt) -> None:
        super().__init__("the idempotency key was used with another body")
        self.receipt = receipt


class Accepted(msgspec.Struct, frozen=True):
    """The answer to a manifest; `is_replay` marks the answer of an earlier request, `is_same_body` its body."""

    receipt: ManifestReceipt
    is_replay: bool = False
    is_same_body: bool = True


class IdempotencyRules(msgspec.Struct, frozen=True):
    """The time for which keys are kept, for tenants of their own too; with `strict`, another body is a conflict."""

    window_ms: int
    of_tenants: Mapping[str, int] = {}
    strict: bool = False

    def window_of(self, tenant: str) -> int:
        """Return the time for which the keys of a tenant are kept."""
        return self.of_tenants.get(tenant, self.window_ms)


class ManifestSubmissions:
    """The intake of manifests. Manifests that arrive together share a commit."""

    def __init__(
        self,
        lifecycle: ManifestLifecycle,
        keys: IdempotencyKeys,
        blobs: Blobs,
        vault: Vault,
        rules: IdempotencyRules,
        pools: PoolStore,
    ) -> None:
        self._pools = pools
        self._lifecycle, self._keys, self._blobs, self._vault, self._rules = lifecycle, keys, blobs, vault, rules
        self._submitting: GroupCommit[ManifestSubmission, int | None] = GroupCommit(
            lifecycle.submit, lambda one: one.run.uid, MAX_BATCH, GROUP_WAIT_SECONDS
        )

    async def submit(self, manifest: SubmittedManifest, kind: ManifestKind) -> Accepted:
        """Store and queue a manifest; return the answer, of an earlier request where its key was used before.

        Raise `NotQueued` for a manifest that could not be queued, `KeyReused` where the key was used with another body.
        """
        while True:
            uid = new_id()
            reservation = self._reservation(manifest, uid)
            kept = await self._keys.reserve(reservation) if reservation is not None else None
            if kept is not None:
                if not kept.is_same_body:
                    log.warning("idempotency key used with another body", extra={"manifest": kept.receipt.uid})
                    if self._rules.strict:
                        raise KeyReused(kept.receipt)
                return Accepted(kept.receipt, is_replay=True, is_same_body=kept.is_same_body)
            receipt = await self._attempt(manifest, kind, uid, reservation)
            if receipt is not None:
                return Accepted(receipt)

    async def _attempt(
        self, manifest: SubmittedManifest, kind: ManifestKind, uid: str, reservation: Reservation | None
    ) -> ManifestReceipt | None:
        """Submit under a reservation; return None when another request has taken it over in the meantime."""
        receipt = ManifestReceipt(uid, manifest_key(kind.name, uid), len(manifest.resources))
        row = _row(manifest, receipt, reservation)
        try:
            return await self._store(manifest, kind, receipt, row)
        except NotQueued as failure:
            await self._refuse(failure, kind, row)
            raise
        except BaseException:
            if reservation is not None:
                # The sender may be gone: the key must be free for its next attempt all the same.
                await asyncio.shield(self._keys.release(reservation))
            raise

    async def _store(
        self, manifest: SubmittedManifest, kind: ManifestKind, receipt: ManifestReceipt, row: NewManifest
    ) -> ManifestReceipt | None:
        uid = receipt.uid
        await _insisted(lambda: self._put(manifest, kind.name, receipt), uid, STORAGE_FAILED)
        downloads = await self._downloads(manifest, kind, uid)
        plan = run_plan(kind, manifest.tenant)
        run = NewRun(uid, RunKind.MANIFEST, plan.text(), uid)

        async def queue() -> int | None:
            placed = await self._lifecycle.place(downloads, plan)
            return await self._submitting(ManifestSubmission(run, _with_total(row, len(downloads)), placed))

        made = await _insisted(queue, uid, QUEUE_FAILED)
        if made is None:
            return None
        log.info("manifest queued", extra={"run_id": made, "manifest": uid, "files": len(downloads)})
        return receipt

    async def _downloads(self, manifest: SubmittedManifest, kind: ManifestKind, uid: str) -> Sequence[Any]:
        try:
            given = _for_handler(manifest, kind, uid)
            tasks = [await kind.handler.placed(task) for task in await kind.handler.tasks(given)]
        except HandlerFailed as error:
            code = INVALID_MANIFEST if error.is_refusal else f"HANDLER_{error.hook.upper()}"
            raise NotQueued(uid, code, str(error), is_refusal=error.is_refusal) from error
        except RecursionError as error:
            text = "metadata or attributes are nested too deep for the handler"
            raise NotQueued(uid, INVALID_MANIFEST, text, is_refusal=True) from error
        await self._check_pools(tasks, uid)
        return await asyncio.to_thread(downloads_of, tasks, manifest, kind, uid, self._vault)

    async def _check_pools(self, tasks: Sequence[DownloadTask], uid: str) -> None:
        """Refuse tasks whose handler asks for a proxy pool that does not exist."""
        wanted = {name for task in tasks if task.proxy_hint is not None for name in task.proxy_hint.pools}
        if not wanted:
            return
        known = {pool.name for pool in await self._pools.find()}
        if unknown := sorted(wanted - known):
            raise NotQueued(uid, UNKNOWN_POOL, f"build_tasks failed: there is no proxy pool named {unknown[0]!r}")

    async def _put(self, manifest: SubmittedManifest, kind: str, receipt: ManifestReceipt) -> None:
        labels = {"Content-Type": "application/json"}
        document = manifest_key(kind, receipt.uid, DOCUMENT_FILE)
        try:
            async with asyncio.timeout(PUT_TIMEOUT_SECONDS):
                await asyncio.gather(
                    self._blobs.put(receipt.metadata_key, manifest.metadata, labels),
                    self._blobs.put(document, manifest.document, labels),
                )
        except TimeoutError:
            raise Unavailable(f"the object store did not answer within {PUT_TIMEOUT_SECONDS:g} s") from None

    async def _refuse(self, failure: NotQueued, kind: ManifestKind, row: NewManifest) -> None:
        """Store a manifest that could not be queued as failed; where that fails too, its key lapses by itself."""
        run = NewRun(failure.uid, RunKind.MANIFEST, run_plan(kind, row.tenant).text(), failure.uid)
        failed = msgspec.structs.replace(row, code=failure.code, message=str(failure), total=0)
        try:
            await self._lifecycle.refuse(run, failed, str(failure))
        except Unavailable as error:
            log.warning("failed manifest not stored", extra={"manifest": failure.uid, "error": str(error)})

    def _reservation(self, manifest: SubmittedManifest, uid: str) -> Reservation | None:
        if manifest.key is None:
            return None
        key = ScopedKey(manifest.tenant, manifest.kind, manifest.key)
        digest = hashlib.sha256(manifest.document).hexdigest()
        return Reservation(key, uid, digest, self._rules.window_of(manifest.tenant))


async def _insisted(work: Callable[[], Awaitable[Any]], uid: str, code: str) -> Any:
    """Carry work out, up to three times; raise `NotQueued` when the engine behind it stays away."""
    for attempt in range(ATTEMPTS):
        try:
            return await work()
        except LonglineError as error:
            # No key or row of ours is wrong by itself: whatever is refused, the engine behind it is in trouble.
            if attempt + 1 == ATTEMPTS:
                raise NotQueued(uid, code, str(error), is_passing=True) from error
            log.info("manifest not stored, will retry", extra={"manifest": uid, "code": code, "error": str(error)})
            await asyncio.sleep(back_off(RETRY_SECONDS, attempt, 5.0))
    raise AssertionError("unreachable")


def _for_handler(manifest: SubmittedManifest, kind: ManifestKind, uid: str) -> Manifest:
    """Return a manifest for the hooks; without hooks that read them, metadata and attributes are not decoded."""
    parts = (manifest.metadata, manifest.attributes) if kind.handler.reads_manifests else (b"{}", b"{}")
    metadata, attributes = (json.loads(part, parse_int=_integer) for part in parts)
    return Manifest(uid, kind.name, VERSION, metadata, manifest.resources, attributes, manifest.tenant)


def _integer(digits: str) -> int | float:
    """Return an integer of any size, as metadata may have it; an infinity where Python refuses to convert it."""
    return int(digits) if len(digits) <= sys.int_info.default_max_str_digits else float(digits)


def _row(manifest: SubmittedManifest, receipt: ManifestReceipt, reservation: Reservation | None) -> NewManifest:
    attributes = manifest.attributes.decode()
    return NewManifest(
        manifest.kind,
        manifest.tenant,
        receipt.metadata_key,
        receipt.resources,
        attributes=attributes,
        trace_id=manifest.trace_id,
        bytes=SNAPSHOT_BYTES + len(manifest.attributes) + len(receipt.metadata_key),
        reservation=reservation,
    )


def _with_total(row: NewManifest, total: int) -> NewManifest:
    return msgspec.structs.replace(row, total=total)
