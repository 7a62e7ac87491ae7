"""Wiring of the manifest API."""

from longline.engine.lifecycle.manifests import ManifestLifecycle
from longline.ports.clock import Clock
from longline.services.callers.audit_trail import AuditTrail
from longline.services.callers.rate_limits import RateLimits
from longline.services.health import Check, Health
from longline.services.logs.log_pages import LogPages
from longline.services.logs.run_logs import Followers
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.figures import ManifestFigureReader
from longline.services.manifests.idempotency import IdempotencyKeys
from longline.services.manifests.logs import ManifestLogs
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.services.manifests.storage_probe import RecentProbe
from longline.services.manifests.submissions import ManifestSubmissions
from longline.services.manifests.tenants import Tenants
from longline.surfaces.manifests.door import ManifestServices
from longline.surfaces.manifests.ingest import IngestLimits
from longline.wiring.house import House
from longline.wiring.parts.logs import run_log_blobs
from longline.wiring.parts.manifests import idempotency_rules, manifest_kinds, object_places, tenants

STORAGE_PROBE_SECONDS = 10.0
"""Largest age of a storage probe that was successful."""


def manifest_services(
    house: House, limits: RateLimits | None = None, followers: Followers | None = None
) -> ManifestServices:
    """Return the services behind the manifest API."""
    records, settings, server = house.records, house.settings, house.settings.tables.server
    downloads = house.lifecycle.downloads
    lifecycle = ManifestLifecycle(records.manifests.runs, downloads)
    keys = IdempotencyKeys(records.manifests.keys)
    snapshots = ManifestSnapshots(records.manifests.snapshots)
    return ManifestServices(
        submissions=ManifestSubmissions(lifecycle, keys, house.blobs, house.vault, idempotency_rules(settings)),
        kinds=manifest_kinds(settings),
        snapshots=snapshots,
        logs=ManifestLogs(LogPages(records.log_pages, run_log_blobs(house)), snapshots, followers),
        letters=DeadLetters(records.dead_letters, downloads, house.clock, AuditTrail(records.audit)),
        tenants=Tenants(tenants(settings), limits),
        health=Health(_checks(house, house.clock), house.clock),
        limits=IngestLimits(server.max_manifest_bytes, server.max_resources, server.strict_urls),
        places=object_places(settings),
        operator_token=settings.tables.operator.token,
        subject_header=server.client_subject_header,
        figures=ManifestFigureReader(records.manifests.snapshots, records.counters),
    )


def _checks(house: House, clock: Clock) -> list[Check]:
    records, settings = house.records, house.settings

    async def database() -> str:
        await records.schema.now()
        return (await records.schema.version()).split()[0]

    async def broker() -> str:
        return (await house.signals.check()).split()[0] if settings.redis else await database()

    async def storage() -> str:
        return (await house.blobs.check()).split()[0]

    async def proxy_pools() -> str:
        return f"{len(await records.pools.find())} pools"

    probe = RecentProbe(storage, clock, STORAGE_PROBE_SECONDS)
    return [
        Check("ledger", database, critical=True),
        Check("broker", broker, critical=True),
        Check("storage", probe.check, critical=True),
        Check("proxy_pools", proxy_pools),
    ]
