"""`longline policies …`: URLs that bots crawl, and their intervals."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from longline.cli.audited_changes import operator_order, run_change
from longline.cli.commands.bots import DryRun, Limit, services
from longline.cli.data_folder import read_rows
from longline.cli.event_loop import run
from longline.cli.flags import takes
from longline.cli.listing import Column, Listing
from longline.model.bots.bot_policy import BotPolicyRow, PolicyFilter
from longline.model.callers.audit import audited_as
from longline.model.errors import BadInput, NotFound
from longline.settings import Loaded
from longline.surfaces.bots.errors import problem_texts
from longline.surfaces.bots.policy_responses import policy_of
from longline.surfaces.bots.requests import NewPolicy
from longline.surfaces.field_problems import InvalidRequest
from longline.surfaces.request_reader import RequestReader

PolicyId = Annotated[str, typer.Option("--id", help="The policy's id.")]
File = Annotated[
    Path, typer.Argument(help="File with a JSON list of policies, or one URL per line.", exists=True, dir_okay=False)
]


def build() -> typer.Typer:
    """Return the command group."""
    app = typer.Typer(help="Policies: the URLs that bots crawl, and their intervals.", no_args_is_help=True)
    named = {"list": show, "add": add, "enable": enable, "disable": disable, "import": import_file}
    for name, command in {**named, "create-jobs": create_jobs}.items():
        app.command(name)(command)
    return app


@takes("data", "database")
def show(loaded: Loaded, limit: Limit = 1000) -> None:
    """List the policies, newest first."""

    async def work() -> list[BotPolicyRow]:
        async with services(loaded) as bots:
            return await bots.policies.find(PolicyFilter(), limit=limit, offset=0)

    found = [policy_of(row) for row in read_rows(loaded, work)]
    numbers = (Column(title, right=True) for title in ("every", "priority", "failures"))
    listing = Listing(
        Column("id", copied=True), Column("URL or domain", copied=True), "name", "enabled", *numbers, "due"
    )
    for policy in found:
        subject, enabled = policy.url or policy.domain or "", "yes" if policy.enabled else "no"
        counts = (f"{policy.frequency_hours} h", str(policy.priority), str(policy.failure_count))
        listing.add(policy.id, subject, policy.name or "", enabled, *counts, policy.next_run_at)
    listing.print()
    if not found:
        listing.note("no policies; add one with: longline policies add --url URL")


@takes("data", "database")
def add(
    loaded: Loaded,
    url: Annotated[str, typer.Option(help="URL to crawl at an interval.")] = "",
    domain: Annotated[str, typer.Option(help="Domain whose known URLs are crawled, instead of a URL.")] = "",
    name: Annotated[str, typer.Option(help="Name of a domain's policy.")] = "",
    pattern: Annotated[str, typer.Option(help="Regular expression for the URLs of the domain.")] = "",
    every: Annotated[int, typer.Option("--every", help="Hours between two crawls.", min=1)] = 24,
    priority: Annotated[int, typer.Option(help="Priority from 1 to 20; higher goes first.", min=1, max=20)] = 5,
) -> None:
    """Create a policy and print its id."""
    sent: dict[str, Any] = {"frequency_hours": every, "priority": priority}
    sent |= {k: v for k, v in (("url", url), ("domain", domain), ("name", name), ("url_pattern", pattern)) if v}
    _create(loaded, [sent])


@takes("data", "database")
def import_file(loaded: Loaded, file: File) -> None:
    """Create the policies of a file and print their ids; all are checked before the first is created."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    if text.lstrip().startswith("["):
        try:
            policies = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{file}: {error}") from None
    else:
        policies = [{"url": line.strip()} for line in text.splitlines() if line.strip()]
    _create(loaded, policies)


def _create(loaded: Loaded, policies: list[dict[str, Any]]) -> None:
    reader = RequestReader(NewPolicy)
    made = [_checked(reader, sent) for sent in policies]

    async def work() -> list[str]:
        ids = []
        async with services(loaded) as bots:
            for asked in made:
                policy = asked.policy(bots.now())
                with audited_as(operator_order("schedule.create")):
                    row = await bots.policies.add(policy)
                ids.append(row.uid if row else f"already exists: {policy.url or policy.name}")
        return ids

    for line in run(work()):
        typer.echo(line)


def _checked(reader: RequestReader[NewPolicy], sent: Any) -> NewPolicy:
    try:
        return reader.value(sent if isinstance(sent, dict) else {})
    except InvalidRequest as error:
        wrong = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in problem_texts(error.problems).items())
        raise BadInput(f"{sent}: {wrong}") from error


@takes("data", "database")
def enable(loaded: Loaded, policy_id: PolicyId) -> None:
    """Enable a policy."""
    _switch(loaded, policy_id, True)


@takes("data", "database")
def disable(loaded: Loaded, policy_id: PolicyId) -> None:
    """Disable a policy; its existing jobs are still handed out."""
    _switch(loaded, policy_id, False)


def _switch(loaded: Loaded, policy_id: str, enabled: bool) -> None:
    async def work() -> None:
        async with services(loaded) as bots:
            try:
                await bots.policies.change(policy_id, enabled)
            except NotFound as error:
                raise NotFound(error.noun, policy_id, f"no such policy: {policy_id}") from None

    run_change("schedule.enable" if enabled else "schedule.disable", work())
    typer.echo(f"{policy_id}: {'enabled' if enabled else 'disabled'}")


@takes("data", "database")
def create_jobs(loaded: Loaded, limit: Limit = 1000, dry_run: DryRun = False) -> None:
    """Create a job for each due policy that has no open job."""

    async def work() -> str:
        async with services(loaded) as bots:
            planned = await bots.policies.plan(limit, dry=dry_run)
        return f"created {planned.created}, skipped {planned.skipped}"

    typer.echo(run_change("task.plan", work()))
