"""The encoding of a page, by the order of the HTML standard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.html.charset import PRESCAN_BYTES, charset_of, decode, decode_as, encode_as
from longline.html.encoding_labels import encoding_names

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
        # then the declaration in the page
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
        # unknown labels, and labels of refused encodings, are ignored
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
        # bytes that are invalid in the encoding
        (b"gr\xfcn", "text/html; charset=utf-8", "gr\ufffdn"),
        (b"\x81", "text/html; charset=windows-1252", "\x81"),
    ],
)
def test_decode(body, content_type, text):
    assert decode(body, content_type) == text


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b"<meta charset=windows-1251>", "windows-1251"),
        (b"<meta\ncharset = 'windows-1251' >", "windows-1251"),
        (b"<meta/charset=windows-1251>", "windows-1251"),
        (b"<metacharset=windows-1251>", "utf-8"),
        (b"<meta name=x data-charset=windows-1251>", "utf-8"),
        (b"<meta charset=nonsense><meta charset=windows-1251>", "windows-1251"),
        (b"<meta charset=koi8-r charset=windows-1251>", "koi8-r"),
        (b'<meta charset="\n windows-1251 ">', "windows-1251"),
        (b"<meta charset='windows-1251>", "utf-8"),
        (b"<meta charset=windows-1251", "utf-8"),
        # a pragma has an encoding only together with its http-equiv
        (b"<meta content='text/html; charset=windows-1251'>", "utf-8"),
        (b"<meta content='text/html; charset=windows-1251' http-equiv=Content-Type>", "windows-1251"),
        (b"<meta http-equiv=refresh content='text/html; charset=windows-1251'>", "utf-8"),
        (b"<meta http-equiv=content-type content='charset charset = \"windows-1251\"'>", "windows-1251"),
        # a declaration inside comments and other tags does not count
        (b"<!--><meta charset=windows-1251>", "windows-1251"),
        (b"<!-- > <meta charset=windows-1251> -->", "utf-8"),
        (b"<p title='<meta charset=windows-1251>'>", "utf-8"),
        (b"</p title='<meta charset=windows-1251>'>", "utf-8"),
        (b'<!doctype html "<meta charset=windows-1251>">', "utf-8"),
        (b"<? <meta charset=windows-1251>", "utf-8"),
        (b"a < b <meta charset=windows-1251>", "windows-1251"),
        # a declaration in ASCII cannot name an encoding that is no superset of ASCII
        (b"<meta charset=utf-16le>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=iso-2022-kr>", "replacement"),
        # the XML declaration is the last
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=windows-1251>", "windows-1251"),
        (b"<?xml version='1.0' encoding = \"koi8-r\"?>", "koi8-r"),
        (b"<?xml version='1.0'?> encoding='koi8-r'", "utf-8"),
        (b" <?xml version='1.0' encoding='koi8-r'?>", "utf-8"),
        (b"<?xml version='1.0' encoding='utf-16'?>", "utf-8"),
        ("<?xml version='1.0'?>".encode("utf-16-le"), "utf-16le"),
        ("<?xml version='1.0'?>".encode("utf-16-be"), "utf-16be"),
    ],
)
def test_the_declaration_of_a_page_names_its_encoding(start, name):
    assert charset_of(start)[0] == name


def test_a_declaration_further_down_counts_unless_a_script_contains_it():
    declaration = b"<meta charset=windows-1251>"
    assert charset_of(b" " * PRESCAN_BYTES + declaration) == ("windows-1251", 0)
    assert charset_of(b" " * PRESCAN_BYTES + b"<script>'" + declaration + b"'</script>") == ("utf-8", 0)
    assert charset_of(b"<meta charset=koi8-r>" + b" " * PRESCAN_BYTES + declaration) == ("koi8-r", 0)


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("koi8-u", b"\xae\xbe\xc1", "\u045e\u040e\u0430"),
        ("windows-1255", b"\xca\x81\xd9", "\u05ba\x81\ufffd"),
        ("windows-1253", b"\xaa\x81", "\ufffd\x81"),
        ("macintosh", b"\xdb", "€"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("replacement", b"anything <b>", "\ufffd"),
        ("replacement", b"", ""),
        ("euc-jp", b"\xa1\xc1\xad\xa1\xa4\xa2", "\uff5e①あ"),
        ("euc-jp", b"\xa4a", "\ufffda"),
        ("iso-2022-jp", b'\x1b$B$"\x1b(Ba', "あa"),
        ("gbk", b"\x80", "€"),
        ("shift_jis", b"\x87\x40", "①"),
    ],
)
def test_encodings_are_the_standards_not_pythons(name, body, text):
    assert decode_as(name, body) == text


@pytest.mark.parametrize("name", encoding_names())
def test_every_encoding_can_be_read_and_written(name):
    assert decode_as(name, bytes(range(256)))
    if name not in ("replacement", "utf-16le", "utf-16be"):
        assert decode_as(name, encode_as(name, "a b")) == "a b"


@given(st.binary(max_size=200), st.text(max_size=40))
def test_anything_decodes(body, content_type):
    decode(body, content_type)
    decode(body, f"text/html; charset={content_type}")
    decode(b"<meta charset=" + body, "")
