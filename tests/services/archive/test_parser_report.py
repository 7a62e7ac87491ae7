"""Own parsers of a run: pages that they parsed, and parsers that match no page."""

from types import ModuleType

import pytest

from longline.drivers.blobs import open_blobs
from longline.parsers import page as built_in
from longline.plugins import Item, Page, parser
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.services.archive import parser_report
from longline.services.archive.parser_report import ParserUse, ParserUses
from tests.services.kept import keep


def registry(**matches: str | tuple[str, ...]) -> Registry:
    """Return a registry with the parser of any page, and own ones by name."""
    found = Registry(built_in)
    module = ModuleType("own")
    for name, match in matches.items():

        def function(page: Page):
            yield Item("book", url=page.url)

        setattr(module, name, parser(name, match=match)(function))
    found.scan(module, custom=True)
    return found


async def used(records: Records, parsers: Registry, config: dict[str, str] | None = None) -> ParserUse:
    run = await keep(records, open_blobs("memory://"), "s", {"/": b"", "/book/1": b"", "/book/2": b""})
    return await ParserUses(parsers, records.pages, records.tasks).of_run(run, config or {})


async def test_pages_go_to_the_closest_match(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parser_report, "BATCH_SIZE", 2)
    use = await used(records, registry(books="*/book/*", first="*/book/1", none="*/livre/*"))
    assert (use.pages, use.taken, use.failed, use.used) == (3, 2, 0, 2)
    assert [(one.name, one.match) for one in use.unused] == [("none", ("*/livre/*",))]
    assert use.unused[0].place.startswith("tests/services/archive/test_parser_report.py:")
    assert use.url.startswith("https://a.example/")


async def test_a_parser_with_only_less_specific_matches_gets_no_page(records: Records):
    use = await used(records, registry(any="*/book/*", closer="https://a.example/book/*"))
    assert [one.name for one in use.unused] == ["any"]


async def test_the_parser_that_a_run_names_parses_all_pages(records: Records):
    use = await used(records, registry(books=(), other="*"), {"parser": "books"})
    assert (use.taken, use.used, use.unused) == (3, 1, ())


async def test_without_own_parsers_nothing_is_read(records: Records):
    assert await used(records, registry()) == ParserUse()


async def test_no_more_than_a_bounded_number_of_pages_is_read(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parser_report, "BATCH_SIZE", 1)
    monkeypatch.setattr(parser_report, "MAX_PAGES", 2)
    assert (await used(records, registry(books="*/book/*"))).pages == 2
