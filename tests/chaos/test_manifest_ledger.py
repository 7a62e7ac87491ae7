"""A small form of the ledger with many finished manifests; the program prints the figures of a large one."""

from tests.chaos.manifest_ledger import measure


async def test_lists_and_pruning_of_many_manifests(database_url: str):
    figures = await measure(database_url, 60, 50)
    assert figures.pruned == 50
    assert set(figures.lists) == {"all", "failed", "open", "in progress", "tenant", "kind", "since"}
