"""The manifest API as one value: the intake of manifests, the paths of operators, access checks and metrics."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from longline.services.callers.callers import Callers
from longline.services.health import Health
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.figures import ManifestFigureReader
from longline.services.manifests.logs import ManifestLogs
from longline.services.manifests.manifest_kinds import ManifestKinds
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.services.manifests.submissions import ManifestSubmissions
from longline.services.manifests.tenants import Tenants
from longline.services.manifests.uploads import ManifestUploads
from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.manifests.access import ManifestAccess
from longline.surfaces.manifests.bodies import ObjectPlaces
from longline.surfaces.manifests.dead_letters import DEAD_LETTERS, DeadLetterServices
from longline.surfaces.manifests.format import ManifestFormat
from longline.surfaces.manifests.health import COMPONENTS, ComponentServices, is_ready
from longline.surfaces.manifests.ingest.ingest import INGEST, IngestLimits, IngestServices
from longline.surfaces.manifests.ingest.uploads import UPLOADS, UploadServices
from longline.surfaces.manifests.logs import LOGS, ManifestLogServices
from longline.surfaces.manifests.metrics import ManifestMetrics
from longline.surfaces.manifests.operators import SNAPSHOTS, SnapshotServices

NAME = "manifests"


@dataclass(frozen=True, slots=True)
class ManifestServices:
    """The services behind the manifest API. `operator_token` is empty where operators need none of their own."""

    submissions: ManifestSubmissions
    uploads: ManifestUploads
    kinds: ManifestKinds
    snapshots: ManifestSnapshots
    logs: ManifestLogs
    letters: DeadLetters
    tenants: Tenants
    health: Health
    limits: IngestLimits
    places: ObjectPlaces
    operator_token: str = ""
    subject_header: str = ""
    figures: ManifestFigureReader | None = None


def manifests_door(
    services: ManifestServices, callers: Callers, registry: CollectorRegistry, *, is_open: bool = False
) -> Door:
    """Return the manifest API; its metrics are registered in `registry`. With `is_open` it needs no credentials."""
    access = ManifestAccess(
        callers,
        NAME,
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
        name=NAME,
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
