"""The command line of a bot: `raise SystemExit(main(bot))` at the end of its file."""

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence

from longline.sdk.bot import Bot, NoHandler
from longline.sdk.client import RequestRefused, Unreachable

NOT_DONE, NOT_POSSIBLE = 1, 2


def main(bot: Bot, arguments: Sequence[str] | None = None) -> int:
    """Run a bot until SIGTERM or SIGINT, or with `--once` until no job is left; return the exit code.

    0: success. 1: with `--once`, a job failed or the server is away; or a second signal cancelled jobs.
    2: the server refused this bot, or the bot has no handler.
    """
    parser = argparse.ArgumentParser(description="Pull jobs, run their handlers and submit the results.")
    parser.add_argument("--once", action="store_true", help="stop when no jobs are left")
    parser.add_argument("--verbose", action="store_true", help="log every job")
    asked = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO if asked.verbose else logging.WARNING, format="%(levelname)s: %(message)s")
    code = asyncio.run(_run(bot, once=asked.once))
    stats, lost = bot.stats, bot.stats.lost + bot.stats.handled + bot.stats.unsent
    if code == 0 or stats.pulled:
        print(f"pulled {stats.pulled}, done {stats.done}, failed {stats.failed}, lost {lost}")
    return code or int(bot.aborted or (asked.once and stats.failed + stats.lost + stats.unsent > 0))


async def _run(bot: Bot, *, once: bool) -> int:
    bot.listen()
    try:
        await bot.run(once=once)
    except Unreachable as error:
        return _print_outcome(bot, NOT_DONE, str(error))
    except RequestRefused as refused:
        return _print_outcome(bot, NOT_POSSIBLE, f"{bot.door.url} refused this bot: {refused}")
    except NoHandler as error:
        return _print_outcome(bot, NOT_POSSIBLE, str(error))
    return 0


def _print_outcome(bot: Bot, code: int, text: str) -> int:
    print(f"{bot.door.bot_id}: {text}", file=sys.stderr)
    return code
