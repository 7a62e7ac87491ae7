"""Chinese, Japanese and Korean by the Encoding Standard, where Python's codecs say something else."""

import pytest

from longline.plugins.charset import decode_as
from longline.plugins.multibyte import iso_2022_jp


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"plain", "plain"),
        (b'\x1b$B$"\x1b(Ba', "あa"),
        (b'\x1b$@$"\x1b(Ba', "あa"),
        (b"\x1b(J\\~\x1b(B\\~", "¥\N{OVERLINE}\\~"),
        (b"\x1b(I1\x1b(Ba", "ｱa"),
        # rows that Windows added, and signs that it reads otherwise
        (b"\x1b$B-!\x1b(B", "①"),
        (b"\x1b$B!A\x1b(B", "\uff5e"),
        # a shift that shifts nothing is how filters were fooled
        (b"\x1b(B\x1b(Ba", "\ufffda"),
        (b"\x1b$B\x1b(Ba", "\ufffda"),
        # shifts that there are none of, halves of pairs, other bytes
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
        # one mistake takes its pair with it, unless the second half could be text
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
        # what came into Unicode, or into Big5, after Python's tables were made
        ("gb18030", b"\xa8\xbc\xa6\xd9\xfe\x59", "\u1e3f\ufe10\u9fb4"),
        ("gb18030", b"\x81\x35\xf4\x37", "\ue7c7"),
        ("gbk", b"\xa3\xa0\x80", "\u3000€"),
        ("big5", b"\x87\x7a\x87\xdf", "\u3875\u9fcb"),
        ("big5", b"\xa3\xc0\xa3\xe0\xa3\xe1", "␀␡€"),
        ("big5", b"\xa1\x45\xa2\x44", "\u2027\uffe5"),
        ("big5", b"\x88\x62\x88\xa5", "Ê\u0304ê\u030c"),
    ],
)
def test_pairs_are_read_as_the_standard_reads_them(name: str, body: bytes, text: str):
    assert decode_as(name, body) == text
