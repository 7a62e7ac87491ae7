"""Leases of hosts and tasks that are taken back: lapsed ones, and those of a worker that died or stopped."""

from longline.drivers.records.database import Transaction


async def reap_hosts(tx: Transaction, limit: int) -> list[int]:
    """Free hosts with lapsed leases; the next holder of each waits a whole delay. Return their ids."""
    return [row["host_id"] for row in await tx.all("reap_hosts", limit=limit)]


async def disown_hosts(tx: Transaction, owner: int) -> int:
    """Free the hosts of a worker; return how many."""
    return len(await tx.all("disown_hosts", owner=owner))


async def reap_offers(tx: Transaction, limit: int) -> int:
    """Make tasks with lapsed leases ready again, and retries that came due; return how many."""
    return len(await tx.all("reap_offers", limit=limit))


async def disown_offers(tx: Transaction, owner: int) -> int:
    """Make the tasks of a worker ready again; return how many."""
    return len(await tx.all("disown_offers", owner=owner))
