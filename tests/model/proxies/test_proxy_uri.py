"""URIs of proxies."""

import io

import pytest
from rich.console import Console

from longline.model.errors import BadInput
from longline.model.proxies.proxy_uri import Proxy
from longline.ports.http import Request


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("http://192.0.2.1:3128", Proxy("http", "192.0.2.1", 3128)),
        ("http://proxy.test", Proxy("http", "proxy.test", 80)),
        ("https://proxy.test/", Proxy("https", "proxy.test", 443)),
        ("socks5://proxy.test", Proxy("socks5", "proxy.test", 1080)),
        (" SOCKS5H://Proxy.TEST:9050 ", Proxy("socks5h", "proxy.test", 9050)),
        ("socks5://anna:p%40ss%3A@[fd00::a]:1080", Proxy("socks5", "fd00::a", 1080, "anna", "p@ss:")),
        ("http://anna@proxy.test:81", Proxy("http", "proxy.test", 81, "anna")),
    ],
)
def test_a_proxy_as_it_is_written(text: str, proxy: Proxy):
    assert Proxy.parse(text) == proxy
    assert hash(Proxy.parse(text)) == hash(proxy)


@pytest.mark.parametrize("text", ["192.0.2.1:3128", "proxy.test", "anna:secret@proxy.test:8080"])
def test_a_missing_scheme_is_told(text: str):
    with pytest.raises(BadInput, match="the URI has no scheme; write it out, as in http://192") as refused:
        Proxy.parse(text)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "proxy.test:8080",
        "anna:secret@proxy.test:8080",
        "ftp://anna:secret@proxy.test",
        "socks4://anna:secret@proxy.test",
        "http://anna:secret@",
        "http://anna:secret@:8080",
        "http://anna:secret@proxy.test:99999",
        "http://anna:secret@proxy.test:0x1",
        "http://anna:secret@proxy.test:8080/path",
        "http://anna:secret@proxy.test:8080?query",
        "http://anna:secret@[::1",
        "http://anna:secret@pro xy.test",
        "http://anna:secret@prüxy.test",
    ],
)
def test_what_is_no_proxy(text: str):
    with pytest.raises(BadInput) as caught:
        Proxy.parse(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("host", "port"), [("", 80), ("a/b", 80), ("a b", 80), ("1.2.3.4:80", 80), ("[::1]", 80)])
def test_a_host_is_a_host(host: str, port: int):
    with pytest.raises(BadInput, match="needs the name"):
        Proxy("http", host, port)


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_is_a_port(port: int):
    with pytest.raises(BadInput, match="not a port"):
        Proxy("http", "proxy.test", port)


def test_a_password_is_not_shown():
    proxy = Proxy("socks5", "::1", 1080, "anna", "secret")
    assert proxy.label == "socks5://[::1]:1080"
    console = Console(file=io.StringIO(), width=200)
    console.print(proxy, Request("http://site.test/", proxy=proxy))
    assert isinstance(console.file, io.StringIO)
    for shown in (repr(proxy), str(proxy), f"{Request('http://site.test/', proxy=proxy)}", console.file.getvalue()):
        assert "socks5://[::1]:1080" in shown
        assert "secret" not in shown
        assert "anna" not in shown
