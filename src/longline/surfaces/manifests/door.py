"""The manifest API as one value: the intake of manifests, the paths of operators, access checks and metrics."""

from prometheus_client import CollectorRegistry

from longline.model.callers.door import MANIFESTS
from longline.services.callers.callers import Callers
from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.manifests.access import ManifestAccess
from longline.surfaces.manifests.dead_letters import DEAD_LETTERS, DeadLetterServices
from longline.surfaces.manifests.error_format import ManifestFormat
from longline.surfaces.manifests.health import COMPONENTS, ComponentServices, is_ready
from longline.surfaces.manifests.ingest.ingest import INGEST, IngestServices
from longline.surfaces.manifests.ingest.uploads import UPLOADS, UploadServices
from longline.surfaces.manifests.logs import LOGS, ManifestLogServices
from longline.surfaces.manifests.metrics import ManifestMetrics
from longline.surfaces.manifests.services import ManifestServices
from longline.surfaces.manifests.snapshots import SNAPSHOTS, SnapshotServices


def manifests_door(
    services: ManifestServices, callers: Callers, registry: CollectorRegistry, *, is_open: bool = False
) -> Door:
    """Return the manifest API; its metrics are registered in `registry`. With `is_open` it needs no credentials."""
    access = ManifestAccess(
        callers,
        MANIFESTS,
        services.tenants,
        is_open=is_open,
        operator_token=services.operator_token,
        subject_header=services.subject_header,
    )
    metrics = ManifestMetrics(registry)

    async def refresh_metrics() -> None:
        if services.figures is not None:
            metrics.show(await services.figures.read())

    async def probe() -> None:
        metrics.note_ready(is_ready=await is_ready(services.health))

    return Door(
        name=MANIFESTS,
        title="Manifests",
        prefixes=("/jobs", "/operators", "/health/live", "/health/ready"),
        format=ManifestFormat(),
        groups=_groups(services, access, metrics),
        refresh_metrics=refresh_metrics,
        probe=probe,
        observe_request=metrics.observe,
        access={"public": PUBLIC, "sender": access.of_senders(), "operator": access.of_operators()},
    )


def _groups(services: ManifestServices, access: ManifestAccess, metrics: ManifestMetrics) -> tuple[OperationGroup, ...]:
    snapshots, places = services.snapshots, services.places
    ingest = IngestServices(services.submissions, services.kinds, access, services.limits, places, metrics)
    about = "Jobs of manifests, for operators."
    return (
        OperationGroup("manifests", "Lists of files to download.", INGEST, ingest),
        OperationGroup("manifests", "Lists of files to download.", UPLOADS, UploadServices(services.uploads, ingest)),
        OperationGroup("operators", about, SNAPSHOTS, SnapshotServices(snapshots, places)),
        OperationGroup("operators", about, LOGS, ManifestLogServices(snapshots, services.logs)),
        OperationGroup("operators", about, DEAD_LETTERS, DeadLetterServices(services.letters)),
        OperationGroup("operators", about, COMPONENTS, ComponentServices(services.health)),
    )
