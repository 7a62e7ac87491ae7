import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from longline.cli import log_setup as logs
from longline.surfaces.server.request_id import REQUEST_ID
from tests.cli.conftest import Command, assert_one_line


@pytest.fixture(autouse=True)
def own_root() -> Iterator[None]:
    """The root logger, which is restored after the test."""
    root, server = logging.getLogger(), logging.getLogger("uvicorn")
    handlers, levels = list(root.handlers), (root.level, server.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    server.setLevel(levels[1])


def written(form: str, level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    logs.set_up(level, form, stream)
    return stream


def test_a_json_line_carries_its_fields():
    stream = written("json")
    logging.getLogger("a.b").warning("hello %s", "world", extra={"count": 3, "odd": object})
    line = json.loads(stream.getvalue())
    assert (line["level"], line["logger"], line["message"], line["service"]) == (
        "warning",
        "a.b",
        "hello world",
        "crawler",
    )
    assert (line["count"], line["odd"]) == (3, "<class 'object'>")
    assert datetime.fromisoformat(line["time"]).utcoffset() == timedelta(0)
    assert "request_id" not in line


def test_a_line_carries_the_request_it_belongs_to():
    stream = written("json")
    mark = REQUEST_ID.set("me")
    try:
        logging.getLogger("a").info("x")
    finally:
        REQUEST_ID.reset(mark)
    assert json.loads(stream.getvalue())["request_id"] == "me"


def test_entries_of_a_more_verbose_logger_are_not_written():
    stream, chatty = written("json", "error"), logging.getLogger("longline.chatty")
    chatty.setLevel(logging.DEBUG)
    chatty.info("to somebody else")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_stack_is_told(form: str):
    stream = written(form)
    try:
        raise ValueError("deep")
    except ValueError:
        logging.getLogger("a").exception("failed")
    assert "ValueError: deep" in stream.getvalue()
    if form == "json":
        assert stream.getvalue().count("\n") == 1


def test_text_is_for_people():
    stream = written("text")
    logging.getLogger("a").info("hello", extra={"count": 3})
    assert stream.getvalue().endswith("INFO    a: hello count=3\n")


@pytest.mark.parametrize(("terminal", "begins"), [(True, "2"), (False, "{")])
def test_auto_is_text_on_a_terminal(terminal: bool, begins: str, monkeypatch: pytest.MonkeyPatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    logs.set_up("info", "auto", stream)
    logging.getLogger("a").info("x")
    assert stream.getvalue().startswith(begins)


def test_less_severe_lines_are_not_shown():
    stream = written("text", "warning")
    logging.getLogger("a").info("quiet")
    logging.getLogger("uvicorn.error").info("chatter")
    assert stream.getvalue() == ""
    stream = written("text", "debug")
    logging.getLogger("a").debug("loud")
    logging.getLogger("uvicorn.error").info("chatter")
    assert "loud" in stream.getvalue()
    assert "chatter" not in stream.getvalue()


def test_setting_up_twice_writes_once():
    written("json")
    stream = written("json")
    logging.getLogger("a").info("x")
    assert stream.getvalue().count("\n") == 1


def test_lines_go_to_every_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "log"
    file.write_text("before\n")
    logs.set_up("info", "auto", outputs=("stdout", str(file)))
    logging.getLogger("a").info("x")
    said = capsys.readouterr()
    before, line = file.read_text().splitlines()
    assert (before, json.loads(line)["message"], said.out, said.err) == ("before", "x", f"{line}\n", "")
    for handler in logging.getLogger().handlers[1:]:
        handler.stream.close()  # type: ignore[attr-defined]  # it writes to a file


def test_a_file_that_cannot_be_written_is_one_line(longline: Command, tmp_path: Path):
    assert_one_line(longline("up", LOG_OUTPUT_PATHS=str(tmp_path)), 1, "Is a directory")
