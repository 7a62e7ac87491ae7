"""The stores of manifests on one engine."""

from longline.drivers.records.database import Database
from longline.drivers.records.manifests.idempotency_keys import IdempotencyRecords
from longline.drivers.records.manifests.manifests import ManifestRecords
from longline.drivers.records.manifests.submissions import ManifestAdmissionRecords
from longline.ports.records.manifests import ManifestStores


def manifest_stores(database: Database) -> ManifestStores:
    """Return the stores of manifests."""
    return ManifestStores(ManifestRecords(database), ManifestAdmissionRecords(database), IdempotencyRecords(database))
