import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from longline.model.errors import BadInput
from longline.plugins import SinkItem, sink
from longline.plugins.registry import ParserSources

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
    manual = (Path(__file__).parents[2] / "docs/how-to/sinks.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", manual, re.DOTALL)
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
