"""Sources of the catalogue: S1 to S7 of the contract."""

import asyncio
from typing import Any

import msgspec
import pytest

from tests.surfaces.catalogue.running import Admin, Json, data, error, fields

FIELDS = {
    *("id", "name", "slug", "baseurl", "extensionid", "config", "isenabled", "lastsucceededat", "lastfailedat"),
    *("consecutivefails", "createdat", "updatedat"),
}
GOOD = {"name": "Site", "slug": "site", "baseurl": "https://site.example"}


async def test_a_registered_source(admin: Admin):
    config = {"ratelimit": 2, "headers": {"X": "y"}}
    made = await admin.source("Example Site", extensionid="com.example.extension.site", config=config)
    assert set(made) == FIELDS
    assert made["id"] >= 100000
    assert (made["name"], made["slug"]) == ("Example Site", "example-site")
    assert (made["extensionid"], made["config"], made["isenabled"]) == ("com.example.extension.site", config, True)
    assert (made["lastsucceededat"], made["lastfailedat"], made["consecutivefails"]) == (None, None, 0)
    assert made["createdat"].endswith("Z")
    assert await admin.get(f"crawler/sources/{made['id']}") == made


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": None}, "name"),
        ({"name": "   "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": 7}, "name"),
        ({"slug": "Upper"}, "slug"),
        ({"slug": "x" * 121}, "slug"),
        ({"slug": ""}, "slug"),
        ({"extensionid": "nodots"}, "extensionid"),
        ({"extensionid": "a." + "b" * 200}, "extensionid"),
        ({"config": []}, "config"),
        ({"config": "x"}, "config"),
        ({"config": None}, "config"),
        ({"isenabled": "true"}, "isenabled"),
        ({"baseUrl": "https://site.example"}, "baseUrl"),
        ({"unknown": 1}, "unknown"),
    ],
)
async def test_fields_that_break_a_rule(admin: Admin, change: Json, field: str):
    answer = await admin.ask("POST", "crawler/sources", GOOD | change)
    assert error(answer)[:2] == (400, "VALIDATION_ERROR")
    assert fields(answer) == [field]
    assert await admin.audit() == []


@pytest.mark.parametrize("missing", ["name", "slug", "baseurl"])
async def test_required_fields(admin: Admin, missing: str):
    answer = await admin.ask("POST", "crawler/sources", {name: GOOD[name] for name in GOOD if name != missing})
    assert error(answer) == (400, "VALIDATION_ERROR", f"{missing} is required")


@pytest.mark.parametrize("url", ["http://site.example", "site.example", "https://", "/path", "ftp://x.example", ""])
async def test_acceptance_02_base_urls_are_https(admin: Admin, url: str):
    answer = await admin.ask("POST", "crawler/sources", GOOD | {"baseurl": url})
    assert error(answer) == (400, "VALIDATION_ERROR", "BaseURL must be a valid HTTPS URL")


async def test_acceptance_01_a_taken_name_comes_before_a_taken_slug(admin: Admin):
    await admin.source("Site")
    both = await admin.ask("POST", "crawler/sources", GOOD)
    assert error(both) == (409, "CONFLICT", "A source with this name already exists")
    slug = await admin.ask("POST", "crawler/sources", GOOD | {"name": "Other"})
    assert error(slug) == (409, "CONFLICT", "A source with this slug already exists")


async def test_racing_registrations_end_in_the_same_texts(admin: Admin):
    answers = await asyncio.gather(*(admin.ask("POST", "crawler/sources", GOOD) for _ in range(8)))
    refused = [answer for answer in answers if answer.status_code != 201]
    assert len(refused) == 7
    assert {error(answer) for answer in refused} == {(409, "CONFLICT", "A source with this name already exists")}


async def test_lists(admin: Admin):
    for name in ("Beta", "alpha", "Gamma ray"):
        await admin.source(name)
    await admin.source("Off", isenabled=False)
    found, meta = await admin.page("crawler/sources")
    assert sorted(each["name"] for each in found) == ["Beta", "Gamma ray", "Off", "alpha"]
    assert meta == {"total": 4, "page": 1, "limit": 50, "pages": 1}
    found, meta = await admin.page("crawler/sources", isenabled="false")
    assert [each["name"] for each in found] == ["Off"]
    found, meta = await admin.page("crawler/sources", q="MA R")
    assert [each["name"] for each in found] == ["Gamma ray"]
    found, meta = await admin.page("crawler/sources", q="example")
    assert (found, meta["pages"]) == ([], 0)  # a part of the name, not of the URL
    found, meta = await admin.page("crawler/sources", page=2, limit=3)
    assert (len(found), meta) == (1, {"total": 4, "page": 2, "limit": 3, "pages": 2})


@pytest.mark.parametrize(("sent", "used"), [("1000", 200), ("0", 50), ("-3", 50), ("abc", 50), ("200", 200)])
async def test_limits_are_clamped(admin: Admin, sent: str, used: int):
    _, meta = await admin.page("crawler/sources", limit=sent)
    assert meta["limit"] == used


@pytest.mark.parametrize("sent", ["0", "-1", "x", "1.5"])
async def test_odd_pages_are_the_first(admin: Admin, sent: str):
    _, meta = await admin.page("crawler/sources", page=sent)
    assert meta["page"] == 1


@pytest.mark.parametrize("value", ["yes", "1", "TRUE"])
async def test_booleans_are_true_or_false(admin: Admin, value: str):
    assert error(await admin.ask("GET", "crawler/sources", isenabled=value))[:2] == (400, "VALIDATION_ERROR")


async def test_unknown_sources(admin: Admin):
    assert error(await admin.ask("GET", "crawler/sources/999999")) == (404, "NOT_FOUND", "Source not found")
    assert error(await admin.ask("GET", "crawler/sources/abc"))[:2] == (400, "VALIDATION_ERROR")
    assert error(await admin.ask("PATCH", "crawler/sources/999999", {"name": "x"}))[0] == 404
    assert error(await admin.ask("DELETE", "crawler/sources/999999"))[0] == 404
    assert error(await admin.ask("GET", "crawler/sources/999999/health"))[0] == 404


async def test_acceptance_13_a_config_is_replaced_whole(admin: Admin):
    made = await admin.source(config={"a": 1, "b": 2})
    changed = data(await admin.ask("PATCH", f"crawler/sources/{made['id']}", {"config": {"b": 3}}))
    assert changed["config"] == {"b": 3}


async def test_changes(admin: Admin):
    made = await admin.source(extensionid="com.example.one")
    await admin.source("Other")
    path = f"crawler/sources/{made['id']}"
    changed = data(await admin.ask("PATCH", path, {"name": " New ", "slug": "new", "extensionid": None}))
    assert (changed["name"], changed["slug"], changed["extensionid"]) == ("New", "new", None)
    taken = await admin.ask("PATCH", path, {"name": "Other", "slug": "other"})
    assert error(taken) == (409, "CONFLICT", "A source with this name already exists")
    taken = await admin.ask("PATCH", path, {"slug": "other"})
    assert error(taken) == (409, "CONFLICT", "A source with this slug already exists")
    own = await admin.ask("PATCH", path, {"name": "New", "slug": "new"})
    assert own.status_code == 200
    bad = await admin.ask("PATCH", path, {"baseurl": "http://x.example"})
    assert error(bad)[2] == "BaseURL must be a valid HTTPS URL"


async def test_a_change_of_nothing_is_not_audited(admin: Admin):
    made = await admin.source()
    answer = data(await admin.ask("PATCH", f"crawler/sources/{made['id']}", {}))
    assert {**answer, "updatedat": ""} == {**made, "updatedat": ""}
    assert [entry["action"] for entry in await admin.audit()] == ["source.create"]


async def test_the_switch(admin: Admin):
    made = await admin.source()
    path = f"crawler/sources/{made['id']}/enable"
    off = data(await admin.ask("PATCH", path, {"isenabled": False, "reason": "maintenance"}))
    assert set(off) == {"id", "name", "isenabled", "updatedat"}
    assert off["isenabled"] is False
    on = data(await admin.ask("PATCH", path, {"isenabled": True}))
    assert on["isenabled"] is True
    actions = [(entry["action"], entry["reason"]) for entry in await admin.audit()]
    assert actions == [("source.create", None), ("source.disable", "maintenance"), ("source.enable", None)]


async def test_the_audit_of_a_source_is_found_by_its_id(admin: Admin):
    made, other = await admin.source(), await admin.source("Other")
    path = f"crawler/sources/{made['id']}"
    await admin.ask("PATCH", path, {"config": {"a": 1}})
    await admin.ask("PATCH", f"{path}/enable", {"isenabled": False})
    [shown] = [
        each for each in (await admin.client.get("/api/v1/sources")).json()["sources"] if each["name"] == "Example"
    ]
    answer = await admin.client.patch(f"/api/v1/sources/{shown['id']}/enable", json={})
    assert answer.status_code == 200, answer.text
    await admin.ask("DELETE", path)
    actions = ["source.create", "source.update", "source.disable", "source.enable", "source.delete"]
    for choice in ({"entityid": made["id"]}, {"entityid": made["id"], "entitytype": "source"}):
        found, meta = await admin.page("auditlog", **choice)
        assert [entry["action"] for entry in found][::-1] == actions
        assert {entry["entityid"] for entry in found} == {str(made["id"])}
        assert meta["total"] == 5
    [entry], _ = await admin.page("auditlog", entityid=other["id"])
    assert (entry["action"], await admin.get(f"auditlog/{entry['id']}")) == ("source.create", entry)


async def _fail_often(admin: Admin, source: Json) -> None:
    """Let a source be disabled as after five failures."""
    records = admin.stage.platform.records

    async def work() -> None:
        row = await records.sources.get(source["id"])
        assert row is not None
        await records.sources.change(msgspec.structs.replace(row, failures=5, enabled=False))

    admin.stage.call(work())


async def test_every_way_to_enable_a_source_forgets_its_failures(admin: Admin):
    made = await admin.source()
    path = f"crawler/sources/{made['id']}"
    [shown] = (await admin.client.get("/api/v1/sources")).json()["sources"]
    ways: list[tuple[str, str, Json]] = [
        ("PATCH", f"/api/v1/admin/{path}/enable", {"isenabled": True}),
        ("PATCH", f"/api/v1/admin/{path}", {"isenabled": True}),
        ("PATCH", f"/api/v1/sources/{shown['id']}/enable", {}),
        ("PUT", f"/api/v1/sources/{shown['id']}", {"name": shown["name"], "url": shown["url"], "enabled": True}),
        ("POST", f"/api/admin/domains/{made['id']}/enable", {}),
        ("PATCH", f"/api/admin/domains/{made['id']}", {"is_active": True}),
    ]
    for method, way, body in ways:
        await _fail_often(admin, made)
        found = await admin.get(path)
        assert (found["consecutivefails"], found["isenabled"]) == (5, False)
        answer = await admin.client.request(method, way, json=body)
        assert answer.status_code == 200, (way, answer.text)
        found = await admin.get(path)
        assert (found["consecutivefails"], found["isenabled"]) == (0, True), way


@pytest.mark.parametrize("body", [{}, {"isenabled": None}, {"isenabled": "no"}, {"reason": "x"}])
async def test_the_switch_needs_a_boolean(admin: Admin, body: Any):
    made = await admin.source()
    answer = await admin.ask("PATCH", f"crawler/sources/{made['id']}/enable", body)
    assert error(answer)[:2] == (400, "VALIDATION_ERROR")


async def test_health_of_a_source_without_jobs(admin: Admin):
    made = await admin.source()
    health = await admin.get(f"crawler/sources/{made['id']}/health")
    assert health["jobs"] == {"total": 0, "done": 0, "failed": 0, "running": 0, "queued": 0}
    assert health["lastjob"] is None
    assert set(health) == {
        *("id", "name", "isenabled", "consecutivefails", "lastsucceededat", "lastfailedat", "jobs", "lastjob")
    }


async def test_acceptance_03_deletion_cancels_queued_jobs(admin: Admin):
    made = await admin.source()
    comic = await admin.comic()
    await admin.mapping(comic, made)
    job = await admin.job(made, scheduledat="2099-01-01T00:00:00Z")
    answer = await admin.ask("DELETE", f"crawler/sources/{made['id']}", {"reason": "gone"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert error(await admin.ask("GET", f"crawler/sources/{made['id']}"))[0] == 404
    assert error(await admin.ask("GET", f"crawler/jobs/{job['id']}")) == (404, "NOT_FOUND", "Job not found")
    assert await admin.get(f"comics/{comic['id']}/sources") == []
    last = (await admin.audit())[-1]
    assert (last["action"], last["reason"], last["after"]) == ("source.delete", "gone", None)
    assert last["before"]["name"] == "Example"


async def test_sources_of_other_apis_are_seen_and_not_deleted(admin: Admin):
    made = await admin.client.post("/api/v1/sources", json={"name": "news", "url": "https://news.example"})
    assert made.status_code == 201, made.text
    found, _ = await admin.page("crawler/sources")
    answer = await admin.ask("DELETE", f"crawler/sources/{found[0]['id']}")
    assert error(answer) == (409, "CONFLICT", "Source news is also used by interval and cannot be deleted here")


async def test_a_source_of_this_api_is_not_crawled_as_news(admin: Admin):
    await admin.source()
    answer = await admin.client.post("/api/v1/admin/sync-enabled-sources")
    assert answer.status_code == 200, answer.text
    jobs = await admin.client.get("/api/v1/jobs")
    assert jobs.json()["total"] == 0
