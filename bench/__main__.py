"""`make bench`: what the engine does per second here, in one run. Numbers mean something only beside each other."""

import argparse
import asyncio
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.servers import running_postgres

from bench.frontier import Measured, drain


def main() -> None:
    """Run every measurement and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--tasks", type=int, default=50_000, help="tasks in the frontier")
    tasks = parser.parse_args().tasks
    console = Console()
    rows = []
    with console.status("the frontier on SQLite"), tempfile.TemporaryDirectory() as folder:
        rows.append(("SQLite, FULL, 1 connection", asyncio.run(drain(f"sqlite:///{Path(folder) / 'b.db'}", tasks, 1))))
    with running_postgres(durable=True) as server:
        for connections in (1, 2):
            with console.status(f"the frontier on PostgreSQL, {connections} connections"):
                url = asyncio.run(server.create_database())
                measured = asyncio.run(drain(url, tasks, connections))
                rows.append((f"{server.version}, durable, {connections} at once", measured))
    console.print(_table(rows))


def _table(rows: list[tuple[str, Measured]]) -> Table:
    table = Table("engine", "admit /s", "claim+report /s", "claim p50 ms", "claim p99 ms", "report p50", "report p99")
    for name, m in rows:
        figures = (m.admitted, m.drained, m.claim[0], m.claim[1], m.report[0], m.report[1])
        table.add_row(name, *(f"{figure:,.0f}" if figure >= 100 else f"{figure:.1f}" for figure in figures))
    return table


main()
