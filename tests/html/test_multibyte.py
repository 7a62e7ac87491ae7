"""Chinese, Japanese and Korean by the Encoding Standard, which differs from Python's codecs."""

from collections.abc import Iterator
from hashlib import sha256

import pytest

from longline.html.charset import decode_as
from longline.html.multibyte import iso_2022_jp


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"plain", "plain"),
        (b'\x1b$B$"\x1b(Ba', "あa"),
        (b'\x1b$@$"\x1b(Ba', "あa"),
        (b"\x1b(J\\~\x1b(B\\~", "¥\N{OVERLINE}\\~"),
        (b"\x1b(I1\x1b(Ba", "ｱa"),
        # rows that Windows added, and signs that Windows decodes otherwise
        (b"\x1b$B-!\x1b(B", "①"),
        (b"\x1b$B!A\x1b(B", "\uff5e"),
        # a shift without effect has been used to pass filters
        (b"\x1b(B\x1b(Ba", "\ufffda"),
        (b"\x1b$B\x1b(Ba", "\ufffda"),
        # unknown shifts, halves of pairs, other bytes
        (b"\x1bZ", "\ufffdZ"),
        (b"\x1b$(D0!", "\ufffd$(D0!"),
        (b"\x1b$B$\x1b(Ba", "\ufffda"),
        (b'\x1b$B$\n$"', "\ufffdあ"),
        (b"a\x0eb\x80", "a\ufffdb\ufffd"),
        (b"\x1b(Ia", "\ufffd"),
    ],
)
def test_text_that_shifts_between_sets(body: bytes, text: str):
    assert iso_2022_jp(body) == text


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        # one wrong byte makes its pair invalid, unless the second byte could be text
        ("big5", b"\x81\xa1a", "\ufffda"),
        ("big5", b"\x81<b>", "\ufffd<b>"),
        ("euc-kr", b"\x81\x80a", "\ufffda"),
        ("euc-kr", b"\xc9<b>", "\ufffd<b>"),
        ("shift_jis", b"\x81\xad\xb1", "\ufffdｱ"),
        ("shift_jis", b"\xa0\xb1\xfd", "\ufffdｱ\ufffd"),
        ("euc-jp", b"\x8f\xa1\xa1a", "\ufffda"),
        ("euc-jp", b"\x8f\xa1<b>", "\ufffd<b>"),
        ("gb18030", b"\x81\x30\x81", "\ufffd"),
        ("gb18030", b"\x81\x30\x81<", "\ufffd0\ufffd<"),
        # characters that Unicode, or Big5, got after Python's tables were made
        ("gb18030", b"\xa8\xbc\xa6\xd9\xfe\x59", "\u1e3f\ufe10\u9fb4"),
        ("gb18030", b"\x81\x35\xf4\x37", "\ue7c7"),
        ("gbk", b"\xa3\xa0\x80", "\u3000€"),
        ("big5", b"\x87\x7a\x87\xdf", "\u3875\u9fcb"),
        ("big5", b"\xa3\xc0\xa3\xe0\xa3\xe1", "␀␡€"),
        ("big5", b"\xa1\x45\xa2\x44", "\u2027\uffe5"),
        ("big5", b"\x88\x62\x88\xa5", "Ê\u0304ê\u030c"),
    ],
)
def test_pairs_are_decoded_by_the_standard(name: str, body: bytes, text: str):
    assert decode_as(name, body) == text


TABLES = {
    "big5": "e2bbb0df19cceb7109764def4cb7ddbfb8b998f921473672ac6f06ab633e7fb4",
    "euc-jp": "9ed163e01741751a7db74dc39a1ae2ffe07c247be3504487024fd6084803b61d",
    "shift_jis": "204578ab9088d3e47951dd85a4b5a10c4e3613bd666cec13b661c15e3ecb79a2",
    "euc-kr": "0990764b74b66fae0e21171d1ce9971c72a60a073e36ed51a5a11e9a713364c1",
}
"""SHA-256 of the text that the decoders of the Encoding Standard, with its own indexes, make of `codes`."""


def codes(name: str) -> Iterator[bytes]:
    """Yield every pair of a byte beyond ASCII and any other, and in EUC-JP every pair after its prefix."""
    for prefix in (b"", b"\x8f") if name == "euc-jp" else (b"",):
        yield from (prefix + bytes((lead, trail, 0x20)) for lead in range(0x80, 0x100) for trail in range(0x100))


@pytest.mark.parametrize("name", TABLES)
def test_every_code_is_decoded_by_the_index_of_the_standard(name: str):
    text = "\n".join(decode_as(name, code) for code in codes(name))
    assert sha256(text.encode()).hexdigest() == TABLES[name]


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("big5", b"\xa2\x41\xa2\x42\xa1\xfe\xa2\x40", "\u2215\ufe68\uff0f\uff3c"),
        ("big5", b"\xa4\xa2A\xa2\x41", "\u4e10A\u2215"),  # the same bytes, but the end of one code and a letter
        ("euc-jp", b"~\x8f\xa2\xb7~", "~\uff5e~"),
        ("euc-jp", b"\xb7\xff\xa4\xa2", "\ufffd\u3042"),
        ("euc-jp", b"\x8f\xff\xa4\xa2", "\ufffd\u3042"),
    ],
)
def test_codes_that_python_decodes_otherwise(name: str, body: bytes, text: str):
    assert decode_as(name, body) == text
