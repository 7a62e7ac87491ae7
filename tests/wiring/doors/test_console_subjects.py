"""The services behind the pages of the console's subjects."""

from longline.services.health import Health
from longline.services.runs.run_views import RunPages
from longline.settings import Settings
from longline.wiring.doors.console_subjects import subject_services
from longline.wiring.platform import open_platform
from longline.wiring.subjects.metrics import platform_alerts


async def test_the_form_of_a_source_lists_all_parsers(settings: Settings):
    async with open_platform(settings) as platform:
        runs = RunPages(platform.records.run_views, platform.records.runs, platform.clock)
        alerts = platform_alerts(platform, Health([], platform.clock))
        services = subject_services(platform, runs, alerts)
        assert set(services.parsers) == set(platform.parsers.names)
        assert "product" in services.parsers
