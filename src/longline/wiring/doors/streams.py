"""The streams that clients of the doors may follow."""

import asyncio
import logging

from longline.console.live_updates import LivePages
from longline.engine.logs.run_log_writer import CLOSE_TIMEOUT_SECONDS
from longline.model.errors import Unavailable
from longline.services.health import Health
from longline.services.logs.event_streams import Broker, ClientLimit, CountPublisher, HealthPublisher, MovePublisher
from longline.services.logs.run_logs import REPLAYED_ENTRIES, Followers, RunLogs
from longline.surfaces.intervals.event_streams import StreamServices
from longline.surfaces.intervals.logs import LogServices
from longline.wiring.platform import Platform
from longline.wiring.subjects.logs import run_log_blobs
from longline.wiring.subjects.metrics import platform_alerts

log = logging.getLogger(__name__)


class Streams:
    """The streams that clients may follow, and the publishers that feed them."""

    def __init__(self, platform: Platform, health: Health) -> None:
        s, records, clients = platform.settings, platform.records, ClientLimit()
        self._broker = broker = Broker()
        self.health = HealthPublisher(broker, health, platform.clock)
        self.counts = CountPublisher(broker, records.tasks, records.runs, platform.clock)
        self.moves = MovePublisher(
            broker, records.events, records.schedules, records.runs, records.history, platform.clock
        )
        self.followers = Followers(
            records.logs, platform.signals, archive=s.run_log_archive, replayed=min(REPLAYED_ENTRIES, s.run_log_buffer)
        )
        # Instances on other machines share the database, but not folders.
        common = platform.embedded or s.run_log_objects.startswith("s3://")
        kept = RunLogs(
            records.logs,
            records.schedules,
            run_log_blobs(platform),
            on=s.run_logs,
            archive=s.run_log_archive,
            common=common,
        )
        self.logs = LogServices(kept, self.followers, clients, is_streaming=s.run_log_streams)
        self.alerts = platform_alerts(platform, health)
        self.pages = LivePages(records.console_sessions.in_force, now=platform.clock.now)
        self.events = StreamServices(broker, clients, platform.clock.now, self.moves.start_position)

    async def close(self) -> None:
        """Publish the last moves, once the loops have ended, and disconnect every client."""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self.moves.once()
        except (TimeoutError, Unavailable) as error:
            log.warning("last events not published before the shutdown", extra={"error": str(error)})
        self._broker.close()
        self.followers.close()
        self.pages.close()
