"""Two ends of each carrier."""

from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from longline.drivers.signals import open_signals
from longline.ports.signals import Signals


class Ends(NamedTuple):
    """Signals of two processes, or those of one process twice if a carrier does not leave the process."""

    here: Signals
    there: Signals


@pytest.fixture(params=["local", "postgres", "redis"])
async def ends(request: pytest.FixtureRequest) -> AsyncIterator[Ends]:
    """Both ends, once on each carrier."""
    if request.param == "local":
        signals = open_signals("sqlite:///x.db")
        both = Ends(signals, signals)
    elif request.param == "postgres":
        url = request.getfixturevalue("postgres_url")
        both = Ends(open_signals(url), open_signals(url))
    else:
        url = request.getfixturevalue("redis_url")
        both = Ends(open_signals("sqlite:///x.db", url), open_signals("sqlite:///x.db", url))
    yield both
    await both.here.close()
    await both.there.close()
