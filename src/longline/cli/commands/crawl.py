"""`longline crawl`: one crawl of one site, with a progress bar and a table of the fates of its URLs."""

import ipaddress
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.command_line import command
from longline.cli.commands.export import write
from longline.cli.commands.urls import urls_command
from longline.cli.event_loop import run as run_loop
from longline.cli.flags import takes
from longline.cli.item_outputs import PIPE_CLOSED, Outputs, print_tables, takes_outputs
from longline.model.runs.plan import CrawlBounds, CrawlPlan, ParseOptions, Politeness, Retries
from longline.model.runs.run import COUNTED_APART, REFUSED, WITHOUT_ITEM, RunRow
from longline.model.states import RUN_ENDED, RunState
from longline.model.url import Url, parse
from longline.settings import Loaded, Settings, prepare_folder
from longline.wiring import CrawlRequest, CrawlResult, FolderOutput, Watcher, WorkerProgress
from longline.wiring import crawl as crawl_once
from longline.wiring.house import parser_choice

_INTERRUPTED = 130
_FAILED = 1
_LOOPBACK_CONCURRENCY = 8
_FILES = ("jsonl", "parquet")
"""Formats that a crawl exports beside its archive at its end; `longline export` writes more."""

_APART = {REFUSED: "not admitted", WITHOUT_ITEM: "without item"}
"""Fates that are no part of the sum, and their names in the table."""

_COLOURS = {"completed": "green", "failed": "red", "skipped": "yellow", "cancelled": "magenta", "open": "cyan"}


@takes(
    "database",
    "objects",
    "concurrency",
    "user_agent",
    "delay",
    "host_concurrency",
    "respect_robots",
    "egress_allow",
    "proxies",
    "fixtures",
    "fixtures_mode",
    "parsers",
    "parser",
    "parser_config",
    "log_level",
)
@takes_outputs("Folder for all results; if not given, crawl-HOST.")
def crawl(
    loaded: Loaded,
    url: Annotated[str, typer.Argument(help="URL to start from.", show_default=False)],
    depth: Annotated[int, typer.Option(min=0, help="Longest path of links from the start URL.")] = 2,
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of pages.", show_default=False)] = None,
    offsite: Annotated[bool, typer.Option("--offsite", help="Follow links to other hosts as well.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Start a new crawl after the last one has ended.")] = False,
    *,
    outputs: Outputs,
) -> None:
    """Crawl a site once. The same command in the same folder resumes a stopped crawl."""
    # The progress bar replaces log lines, unless a log level is set.
    logs.set_up(
        loaded.settings.log_level if loaded.origins["log_level"] != "default" else "error", loaded.settings.log_format
    )
    run(loaded, CrawlArguments(url, depth, limit, outputs, offsite, again))


class CrawlArguments(msgspec.Struct, frozen=True):
    """The arguments of `longline crawl`."""

    url: str
    depth: int = 2
    limit: int | None = None
    outputs: Outputs = Outputs()
    offsite: bool = False
    again: bool = False


def run(loaded: Loaded, arguments: CrawlArguments) -> None:
    """Crawl with a progress bar, then print the table; exit non-zero after a failed or interrupted crawl."""
    start = parse(arguments.url)
    folder = arguments.outputs.folder or Path(f"crawl-{start.host.replace(':', '-')}")
    settings = _settings(loaded, prepare_folder(folder, "--out"))
    request = CrawlRequest(
        _plan(loaded, start, arguments.depth, offsite=arguments.offsite), arguments.limit, arguments.again
    )
    # Standard output belongs to the items.
    console = Console(stderr=arguments.outputs.items.stream)
    with _ProgressBar(console, start) as bar:
        result = run_loop(crawl_once(settings, request, bar, arguments.outputs.items))
    _summary(console, result, settings)
    print_tables(console, result.items)
    if result.run.completed and result.run.state in RUN_ENDED:
        written = write(settings, result.run.id, FolderOutput(settings.data, _FILES), console)
        names = ", ".join(Path(file.path).name for file in written.files)
        console.print(Text(f"tables are in {names} beside it"), soft_wrap=True)
        line = command("search", "WORDS", "--data", str(folder.absolute()))
        console.print(Text(f"to search them: {line}"), soft_wrap=True)
    if result.run.state == RunState.FAILED or (result.run.state in RUN_ENDED and not result.run.completed):
        raise typer.Exit(_FAILED)
    if result.run.state not in RUN_ENDED:
        raise typer.Exit(PIPE_CLOSED if result.pipe_closed else _INTERRUPTED)


def _settings(loaded: Loaded, out: Path) -> Settings:
    """Return settings with all engines in one folder, except engines that were named."""
    here = out.absolute()
    changes: dict[str, object] = {"data": here}
    if loaded.origins["database"] == "default":
        changes["database"] = f"sqlite:///{here / 'longline.db'}"
    if loaded.origins["objects"] == "default":
        changes["objects"] = here.as_uri()
    return msgspec.structs.replace(loaded.settings, **changes)


def _plan(loaded: Loaded, start: Url, depth: int, *, offsite: bool) -> CrawlPlan:
    s = loaded.settings
    # Loopback needs no politeness, unless a delay or a concurrency is set.
    own = _loopback(start.hostname)
    delay = 0.0 if own and loaded.origins["delay"] == "default" else s.delay
    default = loaded.origins["host_concurrency"] == "default"
    return CrawlPlan(
        seeds=(start.href,),
        bounds=CrawlBounds(max_depth=depth, hosts=() if offsite else (start.host,)),
        politeness=Politeness(
            robots=s.respect_robots,
            delay_ms=round(delay * 1000),
            concurrency=_LOOPBACK_CONCURRENCY if own and default else s.host_concurrency,
        ),
        retries=Retries(max_attempts=s.max_retries + 1),
        parse=ParseOptions(config=msgspec.json.encode(parser_choice(s)).decode()),
    )


def _loopback(hostname: str) -> bool:
    try:
        return ipaddress.ip_address(hostname.strip("[]")).is_loopback
    except ValueError:
        return hostname == "localhost" or hostname.endswith(".localhost")


class _ProgressBar(Watcher):
    """The progress bar: URLs done of URLs admitted, pages per second, and failures."""

    def __init__(self, console: Console, start: Url) -> None:
        self._console = console
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(" {task.fields[rate]} pages/s  [red]{task.fields[failed]} failed"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            # Off a terminal the progress bar would still print an empty line.
            disable=not console.is_terminal,
        )
        self._bar = self._progress.add_task(start.host, total=None, rate="0", failed=0)
        self._before = 0

    def __enter__(self) -> "_ProgressBar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def opened(self, run: RunRow, *, resumed: bool) -> None:
        self._before = run.admitted - run.open
        if resumed and run.state not in RUN_ENDED:
            self._console.print(f"resuming: {run.completed} of {run.admitted} URLs done, {run.open} open")

    def moved(self, run: RunRow, progress: WorkerProgress) -> None:
        done = run.admitted - run.open
        elapsed = self._progress.tasks[0].elapsed or 0.0
        rate = (done - self._before) / elapsed if elapsed else 0.0
        self._progress.update(
            self._bar, completed=done, total=run.admitted, rate=f"{rate:,.0f}", failed=progress.failed
        )


def _summary(console: Console, result: CrawlResult, settings: Settings) -> None:
    run = result.run
    if result.untouched:
        console.print("this crawl has already ended; add --again for a new one")
    table = Table("fate", "reason", "URLs", title=f"{run.seed}: {run.state}", title_justify="left")
    table.columns[2].justify = "right"
    rows = [(f.fate, f.reason, f.count) for f in result.fates if f.fate not in COUNTED_APART]
    if run.open:
        rows.append(("open", "not fetched yet", run.open))
    for fate, reason, count in rows:
        table.add_row(f"[{_COLOURS.get(fate, 'white')}]{fate}[/]", reason, f"{count:,}")
    table.add_section()
    table.add_row("[bold]admitted[/]", "the sum of these", f"[bold]{run.admitted:,}[/]")
    for apart, shown in _APART.items():
        found = [f for f in result.fates if f.fate == apart]
        if found:
            table.add_section()
        for f in found:
            table.add_row(f"[dim]{shown}[/]", f"[dim]{f.reason}[/]", f"[dim]{f.count:,}[/]")
    console.print(table)
    for error, count, url in result.errors:
        console.print(Text(f"{count:,} failed: {error} ({'last: ' if count > 1 else ''}{url})"), soft_wrap=True)
    console.print(Text(urls_command(run, settings)), soft_wrap=True)
    if run.completed and settings.objects.startswith("file:"):
        console.print(Text(f"pages are kept in {settings.data / 'warc'}"), soft_wrap=True)
    if run.state not in RUN_ENDED:
        console.print("stopped; the same command resumes the crawl")
