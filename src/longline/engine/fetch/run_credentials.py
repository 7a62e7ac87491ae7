"""Headers and cookies of runs: given by a person, left by a login, or set by a site. Their values are never logged."""

from dataclasses import dataclass, field

import msgspec

from longline.engine.stored_secrets import Vault
from longline.model.bounded_dict import BoundedDict
from longline.model.fetch.cookies import RunCookies
from longline.model.fetch.credentials import Credentials, Headers, origins
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.urls.url import parse
from longline.plugins.session import SessionHook

MAX_RUNS = 1000
"""Largest number of runs whose cookies are kept in memory."""


class SessionState(msgspec.Struct, frozen=True):
    """The result of a login: its number in the run, and the headers and cookies that it left."""

    number: int
    credentials: Credentials


@dataclass(slots=True)
class _RunState:
    """The headers and cookies of one run, with its sessions by name."""

    jar: RunCookies
    given: Credentials
    origins: frozenset[str]
    sessions: dict[str, tuple[SessionHook, SessionState]] = field(default_factory=dict)


class RunCredentials:
    """The headers and cookies of the runs of one worker; without a `vault`, plans have none."""

    def __init__(self, vault: Vault | None = None) -> None:
        self._vault = vault
        self._runs: BoundedDict[int, _RunState] = BoundedDict(MAX_RUNS)

    def jar(self, run_id: int, plan: CrawlPlan) -> RunCookies:
        """Return the cookies of a run."""
        return self._state(run_id, plan).jar

    def given(self, run_id: int, plan: CrawlPlan) -> Credentials:
        """Return the headers and cookies that a person gave the run."""
        return self._state(run_id, plan).given

    def headers(self, run_id: int, plan: CrawlPlan, url: str) -> Headers:
        """Return the headers for a URL: given ones for the origins of the seeds, those of a login for its URLs."""
        state = self._runs.get(run_id) or self._state(run_id, plan)
        if not state.given.headers and not state.sessions:
            return ()
        place = parse(url, credentials=True)
        found = dict(state.given.headers) if f"{place.scheme}://{place.host}" in state.origins else {}
        for hook, session in state.sessions.values():
            if hook.fit(url) is not None:
                found |= dict(session.credentials.headers)
        return tuple(found.items())

    def has_secrets(self, run_id: int) -> bool:
        """Return whether a run has given headers, given cookies or a login."""
        state = self._runs.get(run_id)
        return state is not None and bool(state.sessions or state.given.headers or state.given.cookies)

    def session(self, run_id: int, name: str) -> SessionState | None:
        """Return the last login of a run, by the name of its function."""
        state = self._runs.get(run_id)
        found = state.sessions.get(name) if state else None
        return found[1] if found else None

    def log_in(self, run_id: int, plan: CrawlPlan, hook: SessionHook, session: SessionState) -> None:
        """Use the headers and cookies of a login from now on, beside the given ones."""
        state = self._state(run_id, plan)
        state.sessions[hook.name] = hook, session
        for cookie in session.credentials.cookies:
            state.jar.add(cookie)

    def _state(self, run_id: int, plan: CrawlPlan) -> _RunState:
        state = self._runs.get(run_id)
        if state is None:
            given = self._read(plan)
            seeds = origins(tuple(map(parse, plan.seeds))) if given.headers else frozenset()
            state = self._runs[run_id] = _RunState(RunCookies(given.cookies), given, seeds)
        else:
            self._runs.move_to_end(run_id)
        return state

    def unlocked(self, locked: str) -> Credentials:
        """Return the credentials of a locked text; without a vault there are none."""
        return Credentials.read(self._vault.unlock(locked)) if locked and self._vault is not None else Credentials()

    def _read(self, plan: CrawlPlan) -> Credentials:
        return self.unlocked(plan.fetch.credentials)
