"""Old pages of recrawls are searched in bounded steps over the recrawls."""

from longline.ports.records import Records
from tests.drivers.records.recrawls.world import recrawl, shop, submit


async def test_recrawls_are_read_in_bounded_steps(records: Records):
    run = await shop(records)
    made = await submit(records, *(recrawl(run, f"/{number}") for number in range(3)))
    ids = sorted(made.ids.values())
    assert await records.recrawl_pages.delete_pages(1, 0, 2) == (0, ids[1])
    assert await records.recrawl_pages.delete_pages(1, ids[1], 2) == (0, None)
