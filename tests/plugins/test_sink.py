import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longline.drivers.sinks.function import FunctionSink
from longline.model.errors import BadInput
from longline.model.sinks.sink import SinkAddress
from longline.plugins import SinkItem, sink
from longline.plugins.registry import ParserSources
from longline.ports.sinks import SinkFailed

MANUAL = re.findall(
    r"```python\n(.*?)```",
    (Path(__file__).parents[2] / "docs/how-to/sinks.md").read_text(encoding="utf-8"),
    re.DOTALL,
)
CODE = "from longline.plugins import sink\n@sink('kafka', batch_size=7)\ndef send(url, items): ...\n"


def test_a_file_with_a_sink_alone_is_loaded(tmp_path: Path):
    file = tmp_path / "sinks.py"
    file.write_text(CODE)
    hooks = ParserSources(files=(str(file),)).open().sinks
    assert [(name, hook.batch_size) for name, hook in hooks.items()] == [("kafka", 7)]
    other = tmp_path / "more.py"
    other.write_text(CODE)
    with pytest.raises(BadInput, match="two sinks are for kafka://"):
        ParserSources(files=(str(file), str(other))).open()


def test_the_sink_of_the_manual_has_ten_lines_and_sends_to_kafka(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    code, _ = MANUAL
    assert len([line for line in code.partition("@sink")[2].splitlines() if line]) <= 10
    sent: list[tuple[str, str, bytes]] = []
    left = [0, 1]

    class Producer:
        def __init__(self, config: dict[str, object]) -> None:
            assert config["bootstrap.servers"] == "broker:9092"

        def produce(self, topic: str, key: str, value: bytes) -> None:
            sent.append((topic, key, value))

        def flush(self, _: float) -> int:
            return left.pop(0)

    monkeypatch.setitem(sys.modules, "confluent_kafka", SimpleNamespace(Producer=Producer))
    file = tmp_path / "kafka.py"
    file.write_text(code)
    hook = ParserSources(files=(str(file),)).open().sinks["kafka"]
    item = SinkItem("u-1-1", 1, 1, 1, 1, "book", "https://b.example/", 1, {"title": "A"})
    hook.function("kafka://broker:9092/books", [item])
    assert [(topic, key) for topic, key, _ in sent] == [("books", "1")]
    assert b'"title":"A"' in sent[0][2]
    with pytest.raises(TimeoutError):
        hook.function("kafka://broker:9092/books", [item])


@contextmanager
def bulk_server(statuses: dict[str, int]) -> Iterator[tuple[int, dict[str, dict[str, Any]]]]:
    """Run a server with the bulk API of Elasticsearch; documents of some ids get a status of their own."""
    documents: dict[str, dict[str, Any]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert (self.path, self.headers["content-type"]) == ("/books/_bulk", "application/x-ndjson")
            assert self.headers["authorization"] == "ApiKey KEY"
            body = self.rfile.read(int(self.headers["content-length"]))
            assert body.endswith(b"\n"), "a bulk body ends with a newline"
            lines = [json.loads(line) for line in body.splitlines()]
            results = [self.write(*pair) for pair in zip(lines[::2], lines[1::2], strict=True)]
            answer = json.dumps({"errors": any("error" in one["index"] for one in results), "items": results}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def write(self, action: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
            id_ = action["index"]["_id"]
            status = statuses.get(id_, 200 if id_ in documents else 201)
            if status >= 400:
                return {"index": {"_id": id_, "status": status, "error": {"type": "x", "reason": "not a price"}}}
            documents[id_] = document
            return {"index": {"_id": id_, "status": status}}

        def log_message(self, *_: object) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("localhost", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port, documents
        server.shutdown()
        thread.join()


async def test_the_sink_of_the_manual_writes_to_elasticsearch(tmp_path: Path):
    _, code = MANUAL
    file = tmp_path / "elasticsearch.py"
    file.write_text(code)
    hook = ParserSources(files=(str(file),)).open().sinks["elasticsearch"]
    items = [SinkItem(f"u-1-{n}", 1, n, n, 1, "book", "https://b.example/", 1, {"price": n}) for n in (1, 2, 3)]
    statuses = {"u-1-2": 400}
    with bulk_server(statuses) as (port, documents):
        sink_ = FunctionSink(SinkAddress.parse(f"elasticsearch://KEY@localhost:{port}/books"), lambda: hook)
        with pytest.raises(SinkFailed, match=r"^not a price$") as failed:
            await sink_.deliver(items)
        assert (failed.value.delivered, failed.value.refused) == (1, True)
        statuses["u-1-2"] = 503
        with pytest.raises(SinkFailed, match="answered with status 503") as failed:
            await sink_.deliver(items)
        assert not failed.value.refused
        statuses.clear()
        await sink_.deliver(items)
        assert {id_: document["fields"] for id_, document in documents.items()} == {
            item.id: item.fields for item in items
        }
    with pytest.raises(SinkFailed, match="URLError"):
        await sink_.deliver(items)


def print_items(items: object) -> None:
    print(items)


@pytest.mark.parametrize("scheme", ["https", "postgresql", "Kafka", "a-b", ""])
def test_a_scheme_that_cannot_be_used_is_refused(scheme: str):
    with pytest.raises(TypeError, match="cannot be the scheme"):
        sink(scheme)


def test_a_function_of_other_arguments_is_refused():
    with pytest.raises(TypeError, match="must take the address and the items"):
        sink("kafka")(print_items)
    with pytest.raises(TypeError, match="1 or more"):
        sink("kafka", batch_size=0)
