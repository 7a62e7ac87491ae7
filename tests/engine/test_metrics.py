import pytest

from longline.engine.metrics import MetricCounters
from longline.model.errors import Unavailable
from longline.model.metrics.metric import FETCH_SECONDS, LEASES_LOST, histogram_values
from longline.ports.records import Records
from tests.engine.fakes import part


class Away:
    """A store of counters that is down."""

    async def add(self, *_: object) -> None:
        raise Unavailable("the database is away")


async def test_counts_of_several_processes_are_summed(records: Records):
    for _ in range(2):
        counters = MetricCounters()
        counters.add(LEASES_LOST, count=2)
        counters.observe(FETCH_SECONDS, 0.02)
        await counters.flush(records.counters)
        await counters.flush(records.counters)
    found = await records.counters.all()
    assert found[LEASES_LOST.key()] == 4
    times = histogram_values(FETCH_SECONDS, found)[()]
    assert (dict(times.at_most)["0.025"], times.sum_seconds) == (2, 0.04)


async def test_counts_are_kept_while_the_database_is_down(records: Records):
    counters = MetricCounters()
    counters.add(LEASES_LOST)
    with pytest.raises(Unavailable):
        await counters.flush(part(Away()))
    counters.add(LEASES_LOST)
    await counters.flush(records.counters)
    assert (await records.counters.all())[LEASES_LOST.key()] == 2
