from longline.ports.records import Records
from longline.testing.clock import FakeClock


async def test_messages_are_remembered_for_a_while(records: Records, clock: FakeClock):
    assert not await records.heard.has("a")
    await records.heard.note("a")
    await records.heard.note("a")
    clock.advance(1.0)
    await records.heard.note("b")
    await records.heard.prune(1000)
    assert [await records.heard.has(name) for name in "ab"] == [False, True]
