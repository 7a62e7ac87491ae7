"""The export of metrics by a whole service, to a collector."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tests.journeys.place import wait_until
from tests.surfaces.manifests.origin import running_origin
from tests.surfaces.manifests.running import running_box


def test_a_collector_gets_the_metrics_at_the_stop_too(tmp_path: Path):
    taken: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        more = f'[telemetry]\notlp_endpoint = "http://127.0.0.1:{server.server_port}"\n'
        with running_origin() as origin, running_box(tmp_path, origin, more=more) as box:
            wait_until(lambda: taken, "the export at the start")
            box.submit("/otlp")
        server.shutdown()
    assert {path for path, _ in taken} == {"/v1/metrics"}
    [document] = json.loads(taken[-1][1])["resourceMetrics"]
    named = {one["name"]: one for one in document["scopeMetrics"][0]["metrics"]}
    [point] = named["fetchbox_ingest_jobs_total"]["sum"]["dataPoints"]
    assert (point["attributes"], point["asDouble"]) == ([{"key": "result", "value": {"stringValue": "accepted"}}], 1.0)
    assert named["fetchbox_ingest_duration_seconds"]["histogram"]["dataPoints"][0]["count"] == "1"
