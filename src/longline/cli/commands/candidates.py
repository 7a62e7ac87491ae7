"""`longline candidates`: candidates for sources, which a person approves or rejects."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any, TypeVar

import typer
from rich.text import Text

from longline.cli.audited_changes import run_change
from longline.cli.data_folder import read_rows
from longline.cli.flags import ENGINES, takes
from longline.cli.listing import Cell, Column, Listing
from longline.model.discovery.candidate import CandidateRow
from longline.services.discovery.candidates import Candidates
from longline.settings import Loaded
from longline.wiring import open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.subjects.discovery import candidates

T = TypeVar("T")

Ids = Annotated[list[int], typer.Argument(help="Numbers of candidates, from `longline candidates list`.")]
HIGH_RISK, MEDIUM_RISK = 50, 20


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Candidates for sources, from external links.", no_args_is_help=True)
    app.command(name="list")(show)
    for command in (approve, reject, log):
        app.command()(command)
    return app


@takes(*ENGINES)
def show(
    loaded: Loaded,
    everything: Annotated[bool, typer.Option("--all", help="Show decided and unprobed candidates as well.")] = False,
    limit: Annotated[int, typer.Option(help="Maximum number.", min=1, max=1000)] = 100,
) -> None:
    """List candidates that await a decision, the most frequent first."""
    found = _read(loaded, lambda service: service.find(None if everything else "pending", limit))
    listing = Listing(
        Column("id", copied=True, right=True),
        Column("candidate", copied=True),
        Column("risk", right=True),
        "robots",
        Column("seen", right=True),
        Column("found on", copied=True),
        "verdict",
        "title",
    )
    for row in found:
        listing.add(*_row(row))
    listing.print()
    if not found:
        listing.note("no candidates; to switch discovery on: discovery = true")


@takes(*ENGINES)
def approve(loaded: Loaded, ids: Ids) -> None:
    """Make disabled sources of candidates; their first pages are fetched."""
    for candidate_id in ids:
        source = _call(loaded, partial(Candidates.approve, candidate_id=candidate_id), "candidate.approve")
        typer.echo(f"candidate {candidate_id} is source {source.id}: {source.name}, disabled")


@takes(*ENGINES)
def reject(
    loaded: Loaded, ids: Ids, reason: Annotated[str, typer.Option(help="Reason, for the log.")] = "not wanted"
) -> None:
    """Reject candidates; they are not proposed again."""
    for candidate_id in ids:
        candidate = _call(
            loaded, partial(Candidates.reject, candidate_id=candidate_id, reason=reason), "candidate.reject", reason
        )
        typer.echo(f"candidate {candidate_id} is rejected: {candidate.identity}")


@takes(*ENGINES)
def log(loaded: Loaded, candidate: Annotated[int, typer.Argument(help="Number of the candidate.")]) -> None:
    """List the decisions about a candidate, the latest first."""
    listing = Listing("step", "reason", Column("URL", copied=True))
    for decision in _read(loaded, lambda service: service.log(candidate)):
        listing.add(decision.step, decision.reason, decision.url)
    listing.print()


def _call(
    loaded: Loaded, method: Callable[[Candidates], Coroutine[Any, Any, T]], action: str, reason: str | None = None
) -> T:
    async def work() -> T:
        async with open_platform(loaded.settings) as platform:
            await migrate_tables(platform, may_migrate=True)
            return await method(candidates(platform))

    return run_change(action, work(), reason)


def _read(loaded: Loaded, method: Callable[[Candidates], Coroutine[Any, Any, list[T]]]) -> list[T]:
    async def work() -> list[T]:
        async with open_platform(loaded.settings, reading=True) as platform:
            await migrate_tables(platform, may_migrate=True)
            return await method(candidates(platform))

    return read_rows(loaded, work)


def _row(row: CandidateRow) -> tuple[Cell, ...]:
    colours = {"pending": "yellow", "approved": "green", "rejected": "red"}
    robots = "–" if row.robots is None else Text("allows", "green") if row.robots else Text("forbids", "red")
    return (
        str(row.id),
        row.identity,
        "–" if row.risk is None else Text(str(row.risk), _colour(row.risk)),
        robots,
        f"{row.seen:,}",
        row.parent_url,
        Text(row.verdict, colours.get(row.verdict, "")),
        row.title,
    )


def _colour(risk: int) -> str:
    return "red" if risk >= HIGH_RISK else "yellow" if risk >= MEDIUM_RISK else "green"
