import logging
from unittest.mock import AsyncMock

import pytest

from longline.engine.logs.run_log_keeper import RunLogKeeper
from longline.model.errors import Unavailable
from longline.settings import Settings
from longline.wiring.platform import Platform, migrate_tables, open_platform
from longline.wiring.subjects.logs import closing_logs, writing_run_logs
from tests.drivers.records.world import running_run

log = logging.getLogger("somebody")


async def said(platform: Platform, run_id: int) -> list[str]:
    return [entry.message for entry in (await platform.records.logs.read(run_id, 0, 100)).entries]


@pytest.mark.parametrize(
    ("settings", "heard"),
    [
        ({}, ["careful", "the end"]),
        ({"run_log_level": "error"}, []),
        ({"run_log_verbosity": "quiet"}, ["careful", "the end"]),
        ({"run_log_verbosity": "debug"}, ["small", "careful", "the end"]),
        ({"run_logs": False}, []),
    ],
)
async def test_entries_of_a_run_are_written_until_the_last_one(tmp_path, settings, heard):
    log.setLevel(logging.DEBUG)
    async with open_platform(Settings(data=tmp_path, **settings)) as platform:
        await migrate_tables(platform, may_migrate=True)
        run = await running_run(platform.records)
        before = list(logging.getLogger().handlers)
        async with writing_run_logs(platform):
            log.debug("small", extra={"run_id": run.id})
            log.warning("careful", extra={"run_id": run.id, "topic": "fetch"})
            log.warning("the end", extra={"run_id": run.id})
        assert await said(platform, run.id) == heard
        assert logging.getLogger().handlers == before


async def test_a_stop_does_not_fail_if_the_last_logs_cannot_be_archived(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(RunLogKeeper, "once", AsyncMock(side_effect=Unavailable("the store is away")))
    async with open_platform(Settings(data=tmp_path)) as platform:
        await migrate_tables(platform, may_migrate=True)
        async with closing_logs(platform):
            pass
    assert "run logs not archived before the shutdown deadline" in caplog.text


async def test_entries_of_runs_are_written_below_the_log_level_of_the_service(tmp_path, caplog):
    ours = logging.getLogger("longline")
    before = ours.level
    caplog.set_level(logging.ERROR)
    async with open_platform(Settings(data=tmp_path)) as platform:
        await migrate_tables(platform, may_migrate=True)
        run = await running_run(platform.records)
        async with writing_run_logs(platform):
            ours.warning("the run is broken off", extra={"run_id": run.id})
        assert await said(platform, run.id) == ["the run is broken off"]
    assert ours.level == before
