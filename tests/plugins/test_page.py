"""Methods of a page for parsers."""

import pytest

from longline.plugins import Page

ARTICLE = b"""<!DOCTYPE html>
<html><head><title>
  Long   lines &amp; hooks
</title><style>h1 { color: red }</style></head>
<body>
<header><a href="/">Home</a></header><nav><a href="/news">News</a></nav>
<article><header>By us</header><h1>A <em>fine</em> catch</h1>
<p>First line
   goes on<br>and breaks.</p><script>var x = 1;</script>
<p>Second, <b>bold</b>!</p><ul><li>one</li><li>two</li></ul></article>
<aside>Elsewhere</aside><footer>The end</footer>
<a class="related" href="other#part">Other</a> <a class="related" href="other">Again</a> <a class="related">Nowhere</a>
</body></html>"""


@pytest.fixture
def page() -> Page:
    return Page("https://news.example/2024/story", ARTICLE, headers=[("Content-Type", "text/html; charset=utf-8")])


def test_title_and_text(page: Page):
    assert page.title == "Long lines & hooks"
    assert page.text("h1") == "A fine catch"
    assert page.text("h6") == ""
    assert [node.text() for node in page.css("li")] == ["one", "two"]


def test_article(page: Page):
    assert page.article() == "A fine catch\nFirst line\ngoes on\nand breaks.\nSecond, bold!\none\ntwo"
    assert "var x" not in page.article()
    assert page.css("script")  # reading the article does not change the page


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"<main><nav>menu</nav><p>Main</p></main><p>Rest</p>", "Main"),
        (b"<nav>menu</nav><p>Only a body</p><footer>end</footer>", "Only a body"),
        (b"<frameset><frame src=x></frameset>", ""),
        (b"", ""),
    ],
)
def test_article_of_other_pages(body, text):
    assert Page("https://news.example/", body).article() == text


def test_bold_words_of_a_short_page_break_no_line():
    body = (
        b"<title>T</title><body><h1>Rope</h1><p class=price>3</p><p>A <em>long</em> and <b>strong</b> rope.</p></body>"
    )
    page = Page("https://shop.example/", body)
    assert page.article() == "Rope\n3\nA long and strong rope."
    assert page.markdown().endswith("\nA long and strong rope.\n")


def test_the_structured_data_of_a_short_page_may_be_its_article():
    said = "The line is set at dusk. It is hauled at dawn."
    body = f'<main>Loading</main><div itemscope itemtype="x/Article"><meta itemprop=articleBody content="{said}"></div>'
    assert Page("https://news.example/", body.encode()).article() == said


def test_links(page: Page):
    assert page.links("a.related") == ["https://news.example/2024/other"]
    assert page.links() == [
        "https://news.example/",
        "https://news.example/news",
        "https://news.example/2024/other",
    ]


@pytest.mark.parametrize(
    ("base", "leads_to"),
    [
        (b'<base href="/elsewhere/">', "https://news.example/elsewhere/x"),
        (b'<base href="https://other.example/a/b">', "https://other.example/a/x"),
        (b'<base target="_top">', "https://news.example/2024/x"),
        (b'<base href="">', "https://news.example/2024/x"),
        (b"<base href>", "https://news.example/2024/x"),
        (b'<base href="mailto:x@y">', "https://news.example/2024/x"),
        (b'<base href="http://[">', "https://news.example/2024/x"),
        (b'<base href="/one/"><base href="/two/">', "https://news.example/one/x"),
        (b'<base target="_top"><base href="/two/">', "https://news.example/two/x"),
    ],
)
def test_base(base, leads_to):
    page = Page("https://news.example/2024/story", base + b'<a href="x">x</a>')
    assert page.links() == [leads_to]


def test_headers_and_content_type(page: Page):
    assert page.content_type == "text/html; charset=utf-8"
    assert page.header("CONTENT-type") == "text/html; charset=utf-8"
    assert page.header("etag") is None
    assert Page("https://news.example/", b"").content_type == ""
    assert (
        Page("https://news.example/", b"", headers=[("content-type", "a/b")], content_type="c/d").content_type == "c/d"
    )


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<title>Größe</title><a href='/ü'>ü</a>".encode("latin-1"), "text/html; charset=iso-8859-1"),
        ("<meta charset=windows-1252><title>Größe</title><a href='/ü'>ü</a>".encode("latin-1"), "text/html"),
        ("<title>Größe</title><a href='/ü'>ü</a>".encode("latin-1"), ""),
        ("<title>Größe</title><a href='/ü'>ü</a>".encode(), ""),
        ("\ufeff<title>Größe</title><a href='/ü'>ü</a>".encode(), "text/html; charset=iso-8859-1"),
        ("\ufeff<title>Größe</title><a href='/ü'>ü</a>".encode("utf-16-le"), ""),
    ],
)
def test_encodings(body, content_type):
    page = Page("https://news.example/", body, content_type=content_type)
    assert page.title == "Größe"
    assert page.text("a") == "ü"
    assert page.links() == ["https://news.example/%C3%BC"]
    assert "Größe" in page.html
    assert not page.html.startswith("\ufeff")


def test_invalid_bytes_are_replaced_and_the_rest_is_read():
    page = Page(
        "https://news.example/", b"<title>a\xffb</title><a href=/c>c</a>", content_type="text/html; charset=utf-8"
    )
    assert page.title == "a\ufffdb"
    assert page.links() == ["https://news.example/c"]


def test_a_base_that_is_too_long_for_a_url_makes_no_links():
    links = b'<a href="x"><a href="https://other.example/">'
    page = Page("https://a.example/", b'<base href="/%b/">' % (b"a" * 8_000) + links)
    assert page.links() == [f"https://a.example/{'a' * 8_000}/x", "https://other.example/"]
    page = Page("https://a.example/", b'<base href="/%b/">' % (b"a" * 200_000) + links * 1_000)
    assert page.links() == []
