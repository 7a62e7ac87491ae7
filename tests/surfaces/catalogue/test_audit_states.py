"""The states before and after a change in the audit log: in the fields and forms of the contract (1.1, 2 and 9)."""

import re
from typing import Any

from tests.surfaces.catalogue.running import Admin, Json, data, end_job, start_job

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
NAME = re.compile(r"[a-z0-9]+|sourceid_ext")
FAR = "2099-01-01T00:00:00.000Z"


async def _newest(admin: Admin, action: str) -> Json:
    """Return the newest entry of an action of this user; its states have the contract's names, and times as text."""
    found, _ = await admin.page("auditlog", actorid=admin.user, action=action)
    newest = dict(found[0])
    for state in (newest["before"] or {}, newest["after"] or {}):
        assert [name for name in state if not NAME.fullmatch(name)] == []
        assert [at for name, at in state.items() if name.endswith("edat") and at and not TIME.fullmatch(at)] == []
    return newest


def _part(state: Json, wanted: Json) -> Json:
    return {name: state.get(name) for name in wanted}


async def test_states_of_a_source_have_all_fields_of_a_source(admin: Admin):
    made = await admin.source(extensionid="com.example.site", config={"odd_key": {"base_url": 1}})
    entry = await _newest(admin, "source.create")
    assert (entry["before"], _part(entry["after"], made)) == (None, made)
    assert entry["after"]["isenabled"] is True
    body = {"baseurl": "https://other.example", "extensionid": None, "config": {"a_b": 1}, "isenabled": False}
    changed = data(await admin.ask("PATCH", f"crawler/sources/{made['id']}", body))
    entry = await _newest(admin, "source.update")
    assert (_part(entry["before"], made), _part(entry["after"], changed)) == (made, changed)
    await admin.ask("PATCH", f"crawler/sources/{made['id']}/enable", {"isenabled": True})
    entry = await _newest(admin, "source.enable")
    assert (entry["before"]["isenabled"], entry["after"]["isenabled"]) == (False, True)
    await admin.ask("DELETE", f"crawler/sources/{made['id']}")
    entry = await _newest(admin, "source.delete")
    assert (entry["before"]["baseurl"], entry["after"]) == ("https://other.example", None)


async def test_states_of_a_source_that_failures_disable(admin: Admin):
    await admin.ask("PUT", "settings/crawler.disable_threshold", {"value": "1"})
    source = await admin.source()
    job = await admin.job(source, scheduledat=FAR)
    await start_job(admin.stage, job["id"])
    await end_job(admin.stage, job["id"], "gone")
    [entry], _ = await admin.page("auditlog", action="source.autodisable", entityid=source["id"])
    told: Any = {"id": source["id"], "isenabled": True, "consecutivefails": 1}
    assert (entry["before"], entry["after"]) == (told, told | {"isenabled": False})


async def test_states_of_comics_and_mappings(admin: Admin):
    comic = await admin.comic(coverurl="https://a.example/1.jpg", external={"some_key": 1})
    assert _part((await _newest(admin, "comic.create"))["after"], comic) == comic
    mapping = await admin.mapping(comic, await admin.source())
    shown = {name: value for name, value in mapping.items() if name != "source"}
    assert _part((await _newest(admin, "comicsource.create"))["after"], shown) == shown
    await admin.ask("PATCH", f"comics/{comic['id']}/sources/{mapping['id']}", {"isactive": False})
    entry = await _newest(admin, "comicsource.update")
    assert (entry["before"]["isactive"], entry["after"]["isactive"]) == (True, False)


async def test_states_of_jobs(admin: Admin):
    source, comic = await admin.source(), await admin.comic()
    await admin.mapping(comic, source)
    job = await admin.job(source, comicid=comic["id"], scheduledat=FAR)
    names = ("id", "sourceid", "comicid", "status", "scheduledat", "startedat", "finishedat", "lasterror", "createdat")
    wanted = {name: job[name] for name in names}
    assert _part((await _newest(admin, "job.trigger"))["after"], wanted) == wanted
    await admin.ask("PATCH", f"crawler/jobs/{job['id']}/cancel")
    entry = await _newest(admin, "job.cancel")
    assert (entry["before"]["status"], entry["after"]["status"]) == ("queued", "cancelled")
    await admin.job(source, scheduledat=FAR)
    assert (await _newest(admin, "job.trigger"))["after"]["comicid"] is None


async def test_states_of_settings_batch_jobs_and_the_pause(admin: Admin):
    await admin.ask("PUT", "settings/site.name", {"value": "x", "description": "d"})
    setting = {"key": "site.name", "value": "x", "description": "d"}
    assert _part((await _newest(admin, "setting.update"))["after"], setting) == setting
    run = data(await admin.ask("POST", "batch/jobs/crawler.archive/run"), 202)
    wanted = {name: run[name] for name in ("id", "jobkey", "status", "lasterror", "createdat")}
    assert _part((await _newest(admin, "batchrun.create"))["after"], wanted) == wanted
    await admin.ask("PATCH", "batch/schedule", {"jobkey": "crawler.archive", "cron": "5 4 * * *", "isenabled": False})
    after = {"jobkey": "crawler.archive", "cron": "5 4 * * *", "isenabled": False}
    assert (await _newest(admin, "batchschedule.update"))["after"] == after
    await admin.ask("POST", "crawler/pause")
    entry = await _newest(admin, "crawler.pause")
    assert (entry["entitytype"], set(entry["after"])) == ("crawler", {"pausedat"})
    await admin.ask("POST", "crawler/resume")
