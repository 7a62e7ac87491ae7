"""`longline crawl`: one crawl of one site, with a progress bar and a table of the fates of its URLs."""

import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from longline.cli import log_setup as logs
from longline.cli.commands.diff import unseen_items
from longline.cli.commands.export import write
from longline.cli.commands.urls import urls_command
from longline.cli.crawl_scope import Scope, ScopeArguments, read_scope, takes_scope
from longline.cli.event_loop import run as run_loop
from longline.cli.exit_codes import FAILED, INTERRUPTED, PIPE_CLOSED
from longline.cli.flags import takes
from longline.cli.hints.command_lines import command
from longline.cli.hints.links_left_out import bound_hints, refused_links
from longline.cli.hints.parser_hints import parser_hints
from longline.cli.item_outputs import Outputs, print_tables, takes_outputs
from longline.cli.listing import Column, Listing, OutputConsole
from longline.model.frontier.reasons import PARSER_ERROR
from longline.model.runs.crawl_plan import SITEMAPS, CrawlPlan, FetchOptions, ParseOptions, Politeness, Retries
from longline.model.runs.run import COUNTED_APART, WITHOUT_ITEM, RunRow
from longline.model.sinks.sink import parse_sinks
from longline.model.states import RUN_ENDED, RunState
from longline.model.urls.url import Url
from longline.plugins.parser_files import absolute_place
from longline.services.exports.exports import Exported
from longline.services.search.item_changes import ChangeCounts
from longline.services.sinks.crawl_sinks import Undelivered
from longline.settings import Loaded, Settings
from longline.wiring import CrawlRequest, CrawlResult, FolderOutput, Watcher, WorkerProgress, stored_parsers
from longline.wiring import crawl as crawl_once
from longline.wiring.platform import parser_choice

_GIVEN = ("--parsers", "default")
"""Origins of parsers that are for this crawl: the command line, and the earlier command in the same folder."""

_LOOPBACK_CONCURRENCY = 8
_FILES = ("jsonl", "parquet")
"""Formats that a crawl exports beside its archive at its end; `longline export` writes more."""

_PLANNED = (
    "user_agent",
    "delay",
    "host_concurrency",
    "respect_robots",
    "max_retries",
    "parser",
    "parser_config",
    "parsers",
)
"""Settings that a crawl keeps in its plan."""

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
    "render_url",
    "fixtures",
    "fixtures_mode",
    "parsers",
    "parser",
    "parser_config",
    "log_level",
)
@takes_scope
@takes_outputs("Folder for all results; if not given, crawl-HOST.")
def crawl(
    loaded: Loaded,
    scope: ScopeArguments,
    again: Annotated[bool, typer.Option("--again", help="Start a new crawl after the last one has ended.")] = False,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="URL",
            help="Sink that gets the items: postgresql://host/database/table, https://host/path#whsec_SECRET, an "
            "address of an own function, or the name of a sink of the settings. Can be given several times.",
            show_default=False,
        ),
    ] = None,
    *,
    outputs: Outputs,
) -> None:
    """Crawl a site once. The same command in the same folder resumes a stopped crawl.

    An option that is not given keeps its value of the folder's crawl; -o, --to, --proxies and --render-url hold for one
    command. A larger bound goes on with a crawl that ended.
    """
    # The progress bar replaces log lines, unless a log level is set.
    logs.set_up(
        loaded.settings.log_level if loaded.origins["log_level"] != "default" else "error", loaded.settings.log_format
    )
    run(loaded, CrawlArguments(scope, outputs, again, tuple(to or ())))


class CrawlArguments(msgspec.Struct, frozen=True):
    """The arguments of `longline crawl`."""

    scope: ScopeArguments
    outputs: Outputs = Outputs()
    again: bool = False
    sinks: tuple[str, ...] = ()


def run(loaded: Loaded, arguments: CrawlArguments) -> None:
    """Crawl with a progress bar, then print the table; exit non-zero after a failed or interrupted crawl."""
    wanted = read_scope(arguments.scope)
    start = wanted.seeds[0]
    folder = arguments.outputs.folder or Path(f"crawl-{start.host.replace(':', '-')}")
    request = _request(loaded, wanted, again=arguments.again)
    settings = _settings(loaded, folder, arguments.sinks)
    if loaded.origins["parsers"] == "default":
        settings = msgspec.structs.replace(settings, parsers=run_loop(stored_parsers(settings, start.href)))
    # Standard output belongs to the items.
    console = OutputConsole(stderr=arguments.outputs.items.stream)
    with _ProgressBar(console, start) as bar:
        result = run_loop(crawl_once(settings, request, bar, arguments.outputs.items))
    # Before anything is printed: the reader of a pipe may end with the first line, as `head` does.
    has_tables = bool(result.run.completed) and result.run.state in RUN_ENDED
    written = write(settings, result.run.id, FolderOutput(settings.data, _FILES), console) if has_tables else None
    _summary(console, result, settings)
    print_tables(console, result.items)
    if written is not None:
        _print_files(console, written, folder)
    _print_undelivered(console, result.undelivered, folder)
    _print_delivered(console, result, settings.sinks)
    for hint in parser_hints(result.parser_use, result.run, settings):
        console.print(Text(hint, "yellow"), soft_wrap=True)
    if code := exit_code(result, parsers_given=loaded.origins["parsers"] in _GIVEN):
        raise typer.Exit(code)


def _print_files(console: Console, written: Exported, folder: Path) -> None:
    names = ", ".join(Path(file.path).name for file in written.files)
    console.print(Text(f"tables are in {folder.absolute()}: {names}"), soft_wrap=True)
    line = command("search", "WORDS", "--data", str(folder.absolute()))
    console.print(Text(f"to search items: {line}"), soft_wrap=True)


def exit_code(result: CrawlResult, *, parsers_given: bool) -> int:
    """Return the exit code of a crawl: 0 if it brought the results that its command asked for.

    A crawl fails if it fetched no page, if sinks lack items, if own parsers failed on every page that they took, or if
    none of the parsers that were given for this crawl fits a page. Parsers of a settings file may be for other sites.
    """
    run, use = result.run, result.parser_use
    if run.state not in RUN_ENDED:
        return PIPE_CLOSED if result.pipe_closed else INTERRUPTED
    useless = use.all_failed or (parsers_given and bool(use.unused) and not use.used)
    return FAILED if run.state == RunState.FAILED or not run.completed or result.undelivered or useless else 0


def _print_undelivered(console: Console, undelivered: Sequence[Undelivered], data: Path) -> None:
    for left in undelivered:
        problem = f" ({left.problem})" if left.problem else ""
        wait, them = ("1 item still waits", "it") if left.items == 1 else (f"{left.items:,} items still wait", "them")
        console.print(Text(f"{wait} for {left.sink}{problem}; the same command sends {them}"), soft_wrap=True)
    if undelivered:
        line = command("sinks", "list", "--data", str(data.absolute()))
        console.print(Text(f"to see sinks and their positions: {line}"), soft_wrap=True)


def _print_delivered(console: Console, result: CrawlResult, sinks: Sequence[str]) -> None:
    """Print the sinks that have every item of a run that has ended."""
    behind = {left.sink for left in result.undelivered}
    for sink in parse_sinks(sinks) if result.run.state in RUN_ENDED else ():
        if sink.label not in behind:
            console.print(Text(f"all items were delivered to {sink.label}"), soft_wrap=True)


def _request(loaded: Loaded, wanted: Scope, *, again: bool) -> CrawlRequest:
    given = wanted.given | {name for name in _PLANNED if loaded.origins[name] != "default"}
    given |= {"render_url"} if _renders(loaded) else set()
    return CrawlRequest(_plan(loaded, wanted), wanted.limit, again, given, wanted.credentials)


def _settings(loaded: Loaded, out: Path, sinks: tuple[str, ...] = ()) -> Settings:
    """Return settings with all engines in one folder, except engines that were named."""
    here = out.absolute()
    changes: dict[str, object] = {"data": here}
    named = {sink.name: sink.url for sink in parse_sinks(loaded.settings.sinks) if sink.name}
    changes["sinks"] = tuple(named.get(sink, sink) for sink in sinks) or tuple(
        sink.url for sink in parse_sinks(loaded.settings.sinks) if not sink.name
    )
    if loaded.origins["database"] == "default":
        changes["database"] = f"sqlite:///{here / 'longline.db'}"
    if loaded.origins["objects"] == "default":
        changes["objects"] = here.as_uri()
    return msgspec.structs.replace(loaded.settings, **changes)


def _plan(loaded: Loaded, wanted: Scope) -> CrawlPlan:
    s = loaded.settings
    # Loopback needs no politeness, unless a delay or a concurrency is set.
    own = all(_loopback(url.hostname) for url in wanted.seeds)
    delay = 0.0 if own and loaded.origins["delay"] == "default" else s.delay
    default = loaded.origins["host_concurrency"] == "default"
    return CrawlPlan(
        seeds=tuple(url.href for url in wanted.seeds),
        bounds=wanted.bounds,
        politeness=Politeness(
            robots=s.respect_robots,
            delay_ms=round(delay * 1000),
            concurrency=_LOOPBACK_CONCURRENCY if own and default else s.host_concurrency,
        ),
        retries=Retries(max_attempts=s.max_retries + 1),
        fetch=FetchOptions(user_agents=(s.user_agent,), render=_renders(loaded)),
        parse=ParseOptions(
            config=_config(s, sitemaps=wanted.bounds.sitemap_only), files=tuple(map(absolute_place, s.parsers))
        ),
    )


def _renders(loaded: Loaded) -> bool:
    """Return whether the pages of this crawl are rendered; a service of the settings is for dynamic sources alone."""
    return loaded.origins["render_url"] == "--render-url"


def _config(settings: Settings, *, sitemaps: bool) -> str:
    """Return the config of parsers as a plan keeps it."""
    chosen = parser_choice(settings) | ({SITEMAPS: True} if sitemaps else {})
    return msgspec.json.encode(chosen, order="sorted").decode()


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


def _say_how_it_began(console: Console, result: CrawlResult) -> None:
    if result.taken_up:
        links = "link" if result.taken_up == 1 else "links"
        console.print(f"{result.taken_up:,} {links} that the earlier bounds left out taken up")
    if result.untouched:
        console.print("this crawl has already ended; add --again for a new one")


def _summary(console: Console, result: CrawlResult, settings: Settings) -> None:
    run = result.run
    _say_how_it_began(console, result)
    _print_fates(console, result)
    _details(console, result)
    console.print(Text(urls_command(run, settings)), soft_wrap=True)
    for hint in bound_hints(run, result.refused, result.dropped):
        console.print(Text(hint), soft_wrap=True)
    if run.completed and settings.objects.startswith("file:"):
        console.print(Text(f"pages are kept in {settings.data / 'warc'}"), soft_wrap=True)
    if run.state not in RUN_ENDED:
        console.print("stopped; the same command resumes the crawl")


def _print_fates(console: Console, result: CrawlResult) -> None:
    """Print the number of URLs by fate and reason, with their sum, and the counts beside the sum."""
    run, title = result.run, f"{result.run.seed}: {_outcome(result)}"
    listing = Listing("fate", "reason", Column("URLs", right=True), console=console, boxed=True)
    if not listing.is_table:
        console.print(Text(title), soft_wrap=True)
    rows = [(f.fate, f.reason, f.count) for f in result.fates if f.fate not in COUNTED_APART]
    rows += [("open", "not fetched yet", run.open)] if run.open else []
    for fate, reason, count in rows:
        listing.add(Text(fate, _COLOURS.get(fate, "white")), reason, f"{count:,}")
    listing.add_section()
    listing.add(Text("admitted", "bold"), "the sum of these", Text(f"{run.admitted:,}", "bold"))
    apart = {
        "not admitted": refused_links(run, result.fates, result.refused),
        "without item": {f.reason: f.count for f in result.fates if f.fate == WITHOUT_ITEM},
    }
    for shown, found in apart.items():
        if found:
            listing.add_section()
        for reason, count in found.items():
            listing.add(*(Text(cell, "dim") for cell in (shown, reason, f"{count:,}")))
    listing.print(title)


def _outcome(result: CrawlResult) -> str:
    """Return the word for the end of a crawl: a run that completed no page has not done what its user wanted."""
    run = result.run
    if run.state not in RUN_ENDED:
        return "stopped"
    if run.completed:
        return str(run.state)
    fetched = any(fate.reason == PARSER_ERROR for fate in result.fates)
    return "no page was parsed" if fetched else "no page was fetched"


def _details(console: Console, result: CrawlResult) -> None:
    """Print the numbers of changed items, and the errors."""
    if result.changes is not None:
        console.print(_changes(result.changes), soft_wrap=True)
    for error, count, url in result.errors:
        # Counted by requests: a URL may fail several times, and be fetched at last.
        times = "once" if count == 1 else f"{count:,} times"
        line = f"failed {times}: {error} ({'last: ' if count > 1 else ''}{url})"
        console.print(Text(line), soft_wrap=True)


def _changes(counts: ChangeCounts) -> Text:
    """Return the numbers of items against the runs before as text."""
    known = f"{counts.changed:,} changed, {counts.unchanged:,} unchanged, {counts.new:,} new, {counts.gone:,} gone"
    return Text(f"items since the last crawl: {known}{unseen_items(counts.unseen)}")
