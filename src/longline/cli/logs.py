"""How log lines look: JSON for machines, text for people. They go to stderr; stdout belongs to answers."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from longline.surfaces.http import REQUEST_ID

SERVICE = "longline"

_STANDARD = frozenset(vars(logging.LogRecord("", 0, "", 0, "", None, None))) | {"message", "asctime", "color_message"}


def set_up(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send every log line of this process to one place, in one form; `auto` is text on a terminal."""
    stream = stream or sys.stderr
    as_text = form == "text" or (form == "auto" and stream.isatty())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextLines() if as_text else JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # The server's own chatter repeats what we say ourselves.
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, root.level))


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """What the line carries besides its message."""
    extra = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    request_id = REQUEST_ID.get()
    return {"request_id": request_id, **extra} if request_id else extra


def _time(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "service": SERVICE,
            "logger": record.name,
            "message": record.getMessage(),
            **fields(record),
        }
        if record.exc_info:
            line["stack"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


class TextLines(logging.Formatter):
    """Time, level, message, then the fields as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        carried = "".join(f" {name}={value}" for name, value in fields(record).items())
        line = f"{_time(record)} {record.levelname:7} {record.name}: {record.getMessage()}{carried}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line
