"""Settings of the catalogue, and its audit log."""

import pytest

from tests.surfaces.catalogue.running import Admin, data, error


async def test_a_setting(admin: Admin):
    made = data(await admin.ask("PUT", "settings/crawler.max_retries", {"value": "3", "description": "retries"}))
    assert made["id"] >= 100000
    assert (made["key"], made["value"], made["description"]) == ("crawler.max_retries", "3", "retries")
    changed = data(await admin.ask("PUT", "settings/crawler.max_retries", {"value": "5"}))
    assert (changed["value"], changed["description"]) == ("5", "retries")
    assert await admin.get("settings/crawler.max_retries") == changed
    await admin.ask("PUT", "settings/site.maintenance_mode", {"value": None})
    found, meta = await admin.page("settings", q="crawler.")
    assert ([each["key"] for each in found], meta["limit"]) == (["crawler.max_retries"], 100)
    gone = await admin.ask("DELETE", "settings/crawler.max_retries")
    assert (gone.status_code, gone.content) == (204, b"")
    assert error(await admin.ask("DELETE", "settings/crawler.max_retries")) == (404, "NOT_FOUND", "Setting not found")
    assert error(await admin.ask("GET", "settings/crawler.max_retries"))[0] == 404
    actions = [entry["action"] for entry in await admin.audit()]
    assert actions == ["setting.update", "setting.update", "setting.update", "setting.delete"]


@pytest.mark.parametrize("key", ["site", "Site.name", "1a.b", "a..b", "a." + "b" * 100])
async def test_keys_have_dots(admin: Admin, key: str):
    answer = await admin.ask("PUT", f"settings/{key}", {"value": "x"})
    assert error(answer) == (400, "VALIDATION_ERROR", "Key must follow dot-notation format (e.g. site.name)")


async def test_values_are_texts(admin: Admin):
    for body in ({}, {"value": 3}, {"value": "x" * 10_001}):
        assert error(await admin.ask("PUT", "settings/site.name", body))[:2] == (400, "VALIDATION_ERROR")


async def test_the_audit_log(admin: Admin):
    source = await admin.source(config={"proxy": "http://me:canary-77@proxy.example:8080", "password": "canary-77"})
    await admin.ask("PATCH", f"crawler/sources/{source['id']}", {"name": "Renamed"})
    found, meta = await admin.page("auditlog", actorid=admin.user)
    assert (meta["total"], meta["limit"]) == (2, 50)
    newest = found[0]
    assert set(newest) == {
        *("id", "actorid", "actor", "action", "entitytype", "entityid", "before", "after", "reason", "ipaddress"),
        "createdat",
    }
    assert newest["actor"]["id"] == admin.user
    assert newest["actor"]["role"] == "admin"
    assert (newest["before"]["name"], newest["after"]["name"]) == ("Example", "Renamed")
    assert found[1]["before"] is None
    assert newest["ipaddress"] == "127.0.0.1"
    assert "canary-77" not in (await admin.ask("GET", "auditlog", actorid=admin.user)).text
    assert await admin.get(f"auditlog/{newest['id']}") == newest
    assert error(await admin.ask("GET", "auditlog/none")) == (404, "NOT_FOUND", "Audit entry not found")


async def test_filters_of_the_audit_log(admin: Admin):
    source = await admin.source()
    await admin.ask("PATCH", f"crawler/sources/{source['id']}/enable", {"isenabled": False})

    async def actions(**params: object) -> list[str]:
        return [entry["action"] for entry in (await admin.page("auditlog", actorid=admin.user, **params))[0]]

    assert await actions(action="source.create") == ["source.create"]
    assert await actions(action="source.") == ["source.disable", "source.create"]
    assert await actions(action="job.") == []
    assert await actions(entitytype="source") == ["source.disable", "source.create"]
    assert await actions(to="2020-01-01T00:00:00Z") == []
    assert await actions(**{"from": "2099-01-01T00:00:00Z"}) == []
    assert await actions(limit=1, page=2) == ["source.create"]
