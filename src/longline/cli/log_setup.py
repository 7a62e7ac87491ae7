"""Log lines: JSON for machines, text for people; on stderr unless `log_outputs` is set."""

import logging
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from longline.surfaces.server.request_id import REQUEST_ID

SERVICE = "crawler"
"""Name of this service among those of a platform, also in `/health`; the logger's name is the component."""

_STANDARD = frozenset(vars(logging.LogRecord("", 0, "", 0, "", None, None))) | {"message", "asctime", "color_message"}


def set_up(level: str, form: str, stream: TextIO | None = None, outputs: Sequence[str] = ()) -> None:
    """Send every log line of this process to one place, or to all of `outputs`; the form `auto` is text on a terminal.

    An output is `stdout`, `stderr`, or a file that lines are added to.
    """
    root = logging.getLogger()
    root.handlers[:] = [_handler(_opened(output), form) for output in outputs] or [_handler(stream or sys.stderr, form)]
    root.setLevel(level.upper())
    for handler in root.handlers:
        # Also for a logger with a lower level of its own, set for another handler.
        handler.setLevel(root.level)
    # Info lines of uvicorn repeat our own.
    logging.getLogger("uvicorn").setLevel(max(logging.WARNING, root.level))


def _opened(output: str) -> TextIO:
    if output in ("stdout", "stderr"):
        return sys.stdout if output == "stdout" else sys.stderr
    # Never closed: it is open for as long as the process lives.
    return open(output, "a", encoding="utf-8", buffering=1)


def _handler(stream: TextIO, form: str) -> logging.Handler:
    as_text = form == "text" or (form == "auto" and stream.isatty())
    handler = LineHandler(stream)
    handler.setFormatter(TextLines() if as_text else JsonLines())
    return handler


class LineHandler(logging.StreamHandler[TextIO]):
    """A handler that drops lines silently when the disk is full or the pipe is closed."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a log line besides its message."""
    extra = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    request_id = REQUEST_ID.get()
    return {"request_id": request_id, **extra} if request_id else extra


def _time(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class JsonLines(logging.Formatter):
    """A formatter that writes one JSON object a line."""

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
    """A formatter that writes time, level, logger, message, then the fields as key=value."""

    def format(self, record: logging.LogRecord) -> str:
        carried = "".join(f" {name}={value}" for name, value in fields(record).items())
        line = f"{_time(record)} {record.levelname:7} {record.name}: {record.getMessage()}{carried}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line
