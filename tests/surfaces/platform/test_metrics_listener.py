from typing import Any

from longline.services.metrics.task_and_run_counts import Counts
from longline.surfaces.platform.metrics_endpoint import Metrics, MetricsServices
from longline.surfaces.platform.metrics_listener import metrics_app
from tests.surfaces.conftest import Stage, serving


async def test_the_listener_serves_metrics_alone():
    records: Any = Stage().database
    app = metrics_app(MetricsServices(Metrics("1.2.3"), Counts(records, records)))
    async with serving(app) as client:
        answer = await client.get("/metrics")
        assert answer.status_code == 200
        assert 'longline_build_info{version="1.2.3"} 1.0' in answer.text
        assert (await client.get("/health")).status_code == 404
        assert (await client.post("/metrics")).status_code == 405
