"""URLs that are stored with the report of a page: only for pages of recrawls, and each image once."""

from msgspec.structs import replace

from longline.engine.parse.parser_results import Parsed
from longline.engine.parse.report_additions import ReportAdditions, ReportedPage, additions_of
from longline.engine.recrawls.found_urls import RecrawlFinds
from longline.model.frontier.task import ClaimedTask
from longline.model.recrawls.recrawl import MAX_PRODUCT_IMAGES, RecrawlFind
from longline.model.runs.crawl_plan import CrawlPlan, ParseOptions
from longline.plugins import Item

TASK = ClaimedTask(7, "https://shop.example/p", 3, -1, 0, 1, 500, 0)
STORING = CrawlPlan((), parse=ParseOptions(stores_images=True))
PARSED = Parsed(items=(Item("product", images=["/a", "/b", 1, "/a"]), Item("note", images=["/c"])), children=("/d",))


async def found(finder: RecrawlFinds, page: ReportedPage) -> ReportAdditions:
    return await additions_of([finder.contribute], [page])


async def test_children_and_images_of_recrawls_are_added():
    finder = RecrawlFinds()
    child, images = RecrawlFind(7, "child", "/d"), [RecrawlFind(7, "image", "/a"), RecrawlFind(7, "image", "/b")]
    assert (await found(finder, ReportedPage(TASK, CrawlPlan(()), PARSED))).finds == [child]
    additions = await found(finder, ReportedPage(TASK, STORING, PARSED))
    assert additions.finds == [child, *images]
    assert (await found(finder, ReportedPage(TASK, STORING, PARSED))).finds == [child, *images], (
        "the report is not written yet"
    )
    additions.written()
    assert (await found(finder, ReportedPage(TASK, STORING, PARSED))).finds == [child]


async def test_other_pages_and_failed_parsers_add_nothing():
    for task, parsed in ((replace(TASK, scope=3), PARSED), (TASK, replace(PARSED, error="no")), (TASK, None)):
        assert (await found(RecrawlFinds(), ReportedPage(task, STORING, parsed))).finds == []


async def test_the_images_of_a_product_are_bounded():
    many = Parsed(items=(Item("product", images=[f"/{n}" for n in range(2 * MAX_PRODUCT_IMAGES)]),))
    assert len((await found(RecrawlFinds(), ReportedPage(TASK, STORING, many))).finds) == MAX_PRODUCT_IMAGES
