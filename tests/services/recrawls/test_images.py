"""Images of products: each URL is one download of its source, and a source that is off has its images held."""

from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.engine.lifecycle.moves import Lifecycle
from longline.model.runs.run import RunKind
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.services.recrawls.holds import Holds
from longline.services.recrawls.images import ProductImages
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.recrawls.world import shop

URLS = ["https://cdn.example/a.PNG", "https://cdn.example/b"]


def services(records: Records, clock: FakeClock) -> tuple[ProductImages, Holds]:
    runs = RecrawlRuns(records.runs, records.sources, clock, Registry())
    return ProductImages(records, Lifecycle(records).downloads, runs), Holds(records.holds, runs)


async def test_an_image_on_several_pages_is_one_download(records: Records, clock: FakeClock):
    source_id = (await shop(records)).source_id or 0
    images, _ = services(records, clock)
    assert [await images.store(source_id, URLS), await images.store(source_id, URLS)] == [2, 0]
    run = await records.runs.first(RunKind.IMAGES, str(source_id))
    assert run is not None
    keys = {row.given_url: row.key for row in await records.downloads.find(run.id)}
    assert keys[URLS[0]].startswith(f"images/{source_id}/")
    assert (keys[URLS[0]][-4:], keys[URLS[1]].count(".")) == (".png", 0)
    assert await images.of(source_id, URLS) == {}, "no image is stored yet"
    assert await images.of(None, URLS) == {}


async def test_disabling_a_source_holds_its_images_too(records: Records, clock: FakeClock):
    source_id = (await shop(records)).source_id or 0
    images, holds = services(records, clock)
    await images.store(source_id, URLS)
    await holds.disable(source_id)
    assert len(await records.holds.held_runs()) == 2
    await holds.enable(source_id)
    assert await records.holds.held_runs() == frozenset()
