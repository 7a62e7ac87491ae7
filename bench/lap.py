"""One contestant's crawl from start to end, measured from outside."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import IO

from bench.contestants import Contestant
from bench.crawlers.order import DONE, READY, Order
from bench.fetches import FetchLog, faults
from bench.packages import CACHE
from bench.site import Site
from bench.usage import cpu_seconds, resident_bytes
from bench.web import Served

CHECK_INTERVAL_SECONDS = 0.1


class Fell(Exception):
    """An error of a contestant that did not finish; the message has its output."""


@dataclass(frozen=True)
class Lap:
    """The figures of one crawl. CPU seconds include those of its database."""

    name: str
    pages: int
    seconds: float
    cpu: float
    database_cpu: float
    server_cpu: float
    peak_bytes: int
    faults: list[str]

    @property
    def rate(self) -> float:
        """Return pages a second."""
        return self.pages / self.seconds

    @property
    def cpu_per_1000(self) -> float:
        """Return CPU seconds for a thousand pages."""
        return self.cpu / self.pages * 1000


@dataclass(frozen=True)
class Course:
    """The environment of all laps. A contestant that takes longer than `patience` seconds is stopped."""

    site: Site
    served: Served
    concurrency: int
    scratch: Path = CACHE
    patience: float = 900.0

    def order(self, contestant: Contestant, folder: str, database: str) -> Order:
        """Return the order to a contestant."""
        return Order(
            seeds=self.site.seeds(self.served.port),
            hosts=self.site.hosts(self.served.port),
            folder=folder,
            concurrency=self.concurrency,
            database=database,
            workers=contestant.workers,
            storage=contestant.storage,
        )


@dataclass(frozen=True)
class Database:
    """An empty database, and the process that serves it."""

    url: str = ""
    pid: int | None = None

    def cpu(self) -> float:
        """Return the usage of its server so far."""
        return cpu_seconds(self.pid) if self.pid else 0.0


def run(contestant: Contestant, course: Course, database: Database, watch: Callable[[int], None]) -> Lap:
    """Let a contestant crawl the site once, in a temporary folder."""
    with folder(course.scratch) as place, (place / "said").open("w+") as said:
        kept = place / "kept"
        kept.mkdir()
        with _started(
            contestant.command(course.order(contestant, str(kept), database.url)), said, course.patience
        ) as process:
            _hear(process, READY, said)
            return _measured(contestant.name, process, course, database, watch, said)


def _measured(
    name: str,
    process: subprocess.Popen[str],
    course: Course,
    database: Database,
    watch: Callable[[int], None],
    said: IO[str],
) -> Lap:
    log = FetchLog(course.served.log)
    pids = (process.pid, course.served.pid)
    before = [cpu_seconds(pid) for pid in pids], database.cpu()
    with _watching(process.pid, log, watch) as peak:
        begun = time.perf_counter()
        _say(process)
        _hear(process, DONE, said)
        seconds = time.perf_counter() - begun
    own, server = (cpu_seconds(pid) - was for pid, was in zip(pids, before[0], strict=True))
    database_cpu = database.cpu() - before[1]
    _say(process)
    if process.wait(60):
        raise Fell(f"{name} ended with code {process.returncode}:\n{_tail(said)}")
    fetches = log.fetches()
    return Lap(
        name=name,
        pages=sum(status == 200 and path != "/robots.txt" for _, status, path in fetches),
        seconds=seconds,
        cpu=own + database_cpu,
        database_cpu=database_cpu,
        server_cpu=server,
        peak_bytes=max(peak),
        faults=faults(fetches, course.site.pages),
    )


@contextmanager
def folder(scratch: Path) -> Iterator[Path]:
    """Yield a temporary folder."""
    # On the disk of the project: the usual place for temporary files may be memory, where syncing costs nothing.
    scratch.mkdir(exist_ok=True)
    made = tempfile.mkdtemp(prefix="lap-", dir=scratch)
    try:
        yield Path(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _started(command: list[str], said: IO[str], patience: float) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        text=True,
        start_new_session=True,
    )
    end = Event()
    guard = Thread(target=_end_late, args=(process.pid, end, patience), daemon=True)
    guard.start()
    try:
        yield process
    finally:
        end.set()
        guard.join()
        _end(process.pid)
        process.communicate()


def _end_late(group: int, end: Event, patience: float) -> None:
    if not end.wait(patience):
        _end(group)


def _end(group: int) -> None:
    """End a contestant and all its descendants, which are a process group of their own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _say(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.write("\n")
        process.stdin.flush()


def _hear(process: subprocess.Popen[str], word: str, said: IO[str]) -> None:
    assert process.stdout
    for line in process.stdout:
        if line.strip() == word:
            return
    raise Fell(f"the contestant ended before it was {word!r}:\n{_tail(said)}")


def _tail(said: IO[str]) -> str:
    said.seek(0)
    return said.read()[-3000:]


@contextmanager
def _watching(pid: int, log: FetchLog, watch: Callable[[int], None]) -> Iterator[list[int]]:
    """Sample memory and progress at intervals, in a thread."""
    end, sizes = Event(), [resident_bytes(pid)]

    def look() -> None:
        while not end.wait(CHECK_INTERVAL_SECONDS):
            sizes.append(resident_bytes(pid))
            watch(log.count())

    looking = Thread(target=look)
    looking.start()
    try:
        yield sizes
    finally:
        end.set()
        looking.join()
        sizes.append(resident_bytes(pid))
