"""Metrics of the bot API, for `/metrics`."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from longline.model.bots.bot_task import AnswerVerdict, Pulled
from longline.model.states import TaskState
from longline.surfaces.bots.job_statuses import job_counts, word

MAX_BOT_LABELS = 1000
"""Most bot names used as labels: clients choose their names freely, and labels must stay bounded."""


class BotMetrics:
    """Counters and gauges of bots and their jobs, in the given registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._names: set[str] = set()
        self._pulled = Counter("crawl_jobs_pulled", "Jobs handed out.", ("bot",), registry=registry)
        self._skipped = Counter("crawl_pull_skipped", "Jobs seen under other bots' locks.", registry=registry)
        self._lapsed = Counter("crawl_lock_expired", "Locks that lapsed and were handed on.", registry=registry)
        self._submits = Counter("crawl_submits", "Submits answered.", ("bot", "outcome"), registry=registry)
        self._seconds = Histogram("crawl_submit_seconds", "Time to answer a submit.", registry=registry)
        self._jobs = Gauge("crawl_jobs", "Jobs there are.", ("status",), registry=registry)

    def pulled(self, bot: str, pulled: Pulled) -> None:
        """Count one pull."""
        self._pulled.labels(self._label(bot)).inc(len(pulled.tasks))
        self._skipped.inc(pulled.skipped)
        self._lapsed.inc(pulled.reclaimed)

    def submitted(self, bot: str, verdict: AnswerVerdict, seconds: float) -> None:
        """Count one submit by its outcome."""
        again = verdict.state == TaskState.PENDING
        outcome = verdict.refusal or ("retry" if again else word(verdict.state))
        self._submits.labels(self._label(bot), outcome).inc()
        self._seconds.observe(seconds)

    def set_jobs(self, states: Mapping[str, int]) -> None:
        """Set the number of jobs of each status."""
        for status, count in job_counts(states).items():
            self._jobs.labels(status).set(count)

    def _label(self, bot: str) -> str:
        if bot in self._names or len(self._names) < MAX_BOT_LABELS:
            self._names.add(bot)
            return bot
        return "other"
