"""A frontier of any size, written past admission: one giant host, and many small ones of twenty tasks."""

import random
import sqlite3
import time
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

import asyncpg

from longline.model.frontier.task import DEFAULT_PRIORITY, FETCH, NewTask
from longline.model.states import TaskState
from longline.model.urls.normalization import dedupe_key

GIANT = "giant.example"
GIANT_SHARE = 0.6
GIANT_DIRECTORY = 200
PER_HOST, PER_SECTION = 20, 5
DELAY_MS, CONCURRENCY = 0, 1
AT_ONCE = 50_000

HOSTS = ("id", "host", "delay_ms", "concurrency")
LINE = ("host_id", "wake_at")
TASKS = (
    "id",
    "scope",
    "host_id",
    "key",
    "run_id",
    "executor",
    "state",
    "priority",
    "due",
    "depth",
    "created_at",
    "url",
)
QUEUE = ("host_id", "due", "priority", "run_id", "id", "attempt", "token")


class Page(NamedTuple):
    """A URL of the shape and the id of its host."""

    host_id: int
    host: str
    url: str

    def task(self, run_id: int) -> NewTask:
        """Return the page as a task to be admitted."""
        return NewTask(self.url, self.host, dedupe_key(self.url), scope=run_id, run_id=run_id)


class Shape(NamedTuple):
    """The distribution of tasks. The giant host has the id 1, small hosts follow."""

    giant: int
    hosts: int

    @classmethod
    def of(cls, tasks: int) -> "Shape":
        """Return the shape with three fifths in the giant host, the rest in small ones."""
        hosts = round(tasks * (1 - GIANT_SHARE)) // PER_HOST
        return cls(tasks - hosts * PER_HOST, hosts)

    @property
    def tasks(self) -> int:
        return self.giant + self.hosts * PER_HOST

    def large(self, number: int) -> Page:
        """Return a page of the giant host."""
        return Page(1, GIANT, f"https://{GIANT}/shelf-{number // GIANT_DIRECTORY}/page-{number}.html")

    def small(self, host: int, number: int) -> Page:
        """Return a page of a small host."""
        name = f"host{host}.example"
        return Page(host + 2, name, f"https://{name}/section-{number // PER_SECTION}/page-{number}.html")

    def any(self, dice: random.Random) -> Page:
        """Return any page of the frontier, each as likely as the other."""
        number = dice.randrange(self.tasks)
        return self.large(number) if number < self.giant else self.small(*divmod(number - self.giant, PER_HOST))

    def pages(self) -> Iterator[Page]:
        """Yield all pages in the order in which a crawl might find them: sections together, hosts mixed."""
        bursts = self.hosts * PER_HOST // PER_SECTION
        given = 0
        for burst in range(bursts):
            section, host = divmod(burst, self.hosts)
            yield from (self.small(host, section * PER_SECTION + n) for n in range(PER_SECTION))
            until = self.giant * (burst + 1) // bursts
            yield from map(self.large, range(given, until))
            given = until
        yield from map(self.large, range(given, self.giant))

    def host_rows(self) -> Iterator[tuple[int, str, int, int]]:
        names = chain([GIANT], (f"host{n}.example" for n in range(self.hosts)))
        return ((n, name, DELAY_MS, CONCURRENCY) for n, name in enumerate(names, 1))

    def line_rows(self, now: int) -> Iterator[tuple[int, int]]:
        """Return due times at which all hosts wait, some longer than others."""
        return ((n, now - self.hosts + n - 1) for n in range(1, self.hosts + 2))


class Rows(NamedTuple):
    """The rows of one part of the tasks."""

    tasks: list[tuple[object, ...]]
    queue: list[tuple[int, ...]]


def rows(shape: Shape, run_id: int, now: int) -> Iterator[Rows]:
    """Yield rows of all tasks, part by part, as admission into an empty database would write them."""
    numbered = enumerate(shape.pages(), 1)
    rest = (run_id, FETCH, TaskState.PENDING.value, DEFAULT_PRIORITY, 0, 0, now)
    while part := list(islice(numbered, AT_ONCE)):
        yield Rows(
            [(n, run_id, page.host_id, dedupe_key(page.url), *rest, page.url) for n, page in part],
            [(page.host_id, 0, DEFAULT_PRIORITY, run_id, n, 0, 0) for n, page in part],
        )


async def fill(url: str, shape: Shape, run_id: int) -> None:
    """Write hosts, lines, tasks and queue into tables that are empty, and count them in the run."""
    now = time.time_ns() // 1_000_000
    if url.startswith("sqlite:///"):
        _fill_sqlite(url.removeprefix("sqlite:///"), shape, run_id, now)
    else:
        await _fill_postgres(url, shape, run_id, now)


async def _fill_postgres(url: str, shape: Shape, run_id: int, now: int) -> None:
    connection = await asyncpg.connect(url, command_timeout=3600)
    try:
        # Foreign keys are checked by triggers, row by row; the rows here have valid keys by construction.
        await connection.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        await connection.copy_records_to_table("hosts", records=shape.host_rows(), columns=HOSTS)
        await connection.copy_records_to_table("line", records=shape.line_rows(now), columns=LINE)
        for part in rows(shape, run_id, now):
            await connection.copy_records_to_table("tasks", records=part.tasks, columns=TASKS)
            await connection.copy_records_to_table("queue", records=part.queue, columns=QUEUE)
        for table, last in (("hosts", shape.hosts + 1), ("tasks", shape.tasks)):
            await connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {last})")
        await connection.execute(
            "UPDATE run_counts SET admitted = $1, open = $1 WHERE run_id = $2", shape.tasks, run_id
        )
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()


def _fill_sqlite(path: str, shape: Shape, run_id: int, now: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA cache_size = -524288")
        connection.execute("BEGIN")
        connection.executemany(_insert("hosts", HOSTS), shape.host_rows())
        connection.executemany(_insert("line", LINE), shape.line_rows(now))
        for part in rows(shape, run_id, now):
            connection.executemany(_insert("tasks", TASKS), part.tasks)
            connection.executemany(_insert("queue", QUEUE), part.queue)
            # The log would grow to the size of the database.
            connection.execute("COMMIT")
            connection.execute("BEGIN")
        connection.execute("UPDATE run_counts SET admitted = ?1, open = ?1 WHERE run_id = ?2", (shape.tasks, run_id))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()


def _insert(table: str, columns: tuple[str, ...]) -> str:
    values = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"  # noqa: S608 - all names are our own
