"""`longline export`, `diff`, `page`, `reparse` and `search`: commands that read stored pages and items."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from longline.drivers.exports import FolderExport
from longline.drivers.exports.row_table import RowTable
from longline.drivers.extras import load_driver
from longline.engine.archive.page_reader import PageReader as PageArchive
from longline.engine.parse.page_parser import PageParser
from longline.model.archive.warc import warcinfo_fields
from longline.model.errors import NotFound, Unavailable
from longline.model.exports.export import ExportedFile, TableFile
from longline.model.frontier.fate import UrlFilters
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunKind, RunRow
from longline.model.whole_number import whole_number
from longline.plugins.parser import CONFIG_KEY, PARSER_KEY
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.services.archive.archive_check import ArchiveCheck, Findings, Repair
from longline.services.archive.archive_check import Progress as CheckProgress
from longline.services.archive.pages import ArchivedPage, ArchivedPages
from longline.services.archive.parsed_pages import ParsedPages
from longline.services.archive.parser_report import ParserUses
from longline.services.archive.reparse import Reparse, Reparsed
from longline.services.exports.exports import Exported, Exports, ExportStores, Progress
from longline.services.exports.item_tables import ItemOutputs, WrittenTables, check_kinds
from longline.services.exports.markdown_files import MarkdownFiles
from longline.services.frontier.url_fates import UrlFates, UrlOut
from longline.services.runs.last_run import find_run
from longline.services.runs.run_list import ListedRun, RunLists, check_comparable
from longline.services.search.item_changes import ItemChanges, ItemDifference
from longline.services.search.item_search import Searches, SearchPage, SearchRequest
from longline.settings import Settings
from longline.wiring.platform import (
    check_config_has_parser,
    load_parsers,
    migrate_tables,
    open_platform,
    page_parser,
    parser_choice,
)
from longline.wiring.read_only_archive import Archive, open_archive
from longline.wiring.subjects.exports import check_places, live_items
from longline.wiring.subjects.runs import run_deleter
from longline.wiring.subjects.sources import plan_cache


class FolderOutput(NamedTuple):
    """A folder for exported files, their formats, and whether pages come with the headers of their responses."""

    folder: Path
    formats: Sequence[str]
    headers: bool = False


async def export(settings: Settings, run_id: int | None, out: FolderOutput, progress: Progress) -> Exported:
    """Write pages, items and URLs of a run, by default the last, into files."""
    async with open_archive(settings) as archive:
        run = await find_run(archive.records.runs, run_id)
        with FolderExport(out.folder, out.formats) as files:
            if "markdown" in out.formats:
                await _write_markdown(archive, run.id, files, progress)
            stores = ExportStores(archive.records.pages, archive.records.items, archive.records.tasks)
            exports = Exports(
                stores, archive.blobs, archive.clock, warcinfo_fields(settings.user_agent), headers=out.headers
            )
            return await exports.run(run.id, files, out.formats, progress)


async def _write_markdown(archive: Archive, run_id: int, files: FolderExport, progress: Progress) -> None:
    async with AsyncExitStack() as stack:
        parser = page_parser(archive.settings, load_parsers(archive.settings), stack)
        pages = _parsed_pages(archive.records, archive.blobs, parser, archive.settings)
        await MarkdownFiles(pages).write(run_id, files, progress)


async def list_urls(
    settings: Settings, run_id: int | None, filters: UrlFilters, show: Callable[[Sequence[UrlOut]], None]
) -> int:
    """Show the URLs of a run, by default the last, batch by batch; return their number."""
    count = 0
    async with open_archive(settings) as archive:
        run = await find_run(archive.records.runs, run_id)
        async for urls in UrlFates(archive.records.tasks).batches(run.id, filters):
            show(urls)
            count += len(urls)
    return count


async def export_urls(settings: Settings, run_id: int | None, filters: UrlFilters, file: TableFile) -> ExportedFile:
    """Write the URLs of a run, by default the last, into a file."""
    async with open_archive(settings) as archive:
        run = await find_run(archive.records.runs, run_id)
        check_places([file])
        with RowTable(file, UrlOut) as table:
            async for urls in UrlFates(archive.records.tasks).batches(run.id, filters):
                table.add(urls)
            return table.finish()


async def export_items(settings: Settings, run_id: int | None, outputs: ItemOutputs) -> WrittenTables:
    """Write the items of a run, by default the last, into the named files and to standard output."""
    async with open_archive(settings) as archive:
        run = await find_run(archive.records.runs, run_id)
        await check_kinds(archive.records.items, run.id, outputs.kinds)
        check_places(outputs.files)
        live = live_items(archive.records.items, archive.clock, outputs)
        written = await live.finish(run.id) if live else WrittenTables()
        if live and live.broken:
            raise BrokenPipeError
        return written


async def diff(settings: Settings, before: int, after: int, show: Callable[[ItemDifference], None]) -> None:
    """Call `show` with each item in which two runs differ."""
    async with open_archive(settings) as archive:
        records = archive.records
        runs = [await records.runs.get(run_id) for run_id in (before, after)]
        for run_id, run in zip((before, after), runs, strict=True):
            if run is None:
                raise NotFound("run", run_id, f"there is no run {run_id}; longline runs lists the runs of a folder")
        earlier, later = runs
        if earlier is not None and later is not None:
            check_comparable(earlier, later)
            async for difference in ItemChanges(records.runs, records.item_changes).between(earlier, later):
                show(difference)


async def list_runs(settings: Settings, limit: int, *, everything: bool = False) -> list[ListedRun]:
    """Return the newest runs: crawls, or with `everything` all kinds."""
    async with open_archive(settings) as archive:
        records = archive.records
        lists = RunLists(records.runs, records.sources, records.schedules)
        return await lists.find(limit=limit, kind=None if everything else RunKind.CRAWL)


async def get_run(settings: Settings, run_id: int) -> RunRow:
    """Return a run; raise `NotFound` for an unknown one."""
    async with open_archive(settings) as archive:
        return await find_run(archive.records.runs, run_id)


async def delete_run(settings: Settings, run_id: int, *, forced: bool = False) -> None:
    """Delete a run; raise `NotFound` for an unknown one, `Conflict` for one in use."""
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=False)
        await run_deleter(platform).delete(run_id, forced=forced)


async def check_archive(settings: Settings, progress: CheckProgress, *, repair: bool = False) -> tuple[Findings, int]:
    """Check the archive; with `repair`, queue damaged pages to be fetched. Return findings and queued number."""
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=False)
        records = platform.records
        findings = await ArchiveCheck(records.pages, records.segments, platform.blobs).run(progress)
        if not repair or not findings.damaged:
            return findings, 0
        plans = plan_cache(platform)
        return findings, await Repair(platform.lifecycle, records.runs, records.pages, plans).begin(findings.damaged)


async def reparse(settings: Settings, run_id: int | None, progress: Progress) -> Reparsed:
    """Parse the pages of a run, by default the last, from the archive."""
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=False)
        run = await find_run(platform.records.runs, run_id)
        config = parsing_config(CrawlPlan.read(run.plan).config, settings)
        check_config_has_parser(config)
        platform.parser.check(config)
        pages = _parsed_pages(platform.records, platform.blobs, platform.parser, settings)
        done = await Reparse(pages, platform.records.items).run(run.id, config, progress)
        await platform.indexer.once()
        uses = ParserUses(platform.parsers, platform.records.pages, platform.records.tasks)
        return msgspec.structs.replace(done, parser_use=await uses.of_run(run, config))


def parsing_config(planned: Mapping[str, Any], settings: Settings) -> Mapping[str, Any]:
    """Return the config of a run's pages; another parser than the run's does not get the config of the run's parser."""
    chosen = parser_choice(settings)
    other = chosen.get(PARSER_KEY, planned.get(PARSER_KEY)) != planned.get(PARSER_KEY)
    return {name: value for name, value in planned.items() if name != CONFIG_KEY or not other} | chosen


def _parsed_pages(records: Records, blobs: Blobs, parser: PageParser, settings: Settings) -> ParsedPages:
    at_once = max(1, 2 * settings.parse_processes)  # one is read while another is parsed
    return ParsedPages(records.pages, PageArchive(records.pages, blobs), parser, at_once)


async def read_page(settings: Settings, which: str) -> ArchivedPage:
    """Return an archived page, by its URL or by the number of its task."""
    async with open_archive(settings) as archive:
        pages = ArchivedPages(archive.records.pages, archive.blobs)
        task_id = whole_number(which)
        return await (pages.by_url(which) if task_id is None else pages.by_task(task_id))


async def search(settings: Settings, asked: SearchRequest) -> SearchPage:
    """Return the matches of a search."""
    async with open_archive(settings, write=True) as archive:
        if archive.writable and settings.database.startswith("sqlite"):
            # No indexer may be running: the search itself brings the index up to date.
            await archive.indexer.once()
        return await Searches(archive.search, archive.records.items).find(asked)


async def stored_parsers(settings: Settings, seed: str) -> tuple[str, ...]:
    """Return the files of custom parsers of the last crawl from this URL; none where there was no crawl."""
    try:
        async with open_archive(settings) as archive:
            run = await archive.records.runs.latest(RunKind.CRAWL, seed)
    except (NotFound, Unavailable):
        return ()  # the crawl itself creates the tables, or says what is wrong
    return CrawlPlan.read(run.plan).parse.files if run is not None else ()


async def parsers_of_run(settings: Settings, run_id: int | None) -> tuple[str, ...]:
    """Return the files of custom parsers of a run, by default the last."""
    async with open_archive(settings) as archive:
        return CrawlPlan.read((await find_run(archive.records.runs, run_id)).plan).parse.files


async def platform_parsers(settings: Settings) -> tuple[str, ...]:
    """Return the files and modules of custom parsers of the processes that run on the database now."""
    try:
        async with open_archive(settings) as archive:
            workers = await archive.records.workers.find()
    except (NotFound, Unavailable):
        return ()  # the command itself says what is wrong
    return tuple(dict.fromkeys(place for worker in workers for place in msgspec.json.decode(worker.parsers)))


async def serve_mcp(settings: Settings, *, allow_crawl: bool) -> None:
    """Answer a language model's client on standard input and output; the library for it comes with an extra."""
    await load_driver("longline.wiring.mcp").serve_mcp(settings, allow_crawl=allow_crawl)
