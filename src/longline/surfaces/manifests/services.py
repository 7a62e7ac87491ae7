"""The services behind the manifest API, and its limits.

The module imports no framework: commands use the services, and serve nothing.
"""

from dataclasses import dataclass

from longline.services.health import Health
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.figures import ManifestFigureReader
from longline.services.manifests.logs import ManifestLogs
from longline.services.manifests.manifest_kinds import ManifestKinds
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.services.manifests.submissions import ManifestSubmissions
from longline.services.manifests.tenants import Tenants
from longline.services.manifests.uploads import ManifestUploads
from longline.surfaces.manifests.responses import ObjectPlaces


@dataclass(frozen=True, slots=True)
class IngestLimits:
    """The limits of manifests."""

    max_bytes: int
    max_resources: int
    strict_urls: bool = False


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
