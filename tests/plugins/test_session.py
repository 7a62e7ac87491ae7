import pytest

from longline.model.errors import BadInput
from longline.plugins import LoginFailed, Page, Session, session
from longline.plugins.registry import ParserSources
from longline.plugins.session import SESSION_ATTRIBUTE, SessionHook, SessionRequest

HOME = "https://a.example/shop/1"
FORM = b"""<base href=/account/><form id=search action=/find><input name=q></form>
<form id=login method=POST action=login?x=1>
<input type=hidden name=csrf value=t0ken><input name=user value=old><input name=password type=password>
<input type=checkbox name=stay><input type=checkbox name=terms checked><input type=radio name=r value=1 checked>
<select name=lang><option value=en>E<option value=de selected>D</select><textarea name=note>hi</textarea>
<input name=off disabled value=1><input type=submit name=go value=Go></form>"""


class Site:
    """A site that keeps the requests, and answers each with its number."""

    def __init__(self) -> None:
        self.requests: list[SessionRequest] = []

    async def send(self, request: SessionRequest) -> Page:
        self.requests.append(request)
        return Page(request.url, str(len(self.requests)).encode())


def hook_of(function: object) -> SessionHook:
    hook: SessionHook = getattr(function, SESSION_ATTRIBUTE)
    return hook


async def test_forms_and_values_are_posted():
    site = Site()
    client = Session(HOME, site.send)
    await client.get("/login?x=1", headers={"X-A": "b"})
    await client.post("https://b.example/in", data={"user": "a b", "n": "\xe9&"})
    answer = await client.post("../token", json={"user": "a"}, headers=[("X-A", "b")])
    await client.post("/out")
    assert answer.body == b"3"
    kind = ("content-type", "application/x-www-form-urlencoded")
    assert site.requests == [
        SessionRequest("GET", "https://a.example/login?x=1", (("X-A", "b"),)),
        SessionRequest("POST", "https://b.example/in", (kind,), b"user=a+b&n=%C3%A9%26"),
        SessionRequest(
            "POST", "https://a.example/token", (("content-type", "application/json"), ("X-A", "b")), b'{"user":"a"}'
        ),
        SessionRequest("POST", "https://a.example/out"),
    ]


async def test_a_form_is_sent_as_browsers_send_it():
    site, page = Site(), Page(HOME, FORM, content_type="text/html")
    client = Session(HOME, site.send)
    await client.submit(page, {"user": "anna", "password": "p"}, form="#login")
    await client.submit(page, {"q": "x"}, form="#search")
    post, get = site.requests
    assert (post.method, post.url) == ("POST", "https://a.example/account/login?x=1")
    assert post.body == b"csrf=t0ken&user=anna&password=p&terms=on&r=1&lang=de&note=hi"
    assert (get.method, get.url) == ("GET", "https://a.example/find?q=x")
    with pytest.raises(LoginFailed, match="there is no form '#none' on"):
        await client.submit(page, {}, form="#none")
    with pytest.raises(LoginFailed, match="not a URL"):
        await client.get("javascript:x")


def test_a_session_matches_its_urls_and_detects_its_expiry():
    @session(match=("https://a.example/*", "https://a.example/m/*"), redirects="*/login*")
    async def log_in(client: Session) -> None: ...

    hook = hook_of(log_in)
    assert (hook.name, hook.statuses) == ("log_in", frozenset({401}))
    assert (hook.fit("https://a.example/m/1"), hook.fit("https://a.example/"), hook.fit("https://b.example/")) == (
        len("https://a.example/m/"),
        len("https://a.example/"),
        None,
    )
    assert hook.leads_to_login("https://a.example/login?next=/m")
    assert not hook.leads_to_login("https://a.example/m")


def test_a_session_is_an_async_function():
    with pytest.raises(TypeError, match="session log_in must be an async function"):

        @session(match="*")
        def log_in(client: Session) -> None: ...


def test_a_file_may_have_a_session_alone_and_each_name_once(tmp_path):
    code = "from longline.plugins import session\n@session(match='*')\nasync def log_in(site): ...\n"
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(code)
    registry = ParserSources((), (str(tmp_path / "one.py"),)).open()
    assert ([hook.name for hook in registry.sessions], registry.parsers) == (["log_in"], ())
    with pytest.raises(BadInput, match="two sessions are called 'log_in'; the second is in"):
        ParserSources((), (str(tmp_path / "one.py"), str(tmp_path / "two.py"))).open()
    (tmp_path / "none.py").write_text("")
    with pytest.raises(
        BadInput, match=r"there is no parser, session or sink in .*; mark a function with @parser, @ses"
    ):
        ParserSources((), (str(tmp_path / "none.py"),)).open()
