from longline.model.metrics.metric import DATABASE_SECONDS, LEASES_LOST, histogram_values
from longline.settings import Settings
from longline.wiring.house import migrate_tables, open_house
from longline.wiring.parts.metrics import counting, operation


async def test_counts_are_stored_at_the_end_at_the_latest(settings: Settings):
    async with open_house(settings) as house:
        await migrate_tables(house, may_migrate=True)
        async with counting(house):
            house.metrics.add(LEASES_LOST, count=3)
        figures = await operation(house).take()
        assert figures.counters[LEASES_LOST.key()] == 3
        assert set(histogram_values(DATABASE_SECONDS, figures.counters)) >= {("write",)}
        assert figures.free_disk_bytes > 0
