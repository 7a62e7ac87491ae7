"""Random requests, valid and invalid, of all groups; every answer is compared with a model of the contract.

`python -m tests.surfaces.catalogue.random_requests sqlite 20000` runs a long form and prints its seed. Further engines
are `postgres`, and `redis` for PostgreSQL with the cache in Redis.
"""

import asyncio
import random
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from tests.servers import running_postgres, running_valkey
from tests.surfaces.catalogue.contract_model import (
    DUPLICATE,
    FINISHED,
    INVALID,
    LINKED,
    NO_COMIC,
    NO_JOB,
    NO_MAPPING,
    NO_SOURCE,
    RUNNING_JOBS,
    Catalogue,
    Failure,
    Json,
    same,
)
from tests.surfaces.catalogue.running import end_job, start_job, token
from tests.surfaces.products.running import Stage

REQUESTS_OF_A_USER = 40
"""Fewer requests than a user may send in a minute."""

UNKNOWN = "01963a7e-5b2c-7def-8123-456789abcdef"
NAMES = [f"Site {letter}" for letter in "ABCDEFGH"]
SLUGS = [f"site-{letter}" for letter in "abcdefgh"]
REASONS = [None, None, "because", "—"]
_DROP = object()

BAD_SOURCES: list[tuple[str, Any, str | None]] = [
    ("name", " ", None),
    ("name", "x" * 101, None),
    ("name", 5, None),
    ("slug", "Upper", None),
    ("slug", "", None),
    ("slug", "a" * 121, None),
    ("baseurl", "http://a.example", "BaseURL must be a valid HTTPS URL"),
    ("baseurl", "a.example", "BaseURL must be a valid HTTPS URL"),
    ("baseurl", "https://", "BaseURL must be a valid HTTPS URL"),
    ("extensionid", "nodots", None),
    ("extensionid", "a." + "b" * 200, None),
    ("config", [1], None),
    ("config", "x", None),
    ("config", None, None),
    ("isenabled", "true", None),
    ("isenabled", 1, None),
    ("baseUrl", "https://a.example", None),
    ("consecutivefails", 3, None),
]


class Disagreement(AssertionError):
    """An answer that the contract does not give."""


class RandomAdmin:
    """A client that sends random requests, and a model that predicts the answers."""

    def __init__(self, stage: Stage, client: httpx.AsyncClient, seed: int) -> None:
        self.stage, self.client, self.model = stage, client, Catalogue()
        self.random = random.Random(seed)
        self.sent, self.user, self.said = 0, "", ""
        self.users: list[str] = []
        self._left = 0
        self._prefix = f"r{seed}-"

    # -- requests ---------------------------------------------------------------------------------------------

    async def send(self, method: str, path: str, body: Any = None, **params: Any) -> httpx.Response:
        """Send a request of the present user."""
        if self._left == 0:
            self._left, self.user = REQUESTS_OF_A_USER, f"{self._prefix}{len(self.users)}"
            self.users.append(self.user)
            self.client.headers["Authorization"] = f"Bearer {token(self.stage, user=self.user)}"
        self._left -= 1
        self.sent += 1
        self.said = f"{method} {path} {body} {params}"
        return await self.client.request(method, f"/api/v1/admin/{path}", json=body, params=params)

    def check(self, answer: httpx.Response, wanted: Any) -> None:
        """Raise `Disagreement` for an answer without the expected status and fields."""
        if not wanted:
            raise Disagreement(f"{self.said}: {answer.status_code} {answer.text[:500]}")

    def failed(self, answer: httpx.Response, failure: Failure, field: str | None = None) -> None:
        """Check an error."""
        told = answer.json()
        self.check(answer, (answer.status_code, told.get("code")) == failure[:2])
        self.check(answer, failure[2] is None or told["error"] == failure[2])
        self.check(answer, field is None or field in [each["field"] for each in told.get("details", ())])

    def data(self, answer: httpx.Response, wanted: Json | list[Json], status: int = 200) -> Any:
        """Check the data of a success, and return it."""
        self.check(answer, answer.status_code == status)
        told = answer.json()["data"]
        self.check(answer, same(told, wanted))
        return told

    def flip(self, chance: float) -> bool:
        """Return True with a chance."""
        return self.random.random() < chance

    # -- sources ----------------------------------------------------------------------------------------------

    def any_source(self) -> tuple[int, Json | None]:
        """Return the id of a source, known or not, and the source."""
        if self.model.sources and self.flip(0.9):
            number = self.random.choice(sorted(self.model.sources))
            return number, self.model.sources[number]
        return 999_999, None

    def source_body(self) -> Json:
        """Return a valid source."""
        at = self.random.randrange(len(NAMES))
        slug = SLUGS[at] if self.flip(0.8) else self.random.choice(SLUGS)
        body: Json = {"name": NAMES[at], "slug": slug, "baseurl": f"https://{slug}.example"}
        if self.flip(0.5):
            body["config"] = {self.random.choice(["ratelimit", "delay"]): self.random.randint(1, 5)}
        if self.flip(0.2):
            body["isenabled"] = self.flip(0.5)
        if self.flip(0.2):
            body["extensionid"] = self.random.choice([None, "com.example.site"])
        return body

    async def register(self) -> None:
        body = self.source_body()
        if self.flip(0.3):
            name, value, text = self.random.choice(BAD_SOURCES)
            answer = await self.send("POST", "crawler/sources", body | {name: value})
            return self.failed(answer, (400, "VALIDATION_ERROR", text), name)
        if self.flip(0.05):
            refused = {"extensionid": "longline.extension.selectors", "config": {"ratelimit": 2}}
            return self.failed(await self.send("POST", "crawler/sources", body | refused), INVALID, "config")
        if self.flip(0.1):
            name = self.random.choice(["name", "slug", "baseurl"])
            answer = await self.send("POST", "crawler/sources", {k: v for k, v in body.items() if k != name})
            return self.failed(answer, INVALID, name)
        answer = await self.send("POST", "crawler/sources", body)
        if taken := self.model.conflict(body):
            return self.failed(answer, taken)
        made = self.data(answer, body, 201)
        return self.model.register(self.user, made, body)

    async def change_source(self) -> None:
        number, source = self.any_source()
        if self.flip(0.2):
            name, value, text = self.random.choice(BAD_SOURCES)
            answer = await self.send("PATCH", f"crawler/sources/{number}", {name: value})
            return self.failed(answer, (400, "VALIDATION_ERROR", text), name)
        whole = self.source_body() | {"isenabled": self.flip(0.7)}
        body = {name: value for name, value in whole.items() if self.flip(0.4)}
        mode = self.random.choice([{}, {}, {"configmode": "replace"}, {"configmode": "merge"}, {"configmode": "odd"}])
        answer = await self.send("PATCH", f"crawler/sources/{number}", body, **mode)
        if mode.get("configmode") == "odd":
            return self.failed(answer, INVALID, "configmode")
        if source is None:
            return self.failed(answer, NO_SOURCE)
        if mode.get("configmode") == "merge" and "config" in body:
            body["config"] = source["config"] | body["config"]
        if taken := self.model.conflict(body, number):
            return self.failed(answer, taken)
        self.model.change(self.user, source, body)
        self.data(answer, source)
        return None

    async def switch(self) -> None:
        number, source = self.any_source()
        if self.flip(0.2):
            wrong = self.random.choice([{}, {"isenabled": "no"}, {"isenabled": None}, {"isenabled": True, "x": 1}])
            return self.failed(await self.send("PATCH", f"crawler/sources/{number}/enable", wrong), INVALID)
        on, reason = self.flip(0.7), self.random.choice(REASONS)
        answer = await self.send("PATCH", f"crawler/sources/{number}/enable", {"isenabled": on, "reason": reason})
        if source is None:
            return self.failed(answer, NO_SOURCE)
        self.model.switch(self.user, source, on=on, reason=reason)
        told = self.data(answer, {"id": number, "name": source["name"], "isenabled": on})
        return self.check(answer, set(told) == {"id", "name", "isenabled", "updatedat"})

    async def deregister(self) -> None:
        number, source = self.any_source()
        reason = self.random.choice(REASONS)
        answer = await self.send("DELETE", f"crawler/sources/{number}", {"reason": reason} if reason else None)
        if source is None:
            return self.failed(answer, NO_SOURCE)
        if any(job["status"] == "running" for job in self.model.jobs.values() if job["sourceid"] == number):
            return self.failed(answer, RUNNING_JOBS)
        self.check(answer, (answer.status_code, answer.content) == (204, b""))
        return self.model.deregister(self.user, source, reason)

    async def read_source(self) -> None:
        number, source = self.any_source()
        answer = await self.send("GET", f"crawler/sources/{number}")
        return self.failed(answer, NO_SOURCE) if source is None else void(self.data(answer, source))

    async def read_health(self) -> None:
        number, source = self.any_source()
        answer = await self.send("GET", f"crawler/sources/{number}/health")
        if source is None:
            return self.failed(answer, NO_SOURCE)
        wanted = self.model.health(source)
        last = wanted.pop("lastjob")
        told = self.data(answer, wanted)
        return self.check(answer, (told["lastjob"] or {}).get("id") == last)

    async def list_sources(self) -> None:
        params: Json = {}
        if self.flip(0.3):
            params["isenabled"] = self.random.choice(["true", "false"])
        if self.flip(0.3):
            params["q"] = self.random.choice(["site", "SITE A", "b", "_", "%"])
        if self.flip(0.1):
            return self.failed(await self.send("GET", "crawler/sources", isenabled="1"), INVALID, "isenabled")
        params |= self.random.choice([{}, {"limit": 2, "page": 2}, {"limit": 0}, {"limit": 1000}, {"page": "x"}])
        answer = await self.send("GET", "crawler/sources", **params)
        found = [
            source
            for source in sorted(self.model.sources.values(), key=lambda each: (each["name"], each["id"]))
            if params.get("q", "").lower() in source["name"].lower()
            and params.get("isenabled") in (None, str(source["isenabled"]).lower())
        ]
        return self.page(answer, found, params)

    def page(self, answer: httpx.Response, found: list[Json], params: Json) -> None:
        """Check one page of a list."""
        asked: int = params.get("limit", 50)
        limit = {0: 50, 1000: 200}.get(asked, asked)
        page = params["page"] if isinstance(params.get("page"), int) else 1
        meta = {"total": len(found), "page": page, "limit": limit, "pages": -(-len(found) // limit)}
        self.data(answer, found[(page - 1) * limit : page * limit])
        self.check(answer, answer.json()["meta"] == meta)

    # -- comics and mappings ----------------------------------------------------------------------------------

    def any_comic(self) -> tuple[str, Json | None]:
        """Return the id of a comic, known or not, and the comic."""
        if self.model.comics and self.flip(0.9):
            key = self.random.choice(sorted(self.model.comics))
            return key, self.model.comics[key]
        return UNKNOWN, None

    async def make_comic(self) -> None:
        if len(self.model.comics) > 8 or self.flip(0.3):
            return self.failed(
                await self.send("POST", "comics", self.random.choice([{}, {"title": " "}])), INVALID, "title"
            )
        body = {"title": f"Comic {self.random.randrange(10**9)}"}
        made = self.data(await self.send("POST", "comics", body), body, 201)
        self.model.comics[made["id"]] = body | {"id": made["id"]}
        return self.model.note(self.user, "comic.create", made["id"])

    async def link(self) -> None:
        comic_id, comic = self.any_comic()
        number, source = self.any_source()
        body: Json = {
            "sourceid": number,
            "sourceid_ext": f"x{self.random.randrange(6)}",
            "sourceurl": "https://a.example/1",
        }
        if self.flip(0.3):
            body["isactive"] = self.flip(0.5)
        if self.flip(0.2):
            name, value, text = self.random.choice(
                [
                    ("sourceurl", "http://a.example", "SourceURL must be a valid HTTPS URL"),
                    ("sourceid_ext", " ", None),
                    ("sourceid", "x", None),
                    ("isactive", "yes", None),
                    ("sourceId", 1, None),
                ]
            )
            answer = await self.send("POST", f"comics/{comic_id}/sources", body | {name: value})
            return self.failed(answer, (400, "VALIDATION_ERROR", text), name)
        answer = await self.send("POST", f"comics/{comic_id}/sources", body)
        if comic is None:
            return self.failed(answer, NO_COMIC)
        if source is None:
            return self.failed(answer, NO_SOURCE)
        if self.linked(number, body["sourceid_ext"]):
            return self.failed(answer, LINKED)
        wanted = {"comicid": comic_id, "isactive": True, "lastcrawlat": None} | body
        shown = {name: source[name] for name in ("id", "name", "slug", "baseurl")}
        made = self.data(answer, wanted | {"source": shown}, 201)
        self.model.mappings[made["id"]] = wanted | {"id": made["id"]}
        return self.model.note(self.user, "comicsource.create", made["id"])

    def linked(self, source_id: int, external: str, own: int | None = None) -> bool:
        """Return whether a source has an external id already."""
        return any(
            (each["sourceid"], each["sourceid_ext"]) == (source_id, external) and each["id"] != own
            for each in self.model.mappings.values()
        )

    def any_mapping(self) -> tuple[str, Json | None]:
        """Return the path of a mapping, of the right comic or of another one, and the mapping if it is right."""
        if self.model.mappings and self.flip(0.9):
            mapping = self.model.mappings[self.random.choice(sorted(self.model.mappings))]
            comic_id = mapping["comicid"] if self.flip(0.85) else self.any_comic()[0]
            return f"comics/{comic_id}/sources/{mapping['id']}", mapping if comic_id == mapping["comicid"] else None
        return f"comics/{self.any_comic()[0]}/sources/987654", None

    async def change_mapping(self) -> None:
        path, mapping = self.any_mapping()
        if self.flip(0.2):
            wrong: Json = self.random.choice(
                [{"sourceid": 1}, {"sourceurl": "ftp://x"}, {"isactive": 3}, {"sourceid_ext": ""}]
            )
            return self.failed(await self.send("PATCH", path, wrong), INVALID, next(iter(wrong)))
        whole: Json = {
            "sourceid_ext": f"x{self.random.randrange(6)}",
            "sourceurl": "https://b.example/",
            "isactive": self.flip(0.6),
        }
        body = {name: value for name, value in whole.items() if self.flip(0.5)}
        answer = await self.send("PATCH", path, body)
        if mapping is None:
            return self.failed(answer, NO_MAPPING)
        if "sourceid_ext" in body and self.linked(mapping["sourceid"], body["sourceid_ext"], mapping["id"]):
            return self.failed(answer, LINKED)
        if any(mapping[name] != value for name, value in body.items()):
            mapping.update(body)
            self.model.note(self.user, "comicsource.update", mapping["id"])
        self.data(answer, mapping)
        return None

    async def unlink(self) -> None:
        path, mapping = self.any_mapping()
        answer = await self.send("DELETE", path)
        if mapping is None:
            return self.failed(answer, NO_MAPPING)
        self.check(answer, answer.status_code == 204)
        del self.model.mappings[mapping["id"]]
        return self.model.note(self.user, "comicsource.delete", mapping["id"])

    async def list_mappings(self) -> None:
        comic_id, comic = self.any_comic()
        answer = await self.send("GET", f"comics/{comic_id}/sources")
        if comic is None:
            return self.failed(answer, NO_COMIC)
        found = [each for _, each in sorted(self.model.mappings.items()) if each["comicid"] == comic_id]
        self.data(answer, found)
        return self.check(answer, set(answer.json()) == {"data"})

    # -- jobs -------------------------------------------------------------------------------------------------

    def any_job(self) -> tuple[str, Json | None]:
        """Return the id of a job, known or not, and the job."""
        if self.model.jobs and self.flip(0.9):
            key = self.random.choice(sorted(self.model.jobs))
            return key, self.model.jobs[key]
        return UNKNOWN, None

    async def trigger(self) -> None:
        number, _ = self.any_source()
        body: Json = {"sourceid": number, "scheduledat": f"2099-01-{self.random.randint(1, 28):02}T00:00:00.000Z"}
        if self.flip(0.5):
            body["comicid"] = self.any_comic()[0]
        if self.flip(0.15):
            wrong: Json = self.random.choice(
                [{"sourceid": None}, {"comicid": "x"}, {"scheduledat": "2099-01-01T00:00:00"}, {"sourceId": 1}]
            )
            answer = await self.send("POST", "crawler/jobs", body | wrong)
            return self.failed(answer, INVALID, next(iter(wrong)))
        answer = await self.send("POST", "crawler/jobs", body)
        if refused := self.model.refusal(body):
            return self.failed(answer, refused)
        wanted = {"comicid": None, "status": "queued", "triggeredby": self.user, "pagescount": 0} | body
        made = self.data(answer, wanted, 201)
        return self.model.trigger(self.user, made, body)

    async def cancel(self) -> None:
        key, job = self.any_job()
        reason = self.random.choice(REASONS)
        answer = await self.send("PATCH", f"crawler/jobs/{key}/cancel", {"reason": reason} if reason else None)
        if job is None:
            return self.failed(answer, NO_JOB)
        if job["status"] not in ("queued", "running"):
            return self.failed(answer, FINISHED)
        self.model.cancel(self.user, job, reason)
        told = self.data(answer, {"id": key, "status": "cancelled"})
        return self.check(answer, set(told) == {"id", "status", "updatedat"})

    async def read_job(self) -> None:
        key, job = self.any_job()
        answer = await self.send("GET", f"crawler/jobs/{key}")
        return self.failed(answer, NO_JOB) if job is None else void(self.data(answer, self.shown(job)))

    def shown(self, job: Json) -> Json:
        """Return a job as the contract shows it."""
        source = self.model.sources[job["sourceid"]]
        facts = {name: value for name, value in job.items() if name != "ended"}
        return facts | {"source": {name: source[name] for name in ("id", "name", "slug")}}

    async def list_jobs(self) -> None:
        params: Json = {}
        if self.flip(0.5):
            params["status"] = self.random.choice(["queued", "queued,running", ["done", "failed"], "cancelled"])
        if self.flip(0.3):
            params["sourceid"] = self.any_source()[0]
        if self.flip(0.2):
            params["comicid"] = self.any_comic()[0]
        if self.flip(0.2):
            params["triggeredby"] = self.random.choice(["admin", "scheduler"])
        if self.flip(0.2):
            params["since"] = "2099-01-14T00:00:00Z"
        if self.flip(0.1):
            wrong = self.random.choice([{"status": "odd"}, {"sort": "id"}, {"triggeredby": "me"}, {"since": "x"}])
            return self.failed(await self.send("GET", "crawler/jobs", **params | wrong), INVALID, next(iter(wrong)))
        params |= self.random.choice([{}, {"limit": 3, "page": 2}, {"limit": 0}, {"limit": 1000}])
        answer = await self.send("GET", "crawler/jobs", **params)
        return self.page(answer, [self.shown(job) for job in self.chosen(params)], params)

    def chosen(self, params: Json) -> list[Json]:
        """Return the jobs of a query in their order."""
        status = params.get("status")
        states = status.split(",") if isinstance(status, str) else status
        found = [
            job
            for job in self.model.jobs.values()
            if (states is None or job["status"] in states)
            and params.get("sourceid") in (None, job["sourceid"])
            and params.get("comicid") in (None, job["comicid"])
            and params.get("triggeredby") != "scheduler"
            and job["scheduledat"] > params.get("since", "").replace("Z", ".000Z")
        ]
        return sorted(found, key=lambda job: (job["scheduledat"], job["id"]), reverse=True)

    async def work(self) -> None:
        """Let a job start or end, as a worker would."""
        able = [job for job in self.model.jobs.values() if job["status"] in ("queued", "running")]
        if not able:
            return
        job = self.random.choice(able)
        if job["status"] == "queued":
            await start_job(self.stage, job["id"])
            job["status"] = "running"
            return
        error = "it broke" if self.flip(0.7) else None
        await end_job(self.stage, job["id"], error)
        self.model.end(job, error, self.model.threshold)

    async def race(self) -> None:
        """Trigger the same job several times at once."""
        number, source = self.any_source()
        body = {"sourceid": number, "scheduledat": "2099-02-01T00:00:00.000Z"}
        if source is None or self.model.refusal(body) or self._left < 5:
            return
        answers = await asyncio.gather(*(self.send("POST", "crawler/jobs", body) for _ in range(4)))
        good = [answer for answer in answers if answer.status_code == 201]
        self.check(answers[0], len(good) == 1)
        for answer in answers:
            if answer is not good[0]:
                self.failed(answer, DUPLICATE)
        self.model.trigger(self.user, good[0].json()["data"], body)

    # -- settings, pause, batch -------------------------------------------------------------------------------

    async def setting(self) -> None:
        key = self.random.choice(["crawler.disable_threshold", "site.name", "crawler.max_retries", "Bad", "nodot"])
        known, verb = self.model.settings.get(key), self.random.choice(["GET", "PUT", "PUT", "DELETE"])
        body = {"value": self.random.choice(["2", "3", "5", "x", None])} if verb == "PUT" else None
        answer = await self.send(verb, f"settings/{key}", body)
        if verb == "PUT" and "." not in key:
            text = "Key must follow dot-notation format (e.g. site.name)"
            return self.failed(answer, (400, "VALIDATION_ERROR", text))
        if verb != "PUT" and known is None:
            return self.failed(answer, (404, "NOT_FOUND", "Setting not found"))
        if verb == "DELETE":
            self.check(answer, answer.status_code == 204)
            del self.model.settings[key]
            return self.model.note(self.user, "setting.delete", key)
        if verb == "PUT" and body is not None and (known or {}).get("value", _DROP) != body["value"]:
            self.model.settings[key] = {"key": key, **body}
            self.model.note(self.user, "setting.update", key)
        self.data(answer, self.model.settings[key])
        return None

    async def pause(self) -> None:
        wants, reason = self.flip(0.5), self.random.choice(REASONS)
        answer = await self.send("POST", f"crawler/{'pause' if wants else 'resume'}", {"reason": reason})
        self.data(answer, {"ispaused": wants})
        if wants != self.model.is_paused:
            self.model.is_paused = wants
            self.model.note(self.user, f"crawler.{'pause' if wants else 'resume'}", "series", reason)
        self.data(await self.send("GET", "crawler/pause"), {"ispaused": wants})

    async def batch(self) -> None:
        key = self.random.choice(["crawler.partition", "crawler.archive", "crawler.odd"])
        cron = self.random.choice(["35 0 1 * *", "0 5 * * 1", "99 * * * *", "often"])
        answer = await self.send("PATCH", "batch/schedule", {"jobkey": key, "cron": cron})
        if key == "crawler.odd":
            return self.failed(answer, (404, "NOT_FOUND", "Unknown job key"))
        if cron in ("99 * * * *", "often"):
            return self.failed(answer, (400, "VALIDATION_ERROR", "Invalid cron expression"))
        wanted = {"jobkey": key, "cron": cron, "isenabled": True}
        self.data(answer, wanted)
        if self.model.crons.get(key) != wanted:
            self.model.crons[key] = wanted
            self.model.note(self.user, "batchschedule.update", key)
        return None

    async def notified(self) -> None:
        self.data(await self.send("GET", "notifications"), self.model.notified)

    async def reset_stuck(self) -> None:
        self.data(await self.send("POST", "crawler/jobs/reset-stuck"), {"count": 0, "failed": [], "jobs": []})

    async def stranger(self) -> None:
        """Send requests that no admin sends."""
        role = self.random.choice(["moderator", "member"])
        bearer = {"Authorization": f"Bearer {token(self.stage, role, f'{self._prefix}s{self.sent}')}"}
        answer = await self.client.post("/api/v1/admin/crawler/sources", json={"bad": 1}, headers=bearer)
        self.failed(answer, (403, "FORBIDDEN", "Insufficient permissions"))
        answer = await self.send(self.random.choice(["PUT", "DELETE"]), "crawler/sources")
        self.check(answer, answer.status_code == 405)
        self.check(answer, (await self.send("GET", "crawler/odd")).status_code == 404)

    # -- all --------------------------------------------------------------------------------------------------

    async def run(self, requests: int) -> None:
        """Send so many requests, then compare the audit."""
        kinds = [
            *[self.register, self.change_source, self.switch, self.read_source, self.read_health] * 2,
            *[self.list_sources, self.make_comic, self.link, self.link, self.change_mapping, self.list_mappings],
            *[self.trigger, self.trigger, self.cancel, self.read_job, self.list_jobs, self.setting, self.work] * 2,
            *[self.work] * 6,
            *[self.unlink, self.deregister, self.race, self.pause, self.batch, self.reset_stuck],
            *[self.stranger, self.notified, self.notified],
        ]
        while self.sent < requests:
            await self.random.choice(kinds)()
        await self.compare_audit()

    async def compare_audit(self) -> None:
        """Compare the audit entries of every user, and those of the platform, with the model's."""
        wanted, users = self.model.audit, list(self.users)
        for user in users:
            answer = await self.send("GET", "auditlog", actorid=user, limit=500)
            told = [(e["actorid"], e["action"], e["entityid"], e["reason"]) for e in answer.json()["data"]][::-1]
            self.check(answer, told == [each for each in wanted if each[0] == user])
        answer = await self.send("GET", "auditlog", action="source.autodisable", limit=500)
        told_off = [e["entityid"] for e in answer.json()["data"] if e["actor"] is None][::-1]
        count = len(self.model.disabled)
        self.check(answer, told_off[-min(count, 500) :] == self.model.disabled[-500:] if count else True)


def void(_: object) -> None:
    """Return nothing."""


async def drive(stage: Stage, seed: int, requests: int) -> RandomAdmin:
    """Send random requests to a server, and return the client with its model."""
    async with httpx.AsyncClient(base_url=stage.address, verify=False, timeout=60) as client:
        admin = RandomAdmin(stage, client, seed)
        await admin.run(requests)
        return admin


def main(engine: str, requests: str, seed: str = "") -> None:
    """Run the long form, and print its seed first."""
    number = int(seed) if seed else random.SystemRandom().randrange(10**9)
    print(f"engine {engine}, {requests} requests, seed {number}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if engine == "sqlite":
            _run(Stage(Path(folder)), number, int(requests))
            return
        with ExitStack() as stack:
            url = stack.enter_context(stack.enter_context(running_postgres()).fresh_database())
            redis = stack.enter_context(running_valkey()).url if engine == "redis" else ""
            _run(Stage(Path(folder), url, redis=redis), number, int(requests))


def _run(stage: Stage, seed: int, requests: int) -> None:
    try:
        stage.empty()  # the model begins without settings
        admin = asyncio.run(drive(stage, seed, requests))
        model = admin.model
        print(f"{admin.sent} requests of {len(admin.users)} users, {len(model.audit)} changes audited,")
        print(f"{len(model.disabled)} sources disabled by failures; every answer agrees with the model")
    finally:
        stage.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
