"""Responses about the audit log: nouns and fields in the contract's words, and entries made from rows."""

from collections.abc import Mapping
from typing import Any

import msgspec

from longline.model.callers.audit import AuditRow
from longline.surfaces.catalogue.field_types import Timestamp, time_text
from longline.surfaces.catalogue.jobs.job_statuses import RUN_WORDS, TASK_KEYS

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


def source_number(text: str) -> int | None:
    """Return the id of a source that a text may be."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def shown_entry(row: AuditRow) -> AuditEntry:
    """Return an entry in the words of the contract."""
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
