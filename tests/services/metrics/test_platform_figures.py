import pytest

from longline.ports.records import Records
from longline.services.metrics.platform_figures import PlatformFigureReader
from longline.services.metrics.worker_liveness import WorkerLiveness
from longline.testing.clock import FakeClock


@pytest.fixture
def operation(records: Records, clock: FakeClock) -> PlatformFigureReader:
    workers = WorkerLiveness(records.workers, records.figures, clock)
    return PlatformFigureReader(records.counters, records.figures, workers, records.sink_progress, lambda: 7)


async def test_figures_include_disk_and_connections(operation: PlatformFigureReader):
    figures = await operation.take()
    assert figures.free_disk_bytes == 7
    assert set(figures.connections) == {"busy", "idle"}
