"""Runs a bot from the command line: `raise SystemExit(main(bot))` at the end of its file."""

import argparse
import asyncio
import logging
from collections.abc import Sequence

from longline.sdk.bot import Bot, Stats


def main(bot: Bot, arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT, or with `--once` until there is nothing left; 1 when a job failed with `--once`."""
    parser = argparse.ArgumentParser(description="Pulls jobs, works on them and submits what was found.")
    parser.add_argument("--once", action="store_true", help="stop when there is nothing left to pull")
    parser.add_argument("--verbose", action="store_true", help="say what is done")
    asked = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO if asked.verbose else logging.WARNING)
    stats = asyncio.run(_run(bot, once=asked.once))
    print(f"pulled {stats.pulled}, done {stats.done}, failed {stats.failed}, lost {stats.lost + stats.handled}")
    return int(asked.once and stats.failed > 0)


async def _run(bot: Bot, *, once: bool) -> Stats:
    bot.listen()
    return await bot.run(once=once)
