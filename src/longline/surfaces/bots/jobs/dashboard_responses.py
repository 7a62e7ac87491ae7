"""Figures of the dashboard: jobs, bots and policies."""

import msgspec

from longline.model.bots.bot import BotActivity
from longline.surfaces.bots.field_types import PercentShare, Time, optional_time, share


class JobCounts(msgspec.Struct, frozen=True):
    """The number of jobs of each status."""

    pending: int = 0
    locked: int = 0
    done: int = 0
    failed: int = 0
    expired: int = 0


class ActiveBot(msgspec.Struct, frozen=True, kw_only=True):
    """The activity of a bot in the present clock hour and the one before, and in all."""

    bot_id: str
    enabled: bool
    registered: bool
    pulls_per_hour: int
    jobs_pulled_per_hour: int
    total_jobs_pulled: int
    total_jobs_completed: int
    total_jobs_failed: int
    success_rate: PercentShare
    last_pull_at: Time | None
    last_submit_at: Time | None


class PolicyCounts(msgspec.Struct, frozen=True):
    """Numbers of policies, and the next due time."""

    total: int
    enabled: int
    due: int
    failing: int
    next_due: Time | None


class DashboardFigures(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of jobs, bots and policies; the keys of the histogram are numbers of retries."""

    jobs: JobCounts
    retry_histogram: dict[str, int]
    jobs_pulled_per_hour: int
    retry_rate: PercentShare
    bot_activity: list[ActiveBot]
    policies: PolicyCounts


def active_bot(bot: BotActivity) -> ActiveBot:
    return ActiveBot(
        bot_id=bot.name,
        enabled=bot.enabled,
        registered=bot.registered,
        pulls_per_hour=bot.pulls_now,
        jobs_pulled_per_hour=bot.pulled_now,
        total_jobs_pulled=bot.pulled,
        total_jobs_completed=bot.completed,
        total_jobs_failed=bot.failed,
        success_rate=share(bot.completed, bot.failed),
        last_pull_at=optional_time(bot.last_pull_at),
        last_submit_at=optional_time(bot.last_submit_at),
    )
