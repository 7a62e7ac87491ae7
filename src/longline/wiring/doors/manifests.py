"""Wiring of the manifest API."""

from longline.engine.lifecycle.manifests import ManifestLifecycle
from longline.model.errors import PoolsFailing
from longline.ports.clock import Clock
from longline.services.callers.rate_limits import RateLimits
from longline.services.health import Check, Health
from longline.services.logs.log_pages import LogPages
from longline.services.logs.run_logs import Followers
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.figures import ManifestFigureReader
from longline.services.manifests.idempotency import IdempotencyKeys
from longline.services.manifests.logs import ManifestLogs
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.services.manifests.storage_probe import STORAGE_PROBE_SECONDS, RecentProbe
from longline.services.manifests.submissions import ManifestSubmissions
from longline.services.manifests.tenants import Tenants
from longline.services.proxies.pools import Pools
from longline.surfaces.manifests.health import CRITICAL_COMPONENTS
from longline.surfaces.manifests.services import IngestLimits, ManifestServices
from longline.wiring.platform import Platform
from longline.wiring.subjects.logs import run_log_blobs
from longline.wiring.subjects.manifests import (
    idempotency_rules,
    manifest_blobs,
    manifest_kinds,
    manifest_uploads,
    object_places,
    tenants,
)


def manifest_services(
    platform: Platform, limits: RateLimits | None = None, followers: Followers | None = None
) -> ManifestServices:
    """Return the services behind the manifest API."""
    records, settings, server = platform.records, platform.settings, platform.settings.tables.server
    downloads = platform.lifecycle.downloads
    lifecycle = ManifestLifecycle(records.manifests.runs, downloads)
    keys = IdempotencyKeys(records.manifests.keys)
    snapshots = ManifestSnapshots(records.manifests.snapshots)
    return ManifestServices(
        submissions=ManifestSubmissions(
            lifecycle, keys, manifest_blobs(platform), platform.vault, idempotency_rules(settings), records.pools
        ),
        uploads=manifest_uploads(platform),
        kinds=manifest_kinds(settings),
        snapshots=snapshots,
        logs=ManifestLogs(LogPages(records.log_pages, run_log_blobs(platform)), snapshots, followers),
        letters=DeadLetters(records.dead_letters, downloads, platform.clock),
        tenants=Tenants(tenants(settings), limits),
        health=Health(_checks(platform, platform.clock), platform.clock),
        limits=IngestLimits(server.max_manifest_bytes, server.max_resources, server.strict_urls),
        places=object_places(settings),
        operator_token=settings.tables.operator.token,
        subject_header=server.client_subject_header,
        figures=ManifestFigureReader(records.counters, platform.metrics),
    )


def _checks(platform: Platform, clock: Clock) -> list[Check]:
    records, settings = platform.records, platform.settings
    pools = Pools(records.pools)

    async def database() -> str:
        await records.schema.now()
        return (await records.schema.version()).split()[0]

    async def broker() -> str:
        return (await platform.signals.check()).split()[0] if settings.redis else await database()

    async def storage() -> str:
        return (await platform.blobs.check()).split()[0]

    async def proxy_pools() -> str:
        if failing := await pools.failing():
            raise PoolsFailing(f"no proxy works in the pools {', '.join(failing)}")
        return f"{len(await pools.find())} pools"

    probe = RecentProbe(storage, clock, STORAGE_PROBE_SECONDS)
    probes = {"ledger": database, "broker": broker, "storage": probe.check, "proxy_pools": proxy_pools}
    return [Check(name, check, name in CRITICAL_COMPONENTS) for name, check in probes.items()]
