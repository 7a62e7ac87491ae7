import re

from tests.cli.conftest import Command, assert_one_line


def test_a_proxy_from_its_registration_to_its_end(longline: Command):
    assert "no proxies" in longline("proxies", "list").stderr
    added = longline("proxies", "add", "socks5://anna:hunter2@192.0.2.1:1080", "--country", "de", "--per-hour", "50")
    assert added.stdout == "proxy 1: socks5://192.0.2.1:1080\n"
    shown = longline("proxies", "list").stdout
    assert re.search(r"1\W+socks5://192\.0\.2\.1:1080\W+on\W+0\W+0\W+0\W+never", shown)
    assert "hunter2" not in shown
    assert longline("proxies", "disable", "1").stdout == "proxy 1 is off\n"
    assert re.search(r":1080\W+off\W", longline("proxies", "list").stdout)
    assert longline("proxies", "enable", "1").stdout == "proxy 1 is on\n"
    assert longline("proxies", "remove", "1").stdout == "proxy 1 is removed\n"
    assert "no proxies" in longline("proxies", "list").stderr


def test_pools_and_their_fallbacks(longline: Command):
    for number in (1, 2):
        longline("proxies", "add", f"http://192.0.2.{number}:8080")
    assert longline("proxies", "pool", "spare", "2").stdout == "spare: proxies 2\n"
    made = longline("proxies", "pool", "main", "1", "2", "--fallback", "spare")
    assert made.stdout == "main: proxies 1, 2, then spare\n"
    assert longline("proxies", "pools").stdout == "main: proxies 1, 2, then spare\nspare: proxies 2\n"
    assert_one_line(longline("proxies", "pool", "spare"), 2, "main falls back on")
    assert longline("proxies", "pool", "main").stdout == "pool main is removed\n"


def test_mistakes_are_told_in_one_line(longline: Command):
    assert_one_line(longline("proxies", "add", "ftp://192.0.2.1:21"), 2, "not a kind of proxy")
    longline("proxies", "add", "http://192.0.2.1:8080")
    assert_one_line(longline("proxies", "add", "http://192.0.2.1:8080"), 1, "there is already such a proxy")
    assert_one_line(longline("proxies", "remove", "9"), 1, "no such proxy: 9")
    assert_one_line(longline("proxies", "pool", "p", "9"), 1, "no such proxy: 9")
