"""Notifications of admins (8.4 and 11.3 of the contract): sources that failures have disabled, and stuck jobs."""

import logging

import pytest

from longline.wiring.doors.products import alerts
from tests.surfaces.catalogue.running import Admin, Json, data, end_job, start_job, write


async def _fail(admin: Admin, source: Json) -> None:
    job = await admin.job(source)
    await start_job(admin.stage, job["id"])
    await end_job(admin.stage, job["id"], "the site is gone")


async def test_a_source_that_failures_disable_is_notified_until_it_is_enabled(
    admin: Admin, caplog: pytest.LogCaptureFixture
):
    source, by_hand = await admin.source(), await admin.source("By hand")
    await admin.ask("PATCH", f"crawler/sources/{by_hand['id']}/enable", {"isenabled": False, "reason": "maintenance"})
    for _ in range(5):
        assert await admin.get("notifications") == []
        await _fail(admin, source)
    [told] = await admin.get("notifications")
    health = await admin.get(f"crawler/sources/{source['id']}")
    assert told == {
        "type": "source.autodisable",
        "level": "warning",
        "message": "Source Example was disabled after 5 failed jobs in a row.",
        "sourceid": source["id"],
        "jobid": None,
        "createdat": health["updatedat"],
    }
    assert health["isenabled"] is False
    with caplog.at_level(logging.WARNING, "longline.services.proxies.source_alerts"):
        for _ in range(2):
            admin.stage.call(alerts(admin.stage.platform).once())
    lines = [record for record in caplog.records if record.message == "alert raised"]
    assert [(line.__dict__["kind"], line.__dict__["subject"]) for line in lines] == [
        ("source_disabled", str(source["id"]))
    ]
    data(await admin.ask("PATCH", f"crawler/sources/{source['id']}/enable", {"isenabled": True}))
    assert await admin.get("notifications") == []
    await _fail(admin, source)
    assert await admin.get("notifications") == []


async def test_the_threshold_is_a_setting(admin: Admin):
    await admin.ask("PUT", "settings/crawler.disable_threshold", {"value": "2"})
    source = await admin.source()
    for _ in range(2):
        await _fail(admin, source)
    assert [told["sourceid"] for told in await admin.get("notifications")] == [source["id"]]


@pytest.mark.parametrize("value", ["9" * 12, "9" * 18])
async def test_a_threshold_beyond_every_failure_disables_nothing(admin: Admin, value: str):
    await admin.ask("PUT", "settings/crawler.disable_threshold", {"value": value})
    source = await admin.source()
    for _ in range(6):
        await _fail(admin, source)
    assert await admin.get("notifications") == []


@pytest.mark.parametrize("value", ["9" * 20, "9" * 5_000, "many"])
async def test_settings_that_are_no_numbers_are_the_defaults(admin: Admin, value: str):
    for key in ("crawler.disable_threshold", "crawler.max_retries"):
        data(await admin.ask("PUT", f"settings/{key}", {"value": value}))
    source = await admin.source()
    for _ in range(5):
        await _fail(admin, source)
    assert [told["sourceid"] for told in await admin.get("notifications")] == [source["id"]]


async def test_a_stuck_job_is_notified_until_it_is_reset(admin: Admin):
    job, fresh = await admin.job(await admin.source()), await admin.job(await admin.source("Other"))
    for each, minutes in ((job, 31), (fresh, 29)):
        at = admin.stage.platform.clock.now() - minutes * 60_000
        write(admin.stage, f"UPDATE runs SET state = 'running', started_at = {at} WHERE uid = '{each['id']}'")
    [told] = await admin.get("notifications")
    assert (told["type"], told["level"], told["jobid"]) == ("job.stuck", "warning", job["id"])
    assert told["sourceid"] == job["sourceid"]
    data(await admin.ask("POST", "crawler/jobs/reset-stuck"))
    assert await admin.get("notifications") == []


async def test_notifications_of_catalogues_are_none_of_proxies(admin: Admin):
    source = await admin.source()
    for _ in range(5):
        await _fail(admin, source)
    answer = await admin.client.get("/api/admin/alerts")
    assert answer.status_code == 200, answer.text
    assert [alert["type"] for alert in answer.json()["data"]["alerts"] if alert["type"] == "source_disabled"] == []
