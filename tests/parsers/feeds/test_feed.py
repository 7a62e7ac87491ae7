"""Feeds of every kind, with the mistakes of real ones. The documents are in `feeds/`."""

import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longline.model.feeds.feed import Enclosure, Feed, NotAFeed
from longline.parsers import page
from longline.parsers.feeds import feed as module
from longline.parsers.feeds import sitemap
from longline.parsers.feeds.feed import read_feed
from longline.plugins import Item, Link, Page
from longline.plugins.registry import Registry

FEEDS = Path(__file__).parent / "feeds"
HERE = "https://harbour.example/news/feed"


def read(name: str) -> Feed:
    return read_feed((FEEDS / name).read_bytes(), HERE)


@pytest.mark.parametrize(
    ("name", "kind", "version", "title", "urls"),
    [
        ("rss090.xml", "rss", "0.90", "Harbour Times", ["http://harbour.example/ferry"]),
        ("rss091.xml", "rss", "0.91", "Harbour Times", ["http://harbour.example/ferry?from=a&to=b"]),
        ("rss092.xml", "rss", "0.92", "Harbour Times", [None]),
        ("rss10.xml", "rss", "1.0", "Harbour Times", ["http://harbour.example/ferry"]),
        (
            "rss20.xml",
            "rss",
            "2.0",
            "Harbour Times & Tides",
            ["https://harbour.example/one?a=1&b=2", "https://harbour.example/two", None],
        ),
        ("atom03.xml", "atom", "0.3", "Harbour Times", ["http://harbour.example/ferry"]),
        ("atom10.xml", "atom", "1.0", "Harbour Times", ["https://harbour.example/news/2005/ferry"]),
        ("jsonfeed10.json", "json", "1.0", "Harbour Times", ["https://harbour.example/2", "https://harbour.example/1"]),
        ("jsonfeed11.json", "json", "1.1", "Harbour Times", ["https://harbour.example/news/ferry"]),
        ("broken.xml", "rss", "2.0", "Fish & Chips", ["http://chips.example/?a=1&b=2", "http://chips.example/cut"]),
    ],
)
def test_every_kind_is_read(name: str, kind: str, version: str, title: str, urls: list[str | None]) -> None:
    found = read(name)

    assert (found.kind, found.version, found.title) == (kind, version, title)
    assert [entry.url for entry in found.entries] == urls


def test_a_feed_has_its_urls_and_its_update_interval() -> None:
    rss, rdf, atom = read("rss20.xml"), read("rss10.xml"), read("atom10.xml")

    assert (rss.link, rss.url) == ("https://harbour.example/", "https://harbour.example/feed")
    assert (rss.hub, rss.every_ms, rss.updated) == ("https://hub.example/", 3_600_000, 1055238061000)
    assert rdf.every_ms == 6 * 3_600_000
    assert (atom.link, atom.url) == ("https://harbour.example/", "https://harbour.example/news/atom.xml")
    assert (atom.hub, atom.language, atom.authors) == ("https://hub.example/", "en", ("The Quay",))


def test_an_rss_entry() -> None:
    first, second, third = read("rss20.xml").entries

    assert (first.id, first.title) == ("tag:harbour.example,2003:1", "First \N{EN DASH} of all")
    assert first.summary == '<p>See <a href="https://harbour.example/news/two">two</a></p>'
    assert (first.authors, first.categories) == (("A. Mate",), ("Ships", "Tides"))
    assert first.published == 1055235600000
    assert first.enclosures == (Enclosure("https://harbour.example/sound.mp3", "audio/mpeg", None),)
    assert first.images == ("https://harbour.example/t.jpg", "https://harbour.example/c.jpg")
    assert (second.authors, second.published) == (("B. Cook", "C. Boy"), None)
    assert (third.url, third.id) == (None, "3")


def test_an_id_keeps_its_spelling() -> None:
    atom = b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>HTTP://harbour.example/%7e</id></entry>"
    rss = b"<rss version='2.0'><channel><item><guid>/ferry</guid></item></channel></rss>"
    (named,), (linked,) = read_feed(atom, HERE).entries, read_feed(rss, HERE).entries

    assert named.id == "HTTP://harbour.example/%7e"
    assert (linked.id, linked.url) == ("/ferry", "https://harbour.example/ferry")


def test_elements_of_podcasts_and_the_language_of_an_entry() -> None:
    found = read_feed(
        b"""<rss version="2.0" xmlns:itunes="http://www.itunes.com/DTDs/Podcast-1.0.dtd"
        xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><itunes:summary>Tides, read aloud</itunes:summary>
        <item><dc:language>fr</dc:language><title>Un</title></item></channel></rss>""",
        HERE,
    )

    assert (found.description, found.entries[0].language) == ("Tides, read aloud", "fr")


def test_scripts_in_texts_of_a_feed_are_removed() -> None:
    found = read_feed(
        b"""<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">Tides&lt;script&gt;run()&lt;/script&gt;</title>
        <subtitle type="html">High&lt;script&gt;run()&lt;/script&gt; and low</subtitle></feed>""",
        HERE,
    )

    assert (found.title, found.description) == ("Tides", "High and low")


def test_an_rdf_entry() -> None:
    (entry,) = read("rss10.xml").entries

    assert (entry.authors, entry.categories) == (("A. Mate",), ("Ships",))
    assert entry.updated == 1072883695000
    assert entry.content == '<p>Late by <a href="https://harbour.example/tide">tide</a>.</p>'


def test_the_base_of_an_atom_entry_is_its_own() -> None:
    (entry,) = read("atom10.xml").entries

    assert (entry.id, entry.title) == ("urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a", "Less < more")
    assert (entry.published, entry.updated) == (1122805769000, 1122854400000)
    assert (entry.authors, entry.categories) == (("A. Mate", "B. Cook"), ("ships",))
    assert entry.enclosures == (Enclosure("https://harbour.example/news/2005/map.png", "image/png", 1337),)
    assert entry.images == ("https://harbour.example/news/2005/map.png",)
    assert entry.summary == '<img src="https://harbour.example/news/2005/boat.png">'
    assert entry.content == '<p>Late <a href="https://harbour.example/news/2005/tide">tide</a></p>'
    assert entry.language == "en"


@pytest.mark.parametrize(
    ("declared", "encoding", "title"),
    [
        ("Shift_JIS", "cp932", "\u2460\u7dd1"),
        ("x-sjis", "cp932", "\u7dd1"),
        ("ks_c_5601-1987", "cp949", "\ub620"),
        ("x-cp1250", "cp1250", "\u0141\u00f3d\u017a"),
        ("utf-8", "latin-1", "Gr\u00f6\u00dfe"),
    ],
)
def test_labels_of_encodings_have_the_meaning_of_the_encoding_standard(
    declared: str, encoding: str, title: str
) -> None:
    body = (
        f'<?xml version="1.0" encoding="{declared}"?><rss version="2.0"><channel><title>{title}</title></channel></rss>'
    )

    assert read_feed(body.encode(encoding), HERE).title == title


def test_an_ampersand_that_is_not_escaped_stays_one() -> None:
    found = read_feed(
        b"""<rss version="2.0"><channel><title>AT&T and R&D</title><item><title><![CDATA[Q&A; &copy x]]></title>
        <link>http://a.example/?a=1&b=2&copy=3</link><description>R&D &eacute; &lt;b&gt;x&lt;/b&gt;</description>""",
        HERE,
    )

    assert found.title == "AT&T and R&D"
    assert (found.entries[0].title, found.entries[0].url) == ("Q&A; &copy x", "http://a.example/?a=1&b=2&copy=3")
    assert found.entries[0].summary == "R&D \u00e9 <b>x</b>"


def test_sections_without_an_end_take_no_time() -> None:
    began = time.thread_time()

    read_feed(b"<rss version='2.0'><channel><title>x</title>" + b"<![CDATA[" * 100_000, HERE)

    assert time.thread_time() - began < 5


def test_an_id_that_is_no_url_makes_no_link() -> None:
    rss = b"<rss version='2.0'><channel><item><guid>4711</guid></item><item><guid>http://a.example/</guid></item>"
    atom = b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link rel='self' href='e'/><id>x</id></entry></feed>"

    assert [entry.url for entry in read_feed(rss, HERE).entries] == [None, "http://a.example/"]
    assert [entry.url for entry in read_feed(atom, HERE).entries] == [None]


def test_elements_beside_the_channel_or_under_an_undeclared_prefix_are_read() -> None:
    rdf = read_feed(
        b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
        <channel><title>Tides</title></channel><image><url>http://a.example/i.png</url></image>
        <item><title>Ebb</title></item></rdf:RDF>""",
        HERE,
    )
    rss = read_feed(
        b'<rss version="2.0"><channel><atom:link rel="self" href="/me"/><title>Tides</title></channel></rss>', HERE
    )

    assert (rdf.title, rdf.image, rdf.entries[0].title) == ("Tides", "http://a.example/i.png", "Ebb")
    assert (rss.title, rss.url) == ("Tides", "https://harbour.example/me")


def test_a_flaw_is_reported_and_the_rest_is_read() -> None:
    found = read("broken.xml")

    assert found.flaw is not None
    assert found.entries[0].title == "Salt & vinegar \N{NO-BREAK SPACE} \N{COPYRIGHT SIGN}"
    assert found.entries[0].published == 1420448400000
    assert read("rss20.xml").flaw is None


def test_entities_neither_swell_nor_read_files() -> None:
    began = time.thread_time()

    (entry,) = read("laughs.xml").entries

    assert entry.url == "http://laughs.example/1"
    assert len(entry.title) < 1000
    assert "root:" not in entry.summary
    assert time.thread_time() - began < 5


def test_one_long_entity_many_times_over_is_refused() -> None:
    swelling = f'<!DOCTYPE rss [<!ENTITY a "{"x" * 5000}">]><rss version="2.0"><channel><title>{"&a;" * 5000}</title>'

    for body in (swelling.encode(), swelling.encode("utf-16")):
        with pytest.raises(NotAFeed, match="swell"):
            read_feed(body)


@pytest.mark.parametrize(
    ("piece", "times"),
    [("<!--", 50_000), ("<![if ", 5000), ("<div ", 5000), ("<a href='", 5000), ("&", 20_000), ("<", 20_000)],
)
def test_hostile_markup_inside_an_entry_costs_little(piece: str, times: int) -> None:
    inside = (piece * times).replace("&", "&amp;").replace("<", "&lt;")
    item = f"<item><title>{inside}</title><description>{inside}</description></item>"
    body = f"<rss version='2.0'><channel>{item}</channel></rss>"
    began = time.thread_time()

    assert len(read_feed(body.encode()).entries) == 1
    assert time.thread_time() - began < 5


def many(count: int, piece: str) -> str:
    return "".join(piece.format(number) for number in range(count))


def in_entry(inside: str) -> str:
    return f"<rss version='2.0'><channel><item><title>x</title>{inside}</item></channel></rss>"


GROWING: dict[str, tuple[int, Callable[[int], str]]] = {
    # Fewer attributes fit into the caches of the processor.
    "attributes": (64_000, lambda n: in_entry("<a" + many(n, " a{0}='{0}'") + "/>")),
    "attributes of a broken document": (16_000, lambda n: in_entry("<b><a" + many(n, " a{0}='{0}'") + "/>")),
    "categories": (4000, lambda n: in_entry(many(n, "<category>{0}</category>"))),
    "entries": (
        500,
        lambda n: "<rss version='2.0'>" + many(n, "<item><title>{0}</title></item>") + "</rss>",
    ),
    "declarations": (8000, lambda n: in_entry("<!ENTITY " * n)),
    "blanks in XHTML": (
        40_000,
        lambda n: (
            f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='xhtml'>{chr(10).join(['<!---->'] * n)}"
            "<div>x</div></content></entry></feed>"
        ),
    ),
    "JSON": (8000, lambda n: f'{{"version":"https://jsonfeed.org/version/1","items":[{{}}{many(n, ",{{}}")}]}}'),
}


def seconds(*bodies: bytes) -> list[float]:
    """Return the shortest time in which each document is read, without garbage collection."""
    taken: list[list[float]] = [[] for _ in bodies]
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):  # the minimum of several: other processes empty the caches of the processor
            for body, times in zip(bodies, taken, strict=True):  # by turns: the processor is slower at times
                began = time.thread_time()
                read_feed(body, HERE)
                times.append(time.thread_time() - began)
    finally:
        gc.enable()
    return [min(times) for times in taken]


@pytest.mark.parametrize("name", GROWING)
@pytest.mark.slow(reason="measures time")
def test_time_is_about_linear_in_the_size(name: str) -> None:
    count, made = GROWING[name]

    little, much = seconds(made(count // 2).encode(), made(2 * count).encode())

    assert much < 8 * little + 0.02, "sixteen times the time would be quadratic"


@pytest.mark.parametrize(
    "body",
    [
        "<rss version='2.0'><channel>" + many(300, "<a xmlns:x{0}='http://x/{0}'/>") + "</channel></rss>",
        in_entry("<a xml:base='xxxxxxxxxx/'>" * 1000),
    ],
)
def test_too_many_namespaces_or_nested_bases_are_refused(body: str) -> None:
    with pytest.raises(NotAFeed, match="more than"):
        read_feed(body.encode(), HERE)


def nested(declared: str, quote: str, levels: int = 12) -> bytes:
    """Return a feed with entities of ten others each; an entry has the last one."""
    entities = f"<!ENTITY a0 {quote}lollollol{quote}>" + "".join(
        f"<!ENTITY a{n} {quote}{f'&a{n - 1};' * 10}{quote}>\n" for n in range(1, levels)
    )
    body = f"<rss version='2.0'><channel><title>t</title><item><title>&a{levels - 1};</title></item></channel></rss>"
    return f"<!DOCTYPE rss [{declared}\n{entities}]>{body}".encode()


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize(
    "declared",
    [
        "",
        '<!ENTITY z "<b>">',  # an element before the root
        "<!-- <b -->",
        "<!ENTITY % p \"<!ENTITY q '&a9;&a9;'>\">%p;",
        '<!ATTLIST title x CDATA "<b>&a11;">',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_made_of_entities_are_never_expanded(declared: str, quote: str, encoding: str) -> None:
    began = time.thread_time()

    try:
        found = read_feed(nested(declared, quote).decode().encode(encoding), HERE)
    except NotAFeed:
        pass
    else:
        assert "lollollol" * 10 not in found.entries[0].title

    assert time.thread_time() - began < 1, "an expansion would take far longer"


@pytest.mark.parametrize(
    "flaw",
    ["<title>Fish & chips</title>", "<title>AT&T</title>", "<title>&nbsp;x &unknown; &#0;</title>", "<b>unclosed"],
)
def test_a_flaw_elsewhere_leaves_links_and_ids_as_they_are_written(flaw: str) -> None:
    entry = """<item><title>x &amp;lt; y</title><link>http://a.example/?a=1&amp;copy=2&amp;lt=3&amp;amp=4</link>
        <guid isPermaLink="false">urn:x?a&amp;b&amp;lt;c&#38;d</guid><enclosure url="http://a.example/e?a&amp;copy=1"/></item>"""
    sound = f"<rss version='2.0'><channel>{entry}</channel></rss>"
    broken = f"<rss version='2.0'><channel>{flaw}{entry}</channel></rss>"

    (wanted,), found = read_feed(sound.encode(), HERE).entries, read_feed(broken.encode(), HERE)

    assert wanted.url == "http://a.example/?a=1&copy=2&lt=3&amp=4"
    assert wanted.id == "urn:x?a&b&lt;c&d"
    assert found.flaw is not None
    assert [(one.url, one.id, one.enclosures) for one in found.entries] == [(wanted.url, wanted.id, wanted.enclosures)]


@pytest.mark.parametrize("flaw", ["", "<title>Fish & chips</title>"], ids=["sound", "flawed"])
@pytest.mark.parametrize("times", [1, 2])
def test_urls_that_were_escaped_twice_are_unescaped_twice(flaw: str, times: int) -> None:
    where = "?a=1&b=2&amp=3"
    for _ in range(times):
        where = where.replace("&", "&amp;")
    rss = f"<item><guid>http://a.example/{where}</guid><enclosure url='/e{where}' type='image/png'/></item>"
    linked = f"<item><link>http://a.example/{where}</link></item><item><link>/{where}</link></item>"
    atom = f"<entry><id>urn:x</id><link href='{where}'/></entry>"

    [by_id, *by_link] = read_feed(
        f"<rss version='2.0'><channel>{flaw}{rss}{linked}</channel></rss>".encode(), HERE
    ).entries
    [entry] = read_feed(f"<feed xmlns='http://www.w3.org/2005/Atom'>{flaw}{atom}</feed>".encode(), HERE).entries

    assert [one.url for one in by_link] == ["http://a.example/?a=1&b=2&amp=3", urljoin(HERE, "/?a=1&b=2&amp=3")]
    assert by_id.url == "http://a.example/?a=1&b=2&amp=3"
    assert by_id.enclosures[0].url == urljoin(HERE, "/e?a=1&b=2&amp=3")
    assert entry.url == urljoin(HERE, "?a=1&b=2&amp=3")


def test_html_entities_are_decoded_in_feeds() -> None:
    found = read_feed(in_entry("<description>&eacute;&hellip; &lt;b&gt; &AMP; &foo;</description>").encode(), HERE)

    assert found.entries[0].summary == "\u00e9\u2026 <b> & &foo;"


RUSSIAN = "Привет"


@pytest.mark.parametrize(
    ("declared", "encoding", "content_type", "mark"),
    [
        ("utf-8", "utf-8", "", b""),
        ("windows-1251", "cp1251", "", b""),
        ("koi8-r", "koi8-r", "application/xml", b""),
        ("utf-8", "cp1251", "application/rss+xml; charset=windows-1251", b""),
        ("", "utf-8", "", b""),
        ("", "utf-8", "", b"\xef\xbb\xbf"),
        ("utf-16", "utf-16", "", b""),
        ("iso-8859-1", "utf-8", "text/xml; charset=utf-8", b""),
    ],
)
def test_encodings(declared: str, encoding: str, content_type: str, mark: bytes) -> None:
    declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    text = f'{declaration}<rss version="2.0"><channel><title>{RUSSIAN}</title></channel></rss>'

    assert read_feed(mark + text.encode(encoding), content_type=content_type).title == RUSSIAN


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Thu, 01 Jan 2004 19:48:21 GMT", 1072986501000),
        ("Thu, 01 Jan 04 19:48:21 GMT", 1072986501000),
        ("01 Jan 2004 19:48 GMT", 1072986480000),
        ("Thu, 01 Jan 2004 19:48:21 +0100", 1072982901000),
        ("Thu, 01 Jan 2004 19:48:21 EST", 1073004501000),
        ("Mon, 01 Jan 2004 19:48:21 GMT", 1072986501000),  # that day was a Thursday
        ("thu, 1 january 2004 19:48:21 gmt", 1072986501000),
        ("Thu, 01 Jan 2004 19:48:21", 1072986501000),
        ("Thu Jan  1 19:48:21 2004", 1072986501000),
        ("2004-01-01T19:48:21Z", 1072986501000),
        ("2004-01-01T19:48:21.5+01:00", 1072982901000),
        ("2004-01-01T19:48Z", 1072986480000),
        ("2004-01-01 19:48:21", 1072986501000),
        ("2004-01-01", 1072915200000),
        ("2004-01", 1072915200000),
        ("2004", 1072915200000),
        ("", None),
        ("soon", None),
        ("Thu, 41 Jan 2004 99:48:21 GMT", None),
        ("2004-001", 1072915200000),
        ("2003-12-31T25:14:55Z", None),
        ("2013-xx-27", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ],
)
def test_dates(text: str, moment: int | None) -> None:
    body = f"<rss version='2.0'><channel><item><title>x</title><pubDate>{text}</pubDate></item></channel></rss>"

    assert read_feed(body.encode()).entries[0].published == moment


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"plain text",
        b"<html><head><title>x</title></head><body>feed</body></html>",
        b'{"a": 1}',
        b"\0" * 9,
        b'{"version": "https://jsonfeed.org/version/1"',
        b'{"version": 7, "x": "jsonfeed.org"}',
    ],
)
def test_a_document_that_is_no_feed_is_refused(body: bytes) -> None:
    with pytest.raises(NotAFeed):
        read_feed(body, HERE)


PIECES = st.sampled_from(
    b"<rss version='2.0'>~<channel>~<item>~<title>~</title>~<link>~<![CDATA[~]]>~&~<pubDate>~2004-13-99T~"
    b"<feed xmlns='http://www.w3.org/2005/Atom'>~<entry xml:base='//['>~<!--~<link href='http://[' rel='enclosure'/>~"
    b"<!DOCTYPE x [~<!ENTITY a 'b'>~&a;~\0~<content type='xhtml'>~<div>~<content type='text/html' mode='base64'>~%%~"
    b"\xff\xfe~<rdf:RDF>~<a:b xmlns:a=''>~<itunes:image href='x'/>~<guid>~http://~<ttl>~99999999999999999999~&#xD800;~"
    b'{"version":"https://jsonfeed.org/version/1","items":[~{"id":1e999}~]}~&#99999999;~<media:content medium="image"/>'
    b"".split(b"~")
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES | st.binary(max_size=12), max_size=25), st.sampled_from(["", "text/xml; charset=utf-7", "x"]))
def test_nothing_but_the_typed_error_is_raised(pieces: list[bytes], content_type: str) -> None:
    try:
        found = read_feed(b"".join(pieces), HERE, content_type)
    except NotAFeed:
        return
    assert isinstance(found, Feed)


@pytest.mark.parametrize("content_type", ["text/html", "application/octet-stream", "", "application/rss+xml"])
async def test_a_feed_is_detected_by_its_first_bytes(content_type: str) -> None:
    registry = Registry(page, module, sitemap)
    here = Page(HERE, (FEEDS / "rss20.xml").read_bytes(), content_type=content_type)

    found = registry.parser_for(here)
    assert found is not None
    made = [one async for one in found.parse(here)]

    assert [one.url for one in made if isinstance(one, Link)] == [
        "https://harbour.example/one?a=1&b=2",
        "https://harbour.example/two",
    ]
    items = [one for one in made if isinstance(one, Item)]
    assert [item.kind for item in items] == ["feed", "entry", "entry", "entry"]
    assert items[0].fields["title"] == "Harbour Times & Tides"
    # Writers of items encode them as JSON.
    assert orjson.loads(orjson.dumps(items[1].fields))["enclosures"][0]["type"] == "audio/mpeg"


async def test_reading_a_large_feed_does_not_block_the_event_loop() -> None:
    entry = (
        "<item><title>t</title><link>http://a.example/{0}</link><description>&lt;p&gt;x&lt;/p&gt;</description></item>"
    )
    body = f"<rss version='2.0'><channel>{''.join(entry.format(n) for n in range(500))}</channel></rss>".encode()
    here = Page(HERE, body, content_type="text/xml")
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0)
            beats += 1

    beating = asyncio.create_task(beat())
    made = [one async for one in module.feed(here)]
    beating.cancel()

    assert len(made) == 1001
    assert beats > 10


@pytest.mark.slow(reason="starts a process")
def test_a_crawl_without_feeds_does_not_load_the_library():
    loaded = (
        "import sys; from longline.settings import Settings; from longline.wiring.platform import load_parsers; "
        "load_parsers(Settings()); print('feedparser' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout == "False\n"
