"""The streams of a process: the end disconnects every client, even if the last moves cannot be published."""

from unittest.mock import AsyncMock

import pytest

from longline.model.errors import Unavailable
from longline.services.health import Health
from longline.settings import Settings
from longline.wiring.doors.streams import Streams
from longline.wiring.platform import migrate_tables, open_platform


@pytest.mark.parametrize("trouble", [None, Unavailable("the database is away")])
async def test_the_end_publishes_the_last_moves_and_disconnects_clients(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, trouble: Exception | None
):
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        streams = Streams(platform, Health((), platform.clock))
        last = AsyncMock(side_effect=trouble)
        monkeypatch.setattr(streams.moves, "once", last)
        await streams.close()
    last.assert_awaited_once()
    assert streams.followers.is_closed
    assert ("last events not published before the shutdown" in caplog.text) == (trouble is not None)
