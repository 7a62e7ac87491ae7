"""A site behind a login: a form with a CSRF token, or a token for the Authorization header; sessions that expire."""

import json
import secrets
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

from tests.web.running import SiteHandle
from tests.web.wire import Answer, Request

USER, PASSWORD = "anna", "pass-word-canary-1"


class Login:
    """The answers of the site: members' pages for clients with a login; each session is good for that many pages."""

    def __init__(self, members: dict[str, bytes], pages_per_session: int = 1000) -> None:
        self.members = members
        self.pages_per_session = pages_per_session
        self.csrf: set[str] = set()
        self.sessions: dict[str, int] = {}
        self.logins = 0
        self.issued: list[str] = []

    def add_form(self, site: SiteHandle) -> None:
        """Serve the pages to clients with the cookie of a login; others are redirected to the form."""
        site.site.extra |= {"/login": self._form, **dict.fromkeys(self.members, self._page)}

    def add_token(self, site: SiteHandle) -> None:
        """Serve the pages to clients with a token; others get 401."""
        site.site.extra |= {"/token": self._token, **dict.fromkeys(self.members, self._page_by_token)}

    def _form(self, request: Request) -> Answer:
        if request.method == "GET":
            token = secrets.token_hex(8)
            self.csrf.add(token)
            form = (
                f"<form method=post action=/login?from=form><input type=hidden name=csrf value={token}>"
                "<input name=user><input name=password type=password><input type=submit name=go value=Go></form>"
            )
            return Answer(body=form.encode(), headers=(("Set-Cookie", f"csrf={token}; Path=/login"),))
        given = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        sent = SimpleCookie(request.headers.get("cookie", ""))
        token = given.get("csrf", "")
        if token not in self.csrf or "csrf" not in sent or sent["csrf"].value != token or "go" in given:
            return Answer(400, b"<p>bad token")
        self.csrf.discard(token)
        if (given.get("user"), given.get("password")) != (USER, PASSWORD):
            return Answer(body=b"<p class=error>wrong password")
        return Answer(303, headers=(("Location", "/"), ("Set-Cookie", f"session={self._begin()}; Path=/; HttpOnly")))

    def _begin(self) -> str:
        session = f"session-canary-{secrets.token_hex(8)}"
        self.sessions[session] = self.pages_per_session
        self.issued.append(session)
        self.logins += 1
        return session

    def _spend(self, session: str) -> bool:
        if self.sessions.get(session, 0) <= 0:
            return False
        self.sessions[session] -= 1
        return True

    def _page(self, request: Request) -> Answer:
        cookies = SimpleCookie(request.headers.get("cookie", ""))
        session = cookies["session"].value if "session" in cookies else ""
        if not self._spend(session):
            return Answer(302, headers=(("Location", "/login"),))
        # The cookie is sent again with every page, as sites with sliding sessions do.
        return Answer(body=self.members[request.path], headers=(("Set-Cookie", f"session={session}; Path=/"),))

    def _token(self, request: Request) -> Answer:
        if request.method != "POST" or json.loads(request.body) != {"user": USER, "password": PASSWORD}:
            return Answer(403, b"no")
        return Answer(body=json.dumps({"token": self._begin()}).encode(), content_type="application/json")

    def _page_by_token(self, request: Request) -> Answer:
        if not self._spend(request.headers.get("authorization", "").removeprefix("Bearer ")):
            return Answer(401, b"log in")
        return Answer(body=self.members[request.path])
