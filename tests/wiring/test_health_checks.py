from pathlib import Path

from longline.services.metrics.event_loop_lag import LoopMonitor
from longline.settings import Settings
from longline.wiring.health_checks import health_checks
from longline.wiring.platform import open_platform


async def test_the_database_alone_is_critical_and_engines_in_use_are_checked(settings: Settings, tmp_path: Path):
    async with open_platform(settings) as platform:
        checks = health_checks(platform, LoopMonitor(platform.clock))
    assert [check.name for check in checks if check.critical] == ["database"]
    assert [check.name for check in checks] == ["database", "objects", "disk", "workers", "event_loop"]
