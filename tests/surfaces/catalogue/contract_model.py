"""A small model of the contract: its state after each request, and the answer that it expects to the next one."""

import itertools
import re
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Failure = tuple[int, str, str | None]
"""Status, code and text of an error; None for a text that the contract leaves open."""

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z")
NO_SOURCE: Failure = (404, "NOT_FOUND", "Source not found")
NO_COMIC: Failure = (404, "NOT_FOUND", "Comic not found")
NO_MAPPING: Failure = (404, "NOT_FOUND", None)
NO_JOB: Failure = (404, "NOT_FOUND", "Job not found")
INVALID: Failure = (400, "VALIDATION_ERROR", None)
NAME_TAKEN: Failure = (409, "CONFLICT", "A source with this name already exists")
SLUG_TAKEN: Failure = (409, "CONFLICT", "A source with this slug already exists")
LINKED: Failure = (409, "CONFLICT", "This comic is already linked to the specified source with this external ID")
DISABLED: Failure = (400, "VALIDATION_ERROR", "Source is disabled. Enable the source before triggering a job.")
NOT_LINKED: Failure = (
    400,
    "VALIDATION_ERROR",
    "Comic is not linked to this source (no comicsource mapping found).",
)
DUPLICATE: Failure = (409, "CONFLICT", "A job for this comic and source is already queued or running.")
FINISHED: Failure = (400, "VALIDATION_ERROR", "Job cannot be cancelled — it has already finished")
RUNNING_JOBS: Failure = (409, "CONFLICT", "Cannot delete a source with running jobs. Cancel all jobs first.")
OPEN = ("queued", "running")


@dataclass
class Catalogue:
    """Sources, comics, mappings, jobs and settings as the contract describes them, and the audit of their changes."""

    sources: dict[int, Json] = field(default_factory=dict)
    comics: dict[str, Json] = field(default_factory=dict)
    mappings: dict[int, Json] = field(default_factory=dict)
    jobs: dict[str, Json] = field(default_factory=dict)
    settings: dict[str, Json] = field(default_factory=dict)
    crons: dict[str, Json] = field(default_factory=dict)
    audit: list[tuple[str, str, str, str | None]] = field(default_factory=list)
    disabled: list[str] = field(default_factory=list)
    failing: set[int] = field(default_factory=set)
    is_paused: bool = False
    clock: Any = field(default_factory=lambda: itertools.count(1))

    def note(self, user: str, action: str, entity: object, reason: str | None = None) -> None:
        """Record an audit entry."""
        self.audit.append((user, action, str(entity), reason))

    # -- sources ----------------------------------------------------------------------------------------------

    def conflict(self, body: Json, own: int | None = None) -> Failure | None:
        """Return the conflict of a name or slug; the name is checked first."""
        others = [each for each in self.sources.values() if each["id"] != own]
        if any(each["name"] == body["name"].strip() for each in others if "name" in body):
            return NAME_TAKEN
        return SLUG_TAKEN if any(each["slug"] == body["slug"] for each in others if "slug" in body) else None

    def register(self, user: str, made: Json, body: Json) -> None:
        """Add a source that was made."""
        given: Json = {"extensionid": None, "config": {}, "isenabled": True} | body
        facts = {"consecutivefails": 0, "lastsucceededat": None, "lastfailedat": None}
        self.sources[made["id"]] = given | facts | {"id": made["id"], "name": body["name"].strip()}
        self.note(user, "source.create", made["id"])

    def change(self, user: str, source: Json, body: Json) -> None:
        """Change a source; a change from off to on forgets its failures."""
        wanted = body | ({"name": body["name"].strip()} if "name" in body else {})
        if all(source[name] == value for name, value in wanted.items()):
            return
        if wanted.get("isenabled") and not source["isenabled"]:
            source["consecutivefails"] = 0
        source.update(wanted)
        self._forget(source)
        self.note(user, "source.update", source["id"])

    def _forget(self, source: Json) -> None:
        """Drop the notification of a source that is enabled."""
        if source["isenabled"]:
            self.failing.discard(source["id"])

    @property
    def notified(self) -> list[Json]:
        """Return the sources that failures have disabled, by name."""
        found = sorted((self.sources[number]["name"], number) for number in self.failing)
        return [{"type": "source.autodisable", "level": "warning", "sourceid": number} for _, number in found]

    def switch(self, user: str, source: Json, *, on: bool, reason: str | None) -> None:
        """Enable or disable a source."""
        if source["isenabled"] != on:
            source.update({"isenabled": on} | ({"consecutivefails": 0} if on else {}))
            self._forget(source)
            self.note(user, "source.enable" if on else "source.disable", source["id"], reason)

    def deregister(self, user: str, source: Json, reason: str | None) -> None:
        """Delete a source with its mappings and jobs."""
        number = source["id"]
        del self.sources[number]
        self.failing.discard(number)
        self.mappings = {key: each for key, each in self.mappings.items() if each["sourceid"] != number}
        self.jobs = {key: each for key, each in self.jobs.items() if each["sourceid"] != number}
        self.note(user, "source.delete", number, reason)

    def health(self, source: Json) -> Json:
        """Return the health of a source."""
        jobs = [job for job in self.jobs.values() if job["sourceid"] == source["id"]]
        counts = {
            state: sum(job["status"] == state for job in jobs) for state in ("done", "failed", "running", "queued")
        }
        ended = [job for job in jobs if job["ended"]]
        last = max(ended, key=lambda job: job["ended"]) if ended else None
        return {
            **{name: source[name] for name in ("id", "name", "isenabled", "consecutivefails")},
            "lastsucceededat": source["lastsucceededat"],
            "lastfailedat": source["lastfailedat"],
            "jobs": {"total": len(jobs), **counts},
            "lastjob": None if last is None else last["id"],
        }

    # -- jobs -------------------------------------------------------------------------------------------------

    def refusal(self, body: Json) -> Failure | None:
        """Return the refusal of a trigger, by the order of checks."""
        source = self.sources.get(body["sourceid"])
        if source is None:
            return NO_SOURCE
        if not source["isenabled"]:
            return DISABLED
        comic = body.get("comicid")
        linked = [
            each for each in self.mappings.values() if (each["comicid"], each["sourceid"]) == (comic, source["id"])
        ]
        if comic is not None and not any(each["isactive"] for each in linked):
            return NOT_LINKED
        same = [job for job in self.jobs.values() if (job["sourceid"], job["comicid"]) == (source["id"], comic)]
        return DUPLICATE if any(job["status"] in OPEN for job in same) else None

    def trigger(self, user: str, made: Json, body: Json) -> None:
        """Add a job that was made."""
        facts = {"sourceid": body["sourceid"], "comicid": body.get("comicid"), "status": "queued", "triggeredby": user}
        times = {"scheduledat": made["scheduledat"], "ended": 0}
        self.jobs[made["id"]] = {"id": made["id"], "lasterror": None} | facts | times
        self.note(user, "job.trigger", made["id"])

    def cancel(self, user: str, job: Json, reason: str | None) -> None:
        """Cancel a job."""
        job.update(status="cancelled", ended=next(self.clock))
        self.note(user, "job.cancel", job["id"], reason)

    def end(self, job: Json, error: str | None, threshold: int) -> None:
        """End a running job, and update the health of its source."""
        source = self.sources[job["sourceid"]]
        job.update(status="failed" if error else "done", lasterror=error, ended=next(self.clock))
        if error is None:
            source.update(consecutivefails=0, lastsucceededat=TIME)
            for each in self.mappings.values():
                if (each["comicid"], each["sourceid"]) == (job["comicid"], job["sourceid"]) and each["isactive"]:
                    each["lastcrawlat"] = TIME
            return
        source.update(consecutivefails=source["consecutivefails"] + 1, lastfailedat=TIME)
        if source["isenabled"] and source["consecutivefails"] >= threshold:
            source["isenabled"] = False
            self.disabled.append(str(source["id"]))
            self.failing.add(source["id"])

    @property
    def threshold(self) -> int:
        """Return the failures in a row after which a source is disabled."""
        value = self.settings.get("crawler.disable_threshold", {}).get("value")
        return int(value) if value is not None and value.isdecimal() else 5


def same(told: Any, wanted: Any) -> bool:
    """Return true if an answer has all fields of the model's; `TIME` stands for any time."""
    if wanted is TIME:
        return isinstance(told, str) and TIME.fullmatch(told) is not None
    if isinstance(wanted, dict):
        return isinstance(told, dict) and all(name in told and same(told[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return len(told) == len(wanted) and all(map(same, told, wanted))
    return bool(told == wanted)
