"""`/api/v1/admin/auditlog`: the changes that admins ordered, and those of the platform itself."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from longline.model.callers.audit import AuditFilter
from longline.model.duration import DAY_MS
from longline.services.callers.audit_trail import AuditTrail
from longline.surfaces.catalogue import errors, examples
from longline.surfaces.catalogue.audit_responses import NOUNS, AuditEntry, shown_entry, source_number
from longline.surfaces.catalogue.envelope import Listed, listed
from longline.surfaces.catalogue.field_types import PageNumber, Text, ZonedTime
from longline.surfaces.catalogue.jobs.job_statuses import BATCH_KEYS
from longline.surfaces.operation import operation

AuditId = Annotated[Text, Meta(description="Id of an entry, a UUIDv7.")]
DAYS_30_MS = 30 * DAY_MS
_OURS = {word: noun for noun, word in NOUNS.items()}


@dataclass(frozen=True, slots=True)
class AuditServices:
    """The audit, and the clock in UTC milliseconds."""

    audit: AuditTrail
    now: Any


class AuditQuery(msgspec.Struct, frozen=True, kw_only=True, rename={"since": "from", "until": "to"}):
    """The choice of entries; an action that ends in a dot stands for all that begin with it."""

    actorid: Annotated[Text, Meta(description="Id of the user.")] | None = None
    action: Annotated[Text, Meta(description="The action, or its begin with a dot at the end.")] | None = None
    entitytype: Annotated[Text, Meta(description="The kind of the thing.")] | None = None
    entityid: Annotated[Text, Meta(description="Id of the thing.")] | None = None
    since: Annotated[ZonedTime, Meta(description="The first time; 30 days ago by default.")] | None = None
    until: Annotated[ZonedTime, Meta(description="The last time; now by default.")] | None = None
    page: PageNumber = 1
    limit: Annotated[int, Meta(ge=1, le=500, description="Entries of the page.")] = 50

    def filter(self, now: int) -> AuditFilter:
        """Return the choice of audit rows."""
        noun, dot, verb = (self.action or "").partition(".")
        return AuditFilter(
            subject=self.actorid,
            action=f"{_OURS.get(noun, noun)}{dot}{verb}" if self.action else None,
            noun=None if self.entitytype is None else _OURS.get(self.entitytype, self.entitytype),
            thing=None if self.entityid is None else BATCH_KEYS.get(self.entityid, self.entityid),
            number=source_number(self.entityid or ""),
            since=now - DAYS_30_MS if self.since is None else self.since.ms,
            until=None if self.until is None else self.until.ms + 1,
        )


@operation("GET", "/api/v1/admin/auditlog", "List the audit log", access="admin", response_example=examples.AUDIT_LOG)
async def list_audit_log(services: AuditServices, query: AuditQuery) -> Listed[AuditEntry]:
    wanted = query.filter(services.now())
    rows = await services.audit.page(wanted, query.limit, (query.page - 1) * query.limit)
    total = await services.audit.count(wanted)
    return listed([shown_entry(row) for row in rows], query.page, query.limit, total)


@operation(
    "GET",
    "/api/v1/admin/auditlog/{id}",
    "Get an entry of the audit log",
    access="admin",
    errors=[errors.NO_AUDIT],
    response_example=examples.AUDIT_ENTRY,
)
async def get_audit_entry(services: AuditServices, id: AuditId) -> AuditEntry:
    return shown_entry(await services.audit.get(id))


AUDIT_OPERATIONS = (list_audit_log, get_audit_entry)
