"""`longline`, or a build of it without the owner check: `python -m tests.chaos.bot_server careless up …`."""

import sys

from longline.cli.main import main
from longline.drivers.records.bots import tasks as bot_tasks
from longline.model.bots.bot_task import Holding, Refusal, refusal


def careless(holding: Holding | None, created_at: int, bot: str, now: int) -> Refusal | None:
    """Run the checks without the one of the lock's owner."""
    whose = bot if holding is None else holding.holder or bot
    return refusal(holding, created_at, whose, now)


if __name__ == "__main__":
    if sys.argv[1] == "careless":
        setattr(bot_tasks, "refusal", careless)  # noqa: B010 - what it imports is nobody else's to set
        del sys.argv[1]
    main()
