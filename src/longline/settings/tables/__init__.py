"""Tables of the settings file: settings that have names of the operator's choice, or many keys of one subject."""

from typing import Annotated

import msgspec

from longline.settings.tables.access import OperatorTable, TenantTable
from longline.settings.tables.engines import BrokerTable, ServerTable, StorageTable, TelemetryTable
from longline.settings.tables.job_types import JobTypeTable
from longline.settings.tables.manifest_retention import IdempotencyTable, RetentionTable
from longline.settings.tables.proxy_pools import ProxyTable
from longline.settings.tables.schema import SettingsTable, TableEntries, TableSection


class Tables(SettingsTable, frozen=True, kw_only=True):
    """Every table of the settings file."""

    job_types: Annotated[dict[str, JobTypeTable], TableEntries(JobTypeTable)] = msgspec.field(default_factory=dict)
    proxy: Annotated[ProxyTable, TableSection(ProxyTable)] = ProxyTable()
    server: Annotated[ServerTable, TableSection(ServerTable)] = ServerTable()
    storage: Annotated[StorageTable, TableSection(StorageTable)] = StorageTable()
    broker: Annotated[BrokerTable, TableSection(BrokerTable)] = BrokerTable()
    retention: Annotated[RetentionTable, TableSection(RetentionTable)] = RetentionTable()
    idempotency: Annotated[IdempotencyTable, TableSection(IdempotencyTable)] = IdempotencyTable()
    tenants: Annotated[dict[str, TenantTable], TableEntries(TenantTable)] = msgspec.field(default_factory=dict)
    telemetry: Annotated[TelemetryTable, TableSection(TelemetryTable)] = TelemetryTable()
    operator: Annotated[OperatorTable, TableSection(OperatorTable)] = OperatorTable()


ROOT = TableSection(Tables)
"""The schema of the settings file's tables."""
