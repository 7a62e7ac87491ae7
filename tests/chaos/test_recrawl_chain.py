"""Chains over two intervals with schedulers that are killed; the large form is a program."""

from tests.chaos import recrawl_chain
from tests.servers import PostgresServer


async def test_chains_have_one_successor_for_each_interval_although_schedulers_die(postgres_server: PostgresServer):
    with postgres_server.fresh_database() as url:
        figures = await recrawl_chain.run(url, tasks=10, intervals=2)
    assert figures["successors"] == 20
