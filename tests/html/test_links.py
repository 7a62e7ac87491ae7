"""Links and base URLs of pages, and the directives about following them."""

import pytest

from longline.plugins import Page

HERE = "https://example.com/dir/page"


def outgoing(markup: str, headers: list[tuple[str, str]] | None = None) -> list[str]:
    page = Page(HERE, markup.encode(), headers=headers or [], content_type="text/html; charset=utf-8")
    return [url.removeprefix("https://example.com") for url in page.links()]


@pytest.mark.parametrize(
    ("markup", "leads_to"),
    [
        ("<iframe src=a></iframe><a href=b>", ["/dir/a", "/dir/b"]),
        ("<frameset><frame src=a><frame src='b#c'></frameset>", ["/dir/a", "/dir/b"]),
        ("<iframe src=about:blank></iframe><iframe srcdoc='<a href=x>'></iframe><IFRAME SRC=A>", ["/dir/A"]),
        ("<link rel=next href=2><link rel='prev' href=0>", ["/dir/2", "/dir/0"]),
        ("<link rel=canonical href=/it>", ["/it"]),
        ("<link rel=alternate hreflang=de href=/de>", ["/de"]),
        ("<link rel='alternate stylesheet' href=x.css><link rel=stylesheet href=y.css><link rel=icon href=z>", []),
        ("<link rel=preload href=x><link rel=dns-prefetch href=//x><link rel=manifest href=x><link href=x>", []),
        ("<link rel='next nofollow' href=2>", []),
        ("<img src=a srcset='b 1x, c 2x'><source srcset=d><script src=e></script><video src=f>", []),
        ("<base href=/base/><link rel=next href=b><iframe src=a></iframe>", ["/base/b", "/base/a"]),
        ("<body><a href=a><base href=/late/>", ["/late/a"]),
        # refresh
        ("<meta http-equiv=refresh content='0; url=/new'>", ["/new"]),
        ("<meta http-equiv=Refresh content='5;URL=\"/new\"'>", ["/new"]),
        ("<meta http-equiv=refresh content=\"0;url='/new' x\">", ["/new"]),
        ("<meta http-equiv=refresh content='1.5, /new'>", ["/new"]),
        ("<meta http-equiv=refresh content='0 /new'>", ["/new"]),
        ("<meta http-equiv=refresh content='.5;url = /new'>", ["/new"]),
        ("<meta http-equiv=refresh content='30'>", []),
        ("<meta http-equiv=refresh content='url=/new'>", []),
        ("<meta http-equiv=refresh content='0url=/new'>", []),
        ("<meta name=refresh content='0;url=/new'>", []),
        ("<meta http-equiv=refresh content='0;ur=/new'>", ["/dir/ur=/new"]),
        ("<meta http-equiv=refresh content='0; url /new'>", ["/dir/url%20/new"]),
        ("<meta http-equiv=refresh content='0;url=&#9;/new'>", ["/new"]),
        ("<meta http-equiv=refresh content=\"0;url=''\"><a href=a>", ["/dir/a"]),
        ("<meta http-equiv=refresh content='0;url='>", []),
        ("<meta http-equiv=refresh content='0; '>", []),
        ("<meta http-equiv=refresh content='\u0665;url=/new'>", []),
        ("<meta http-equiv=refresh content='0\u00a0;url=/new'>", []),
        ("<p>Gone <meta http-equiv=refresh content='0;/new'><a href=a>", ["/new", "/dir/a"]),
        ("<frameset><frame src=a></frameset>", ["/dir/a"]),
        # links that may not be followed
        ("<meta name=robots content=nofollow><a href=a>", []),
        ("<META NAME=ROBOTS CONTENT='NoIndex, NoFollow'><a href=a>", []),
        ("<meta name=robots content=none><a href=a>", []),
        ("<meta name=longline content=nofollow><a href=a>", []),
        ("<meta name=robots content='noindex, follow'><a href=a>", ["/dir/a"]),
        ("<meta name=otherbot content=nofollow><a href=a>", ["/dir/a"]),
        ("<meta name=robots content='nofollowing'><a href=a>", ["/dir/a"]),
        ("<meta name=robots content='noindex nofollow'><a href=a>", []),
        ("<meta name=robots content='noindex;nofollow'><a href=a>", []),
        ("<a rel=nofollow href=a><area rel='x NOFOLLOW' href=b>", []),
    ],
)
def test_outgoing(markup, leads_to):
    assert outgoing(markup) == leads_to


def test_headers_forbid_links_as_directives_of_the_page_do():
    assert outgoing("<a href=a>", [("X-Robots-Tag", "noindex"), ("x-robots-tag", "nofollow")]) == []
    page = Page(HERE, b"<a href=a>", headers=[("X-Robots-Tag", "none")])
    assert (page.rules.follow, page.rules.noindex) == (False, True)
    assert (Page(HERE, b"").rules.follow, Page(HERE, b"").rules.noindex) == (True, False)


@pytest.mark.parametrize(
    ("markup", "canonical"),
    [
        (b"<link rel=canonical href=/it>", "https://example.com/it"),
        (b"<link rel='x Canonical' href=//other.example/#x>", "https://other.example/"),
        (b"<link rel=canonical href=/one><link rel=canonical href=/two>", "https://example.com/one"),
        (b"<base href=/base/><link rel=canonical href=it>", "https://example.com/base/it"),
        (b"<link rel=canonical href=mailto:x>", None),
        (b"<link rel=next href=/it>", None),
        (b"", None),
    ],
)
def test_canonical(markup, canonical):
    assert Page(HERE, markup).canonical == canonical


def test_a_query_is_written_in_the_encoding_of_its_page():
    body = "<a href='/ж?q=ж&x=1#ж'><a href='?q=日'>".encode()
    assert Page(HERE, body, content_type="text/html; charset=utf-8").links() == [
        "https://example.com/%D0%B6?q=%D0%B6&x=1",
        "https://example.com/dir/page?q=%E6%97%A5",
    ]
    body = "<a href='/ж?q=ж&x=1#ж'><a href='?q=&#26085;'><a href='#?ж'>".encode("cp1251")
    assert Page(HERE, body, content_type="text/html; charset=windows-1251").links() == [
        "https://example.com/%D0%B6?q=%E6&x=1",
        "https://example.com/dir/page?q=%26%2326085%3B",
        HERE,
    ]
