"""Which encoding a page is in, by the order that HTML lays down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.plugins.charset import PRESCAN_BYTES, charset_of, decode

LATIN = "text/html; charset=iso-8859-1"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        # a byte order mark wins over everything
        (b"\xef\xbb\xbfgr\xc3\xbcn", LATIN, "grün"),
        ("\ufeffgrün".encode("utf-16-le"), LATIN, "grün"),
        ("\ufeffgrün".encode("utf-16-be"), "", "grün"),
        # then the header
        (b'<meta charset="utf-8">gr\xfcn', LATIN, '<meta charset="utf-8">grün'),
        ("grün".encode("utf-16-le"), "text/html; charset=utf-16", "grün"),
        ("зелёный".encode("cp1251"), 'text/html; Charset = "Windows-1251"', "зелёный"),
        ("緑".encode("cp932"), "text/html;charset=Shift_JIS", "緑"),
        ("緑".encode("cp932"), "text/html;charset=x-sjis", "緑"),
        ("綠".encode("big5"), "text/html; charset=big5", "綠"),
        ("초록".encode("cp949"), "text/html; charset=ks_c_5601-1987", "초록"),
        ("绿€".encode("gb18030"), "text/html; charset=gb2312", "绿€"),
        ("ıı".encode("cp1254"), "text/html; charset=iso-8859-9", "ıı"),
        (b"\x93quoted\x94", LATIN, "“quoted”"),
        (b"\x80", "text/html; charset=us-ascii", "€"),
        # then the page itself
        (b"<meta charset=windows-1251>\xe7", "text/html", "<meta charset=windows-1251>з"),
        (b"<META CHARSET='KOI8-R'>\xda", "", "<META CHARSET='KOI8-R'>з"),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">\xe7',
            "text/html",
            '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">з',
        ),
        (b'<?xml version="1.0" encoding="windows-1251"?>\xe7', "", '<?xml version="1.0" encoding="windows-1251"?>з'),
        (b"<!-- <meta charset=koi8-r> -->\xc3\xbc", "", "<!-- <meta charset=koi8-r> -->ü"),
        (b"<meta charset=utf-16>\xc3\xbc", "", "<meta charset=utf-16>ü"),
        # names that mean nothing, or nothing good, count as silence
        (b"gr\xc3\xbcn", "text/html; charset=none", "grün"),
        (b"gr\xc3\xbcn", "text/html; charset=utf-7", "grün"),
        (b"gr\xc3\xbcn", "text/html; charset=idna", "grün"),
        (b"gr\xc3\xbcn", "text/html; charset=hex", "grün"),
        (b"gr\xc3\xbcn", "text/html; charset=unicode_escape", "grün"),
        (b"gr\xc3\xbcn", "text/html; charset=", "grün"),
        (b"gr\xc3\xbcn", "text/html; charset=a\x00b", "grün"),
        (b"<meta charset=nonsense>gr\xfcn", "", "<meta charset=nonsense>grün"),
        # at last a guess
        (b"gr\xc3\xbcn", "", "grün"),
        (b"gr\xfcn", "", "grün"),
        (b"", "", ""),
        # bytes that are none in the encoding
        (b"gr\xfcn", "text/html; charset=utf-8", "gr\ufffdn"),
        (b"\x81", "text/html; charset=windows-1252", "\ufffd"),
    ],
)
def test_decode(body, content_type, text):
    assert decode(body, content_type) == text


def test_only_the_beginning_is_looked_at():
    declaration = b"<meta charset=windows-1251>"
    assert charset_of(b" " * (PRESCAN_BYTES - len(declaration)) + declaration) == ("cp1251", 0)
    assert charset_of(b" " * PRESCAN_BYTES + declaration) == ("utf-8", 0)


@given(st.binary(max_size=200), st.text(max_size=40))
def test_anything_decodes(body, content_type):
    decode(body, content_type)
    decode(body, f"text/html; charset={content_type}")
    decode(b"<meta charset=" + body, "")
