from longline.drivers.schedules.no_page_changes import NoPageChanges
from longline.ports.records.schedules import PageChanges


async def test_every_source_is_unknown_after_any_save():
    changes = NoPageChanges()
    await changes.save("a", PageChanges("sha256:1", 1, 1, 60_000))
    assert await changes.get("a") is None
    await changes.forget("a")
