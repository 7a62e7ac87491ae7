"""The requests of bots and the answers that they got, checked against the promises of the server.

Times of locks are the server's, times of requests the harness's; both run on one machine. A bot's own clock decides
its actions and is never recorded here.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

SLACK = 5
"""Milliseconds by which the clocks of two processes may differ."""


@dataclass(frozen=True)
class Lock:
    """A job that was handed to a bot."""

    bot: str
    job: str
    since: int
    until: int


@dataclass(frozen=True)
class Submit:
    """A submission of a bot, the lock that it holds, and its outcome by the server's answer."""

    bot: str
    job: str
    lock: Lock | None
    sent: int
    heard: int
    outcome: str


ACCEPTED = {"done", "pending", "failed"}


@dataclass
class History:
    """All locks and submissions, in no particular order."""

    locks: list[Lock] = field(default_factory=list)
    submits: list[Submit] = field(default_factory=list)

    def faults(self, final: dict[str, tuple[str, int, bool]]) -> list[str]:
        """Return impossible events; `final` has (status, retry_count, has a result) of every job."""
        locks: defaultdict[str, list[Lock]] = defaultdict(list)
        for lock in self.locks:
            locks[lock.job].append(lock)
        accepted: defaultdict[str, list[Submit]] = defaultdict(list)
        for submit in self.submits:
            if submit.outcome in ACCEPTED:
                accepted[submit.job].append(submit)
        found = [f"{job}: locked or answered, but nobody made it" for job in {*locks, *accepted} - set(final)]
        for job, (status, retries, has_result) in final.items():
            found += _ends(job, status, retries, has_result, accepted[job])
            found += _overlaps(sorted(locks[job], key=lambda lock: lock.since), accepted[job])
            found += [fault for submit in accepted[job] for fault in _wrongly_accepted(submit, locks[job])]
        return found


def _ends(job: str, status: str, retries: int, has_result: bool, accepted: list[Submit]) -> list[str]:
    """Return jobs that did not end once, done, with one result."""
    outcomes = [submit.outcome for submit in accepted]
    faults = []
    if status != "done":
        faults.append(f"{job}: is {status} at the end")
    if outcomes.count("done") != 1 or not has_result:
        faults.append(f"{job}: {outcomes.count('done')} successes were accepted, result: {has_result}")
    if outcomes.count("pending") != retries:
        faults.append(f"{job}: {outcomes.count('pending')} failures were accepted, {retries} were counted")
    return faults


def _overlaps(locks: list[Lock], accepted: list[Submit]) -> list[str]:
    """Return locks that begin before the previous one has lapsed or was given back by a submission."""
    faults = []
    for before, after in pairwise(locks):
        given_back = any(s.lock == before and s.sent <= after.since + SLACK for s in accepted)
        if after.since <= before.until and not given_back:
            faults.append(
                f"{before.job}: {before.bot} held it until {before.until}, {after.bot} got it at {after.since}"
            )
    return faults


def _wrongly_accepted(submit: Submit, locks: list[Lock]) -> list[str]:
    """Return submissions that were accepted from a bot without the job's lock."""
    lock = submit.lock
    if lock is None or lock.bot != submit.bot:
        return [f"{submit.job}: {submit.bot} never held it and its answer was accepted"]
    faults = []
    if submit.sent > lock.until + SLACK:
        faults.append(f"{submit.job}: an answer of {submit.bot} was accepted after its lock had lapsed")
    if any(lock.since < other.since <= submit.sent - SLACK for other in locks if other != lock):
        faults.append(f"{submit.job}: an answer of {submit.bot} was accepted when somebody else had the job")
    return faults
