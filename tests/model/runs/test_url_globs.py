import pytest

from longline.model.errors import BadInput
from longline.model.patterns import Patterns
from longline.model.runs.url_globs import pattern_of_glob

SITE = "https://a.example"


@pytest.mark.parametrize(
    ("glob", "fits", "fits_not"),
    [
        ("/blog", ("/blog", "/blog/", "/blog/2024/x", "/blog?page=2"), ("/blogger", "/", "/a/blog", "/Blog")),
        ("/blog/", ("/blog/", "/blog/x?y"), ("/blog", "/blogger/")),
        ("/", ("/", "/anything"), ()),
        ("/item-*", ("/item-", "/item-12", "/item-1/2?x"), ("/items", "/a/item-1")),
        ("/*/reviews", ("/a/reviews", "/a/b/reviews"), ("/reviews", "/a/reviews/2", "/a/reviews?x")),
        ("/*/reviews*", ("/a/reviews", "/a/reviews/2", "/a/reviews?x"), ("/reviews",)),
        ("*.pdf", ("/x.pdf", "/a/b.pdf"), ("/x.pdf?v=1", "/xpdf", "/x.pdfs")),
        ("*?page=*", ("/x?page=2",), ("/x", "/x-page=2")),
        ("/search?q=", ("/search?q=/x",), ("/search?q=x", "/searchXq=")),
        ("/search?q=*", ("/search?q=x",), ("/searchXq=x",)),
        ("/caf\xe9", ("/caf%C3%A9/menu",), ("/cafe",)),
        ("/a.b", ("/a.b",), ("/axb",)),
        ("https://A.example/Blog", ("/Blog/1",), ("/blog",)),
        ("https://a.example", ("/", "/x"), ()),
    ],
)
def test_a_glob_fits_whole_and_a_prefix_up_to_a_boundary(glob: str, fits: tuple[str, ...], fits_not: tuple[str, ...]):
    pattern = Patterns((pattern_of_glob(glob),))
    assert [path for path in fits if not pattern.found_in(SITE + path)] == []
    assert [path for path in fits_not if pattern.found_in(SITE + path)] == []


@pytest.mark.parametrize(
    ("glob", "url", "fits"),
    [
        ("https://a.example", "https://a.example.evil.example/", False),
        ("https://a.example", "http://a.example/", False),
        ("https://a.example:8443/x", "https://a.example:8443/x/y", True),
        ("https://a.example/x", "https://a.example:8443/x", False),
        ("https://*.example/x", "https://b.a.example/x", True),
        ("https://m\xfcnchen.example/", "https://xn--mnchen-3ya.example/", True),
        ("/x", "http://b.example:81/x", True),
        ("/a.example", "https://a.example/", False),
        ("*a.example/x", "https://www.a.example/x", True),
    ],
)
def test_a_url_is_fitted_with_its_host(glob: str, url: str, fits: bool):
    assert Patterns((pattern_of_glob(glob),)).found_in(url) is fits


@pytest.mark.parametrize("text", ["blog", "none", "", "  ", "ftp://a.example/", "a.example/x", "http*://*.example/x"])
def test_any_other_text_is_refused_with_advice(text: str):
    with pytest.raises(BadInput, match="has to begin with /, with \\* or with https://"):
        pattern_of_glob(text)


def test_many_stars_take_linear_time():
    pattern = Patterns((pattern_of_glob("/" + "*a" * 50 + "b"),))
    assert not pattern.found_in(SITE + "/" + "a" * 8000)
    with pytest.raises(BadInput, match="longer than"):
        pattern_of_glob("/" + "x" * 3000)
