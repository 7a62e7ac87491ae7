"""pywb, a replay tool, from an environment of its own: its dependencies conflict with longline's."""

import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.servers.process import free_ports

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".venv-replay" / "bin"
"""`make test` makes it from requirements/replay.txt."""

COLLECT = """
import sys
from pywb.manager.manager import main
main(["init", "pages"])
main(["add", "pages", *sys.argv[1:]])
"""
"""Makes a collection of files: `wb-manager init` and `wb-manager add` in one process."""


class Shown(NamedTuple):
    """A page in the form of the replay tool."""

    status: int
    location: str
    body: bytes


class Replay:
    """A running pywb with one collection."""

    def __init__(self, url: str, index: str) -> None:
        self.url, self.index = url, index

    @property
    def captures(self) -> list[tuple[str, str]]:
        """Return every (timestamp, URL) of the index."""
        return re.findall(r'^\S+ (\d{14}) .*?"url": "([^"]+)"', self.index, re.MULTILINE)

    def show(self, timestamp: str, url: str) -> Shown:
        """Return the capture of a URL at a time, as it was archived."""
        request = urllib.request.Request(f"{self.url}/pages/{timestamp}id_/{url}")
        opener = urllib.request.build_opener(_Stay)
        try:
            with opener.open(request, timeout=30) as answer:
                return Shown(answer.status, answer.headers.get("Location", ""), answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return Shown(refused.code, refused.headers.get("Location", ""), refused.read())


class _Stay(urllib.request.HTTPRedirectHandler):
    """A handler that shows redirects and does not follow them."""

    def redirect_request(self, *_: object) -> None:
        return None


@contextmanager
def replaying(folder: Path, files: Sequence[Path]) -> Iterator[Replay]:
    """Run pywb over WARC files, in a folder of its own."""
    assert (TOOLS / "wayback").exists(), "pywb is missing: `make test` installs it, or `make .venv-replay/.installed`"
    folder.mkdir()
    words = [str(TOOLS / "python"), "-c", COLLECT, *map(str, files)]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=60)
    index = (folder / "collections" / "pages" / "indexes" / "index.cdxj").read_text()
    [port] = free_ports(1)
    with (folder / "log").open("wb") as log:
        words = [str(TOOLS / "wayback"), "--bind", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(words, cwd=folder, stdout=log, stderr=log)
    try:
        yield Replay(f"http://127.0.0.1:{port}", index)
    finally:
        process.terminate()
        process.wait(timeout=30)
