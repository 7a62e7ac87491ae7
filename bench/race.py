"""Rounds: in each, every contestant crawls the same site once, one after the other; the order turns every round.

Only figures of one round are compared, and the median of the comparisons is shown: other load of the machine slows
all contestants of a round alike.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench import ceiling
from bench.contestants import Contestant
from bench.lap import Course, Database, Fell, Lap
from bench.lap import run as run_lap
from bench.site import Site
from bench.web import served
from tests.servers import PostgresServer, running_postgres


@dataclass
class Race:
    """All measurements: laps by round, and the ceiling of the server."""

    site: str
    server: str
    server_rate: float
    concurrency: int
    rounds: list[dict[str, Lap]] = field(default_factory=list)
    fell: dict[str, str] = field(default_factory=dict)
    postgres: str = ""


def run(site: Site, contestants: Sequence[Contestant], repeat: int, concurrency: int, console: Console) -> Race:
    """Run every round."""
    with ExitStack() as stack:
        server = stack.enter_context(served(site))
        course = Course(site, server, concurrency)
        race = Race(site.described(), server.name, ceiling.measure(course), concurrency)
        postgres = None
        if any(contestant.postgres for contestant in contestants):
            postgres = stack.enter_context(running_postgres(durable=True))
            race.postgres = postgres.version
        progress = stack.enter_context(_progress(console))
        for number in range(repeat):
            race.rounds.append({})
            for contestant in contestants if number % 2 == 0 else reversed(contestants):
                _lap(race, contestant, course, postgres, progress)
        return race


def _lap(
    race: Race, contestant: Contestant, course: Course, postgres: PostgresServer | None, progress: Progress
) -> None:
    bar = progress.add_task(f"round {len(race.rounds)}: {contestant.label}", total=course.site.count, rate="")
    try:
        with _database(postgres if contestant.postgres else None) as database:
            lap = run_lap(contestant, course, database, lambda count: progress.update(bar, completed=count))
    except Fell as fell:
        race.fell[contestant.name] = str(fell)
        progress.update(bar, rate="[red]fell")
        return
    race.rounds[-1][contestant.name] = lap
    progress.update(bar, completed=lap.pages, rate=f"{lap.rate:,.0f} pages/s")
    progress.stop_task(bar)


@contextmanager
def _database(server: PostgresServer | None) -> Iterator[Database]:
    if server is None:
        yield Database()
        return
    url = asyncio.run(server.create_database())
    try:
        yield Database(url, _postmaster(server))
    finally:
        asyncio.run(server.drop_database(url))


def _postmaster(server: PostgresServer) -> int | None:
    """Return the process of a server that was started here; the usage of another server is unknown."""
    if server.folder is None:
        return None
    return int((Path(server.folder) / "data" / "postmaster.pid").read_text().splitlines()[0])


def _progress(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        console=console,
    )
