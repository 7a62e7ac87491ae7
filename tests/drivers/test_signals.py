import asyncio

import pytest

from longline.drivers.signals import open_signals

NOWHERE = "127.0.0.1:1"


@pytest.mark.parametrize(
    ("database", "redis", "carrier"),
    [
        ("sqlite:///x.db", None, "in process"),
        ("sqlite:///x.db", "", "in process"),
        ("", None, "in process"),
        (f"postgresql://{NOWHERE}/x", None, "PostgreSQL"),
        (f"postgres://{NOWHERE}/x", None, "PostgreSQL"),
        (f"postgresql://{NOWHERE}/x", f"redis://{NOWHERE}", "Redis"),
        ("sqlite:///x.db", f"redis://{NOWHERE}", "Redis"),
    ],
)
async def test_the_settings_choose_the_carrier(database, redis, carrier):
    signals = open_signals(database, redis)
    [said] = await asyncio.gather(signals.check(), return_exceptions=True)  # no server listens there: the check fails
    assert str(said).startswith(carrier)
    await signals.close()
