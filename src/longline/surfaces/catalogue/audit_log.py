"""`/api/v1/admin/auditlog`: the changes that admins ordered, and those of the platform itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from longline.model.callers.audit import AuditFilter, AuditRow
from longline.model.duration import DAY_MS
from longline.services.callers.audit_trail import AuditTrail
from longline.surfaces.catalogue import examples
from longline.surfaces.catalogue import statuses_and_errors as words
from longline.surfaces.catalogue.envelope import Listed, listed
from longline.surfaces.catalogue.field_types import PageNumber, Text, Timestamp, ZonedTime, time_text
from longline.surfaces.catalogue.statuses_and_errors import BATCH_KEYS, RUN_WORDS, TASK_KEYS
from longline.surfaces.operation import operation

AuditId = Annotated[Text, Meta(description="Id of an entry, a UUIDv7.")]
DAYS_30_MS = 30 * DAY_MS
NOUNS: Mapping[str, str] = {
    "target": "comicsource",
    "run": "job",
    "series": "comic",
    "door setting": "setting",
    "run kind": "crawler",
    "maintenance run": "batchrun",
    "maintenance schedule": "batchschedule",
}
"""The contract's word for each noun of the audit that it calls differently."""

FIELDS: Mapping[str, Mapping[str, str]] = {
    "source": {
        "base_url": "baseurl",
        "extension": "extensionid",
        "extension_config": "config",
        "config": "parserconfig",
        "enabled": "isenabled",
        "succeeded_at": "lastsucceededat",
        "failed_at": "lastfailedat",
        "failures": "consecutivefails",
    },
    "target": {
        "series_id": "comicid",
        "external_id": "sourceid_ext",
        "url": "sourceurl",
        "active": "isactive",
        "crawled_at": "lastcrawlat",
    },
    "series": {"cover_url": "coverurl", "facts": "external"},
    "run": {
        "id": "",
        "kind": "",
        "uid": "id",
        "subject": "comicid",
        "state": "status",
        "due": "scheduledat",
        "ended_at": "finishedat",
        "error": "lasterror",
    },
    "door setting": {"door": "", "name": "key"},
    "run kind": {"name": ""},
    "maintenance run": {"task": "jobkey", "state": "status", "ended_at": "finishedat", "error": "lasterror"},
    "maintenance schedule": {"name": "jobkey", "enabled": "isenabled"},
}
"""The contract's fields of the audited states, by noun; an empty name is left out, others lose their underscores."""

_OURS = {word: noun for noun, word in NOUNS.items()}


@dataclass(frozen=True, slots=True)
class AuditServices:
    """The audit, and the clock in UTC milliseconds."""

    audit: AuditTrail
    now: Any


class Actor(msgspec.Struct, frozen=True):
    """The user that ordered a change."""

    id: str
    username: str
    role: str


class AuditEntry(msgspec.Struct, frozen=True):
    """An entry of the audit log."""

    id: str
    actorid: str | None
    actor: Actor | None
    action: str
    entitytype: str
    entityid: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    reason: str | None
    ipaddress: str | None
    createdat: Timestamp


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
            number=_source_id(self.entityid or ""),
            since=now - DAYS_30_MS if self.since is None else self.since.ms,
            until=None if self.until is None else self.until.ms + 1,
        )


@operation("GET", "/api/v1/admin/auditlog", "List the audit log", access="admin", response_example=examples.AUDIT_LOG)
async def list_audit_log(services: AuditServices, query: AuditQuery) -> Listed[AuditEntry]:
    wanted = query.filter(services.now())
    rows = await services.audit.page(wanted, query.limit, (query.page - 1) * query.limit)
    total = await services.audit.count(wanted)
    return listed([_shown(row) for row in rows], query.page, query.limit, total)


@operation(
    "GET",
    "/api/v1/admin/auditlog/{id}",
    "Get an entry of the audit log",
    access="admin",
    errors=[words.NO_AUDIT],
    response_example=examples.AUDIT_ENTRY,
)
async def get_audit_entry(services: AuditServices, id: AuditId) -> AuditEntry:
    return _shown(await services.audit.get(id))


AUDIT_OPERATIONS = (list_audit_log, get_audit_entry)


def _source_id(text: str) -> int | None:
    """Return the id of a source that a text may be."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def _shown(row: AuditRow) -> AuditEntry:
    noun, dot, verb = row.action.partition(".")
    return AuditEntry(
        row.uid,
        row.subject or None,
        Actor(row.subject, row.name, row.role) if row.subject else None,
        f"{NOUNS.get(noun, noun)}{dot}{verb}",
        NOUNS.get(row.noun, row.noun),
        _entity_id(row),
        _state(row.noun, row.before),
        _state(row.noun, row.after),
        row.reason,
        row.address or None,
        time_text(row.at),
    )


def _entity_id(row: AuditRow) -> str:
    if row.noun == "maintenance schedule":
        return TASK_KEYS.get(row.thing, row.thing)
    return row.thing if row.number is None else str(row.number)


def _state(noun: str, text: str | None) -> dict[str, Any] | None:
    """Return an audited state in the fields and forms of the contract."""
    if text is None:
        return None
    names, shown = FIELDS.get(noun, {}), {}
    for column, value in msgspec.json.decode(text).items():
        if name := names.get(column, column.replace("_", "")):
            shown[name] = _form(name, column, value)
    return shown


def _form(name: str, column: str, value: Any) -> Any:
    match name:
        case "isenabled" | "isactive":
            return bool(value)  # SQLite has numbers for truth values
        case "status":
            return RUN_WORDS.get(value, value)
        case "jobkey":
            return TASK_KEYS.get(value, value)
        case "comicid":
            return value or None
    return time_text(value) if isinstance(value, int) and (column.endswith("_at") or column == "due") else value
