import pytest

from longline.model.errors import BadInput
from longline.model.fetch.cookie_file import read_cookie_file
from longline.model.fetch.cookies import RunCookies

FILE = """# Netscape HTTP Cookie File
# https://curl.se/docs/http-cookies.html

.site.example\tTRUE\t/\tFALSE\t0\ttheme\tdark
#HttpOnly_site.example\tFALSE\t/shop\tTRUE\t4102444800\tid\tabc=
site.example\tFALSE\t/\tFALSE\t1\told\tgone
other.example\tFALSE\t/\tFALSE\t0\tempty\t
"""


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://site.example/shop/1", "id=abc=; theme=dark"),
        ("http://site.example/shop/1", "theme=dark"),  # the other one is Secure
        ("https://site.example/", "theme=dark"),
        ("https://www.site.example/shop", "theme=dark"),  # the other one is for its own host
        ("https://other.example/", "empty="),
        ("https://xsite.example/", None),
    ],
)
def test_each_line_is_a_cookie_of_its_own_site(url: str, sent: str | None):
    assert RunCookies(read_cookie_file(FILE, "cookies.txt")).header(url) == sent


def test_bad_lines_are_named_by_their_numbers_and_not_shown():
    text = FILE + "site.example\tTRUE\tsecret\n" + "a b secret\n" + "x\tMAYBE\t/\tTRUE\t0\tn\tsecret\n"
    with pytest.raises(
        BadInput, match=r"cookies\.txt is no Netscape cookie file: lines 8, 9, 10 do not have"
    ) as caught:
        read_cookie_file(text, "cookies.txt")
    assert "secret" not in str(caught.value)
    with pytest.raises(BadInput, match=r"file: line 1 does not have the seven"):
        read_cookie_file("x\n", "cookies.txt")
    with pytest.raises(BadInput, match=r"lines 1, 2, 3, 4, 5 and 4 more do not"):
        read_cookie_file("x\n" * 9, "cookies.txt")
