"""The services behind the pages of the console's subjects."""

from longline.services.runs.run_pages import RunPages
from longline.settings import Settings
from longline.wiring.doors.console_subjects import subject_services
from longline.wiring.platform import open_platform


async def test_the_form_of_a_source_knows_all_parsers(settings: Settings):
    async with open_platform(settings) as platform:
        runs = RunPages(platform.records.run_views, platform.records.runs)
        services = subject_services(platform, runs)
        assert set(services.parsers) == set(platform.parsers.names)
        assert "product" in services.parsers
