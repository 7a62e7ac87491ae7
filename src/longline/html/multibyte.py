"""Differences between the Encoding Standard and Python's codecs, mainly for Chinese, Japanese and Korean."""

import codecs
import re

ERROR_HANDLER = "longline-standard"
"""Name of the codec error handler that decodes bytes unknown to Python as the standard does."""

_REPLACEMENT_CHARACTER = "\ufffd"

# Characters that were not in Unicode when Python's table was made; two of them have changed places since.
_GB18030 = {
    0xE5E5: 0x3000,
    0xE78D: 0xFE10,
    0xE78E: 0xFE12,
    0xE78F: 0xFE11,
    **{0xE790 + n: 0xFE13 + n for n in range(7)},
    0xE7C7: 0x1E3F,
    0x1E3F: 0xE7C7,
    **dict(zip((0xE81E, 0xE826, 0xE82B, 0xE82C, 0xE832, 0xE843, 0xE854, 0xE864), range(0x9FB4, 0x9FBC), strict=True)),
}

DIFFERENT_CHARACTERS = {
    "gb18030": _GB18030,
    "gbk": _GB18030,
    "koi8-u": {0x255D: 0x45E, 0x256C: 0x40E},
    "euc-jp": {0x301C: 0xFF5E, 0x2016: 0x2225, 0x2212: 0xFF0D, 0xA2: 0xFFE0, 0xA3: 0xFFE1, 0xAC: 0xFFE2},
    "big5": {
        **{0x2022: 0x2027, 0xFF64: 0xFE51, 0x203E: 0xAF, 0x223C: 0xFF5E, 0x2641: 0x2295, 0x2609: 0x2299},
        **{0xA5: 0xFFE5, 0xA2: 0xFFE0, 0xA3: 0xFFE1},
    },
    "shift_jis": dict.fromkeys(range(0xF8F0, 0xF8F4), 0xFFFD),
    "x-user-defined": {byte: 0xF700 + byte for byte in range(0x80, 0x100)},
}
"""Characters that the standard decodes differently from Python's codec, by encoding."""

# Pairs of Big5 that Python's table of 2004 lacks: later additions of HKSCS, and second codes of known characters.
_HKSCS_BYTES = bytes.fromhex(
    "877a877b877c877d877e87a187a287a387a487a587a687a787a887a987aa87ab87ac87ad87ae87af87b087b187b287b387b487b587b687b7"
    "87b887b987ba87bb87bc87bd87be87bf87c087c187c287c387c487c587c687c787c887c987ca87cb87cc87cd87ce87cf87d087d187d287d3"
    "87d487d587d687d787d887d987da87db87dc87dd87de87df8e698e6f8e7e8eab8eb48ecd8ed08f578f698f6e8fcb8fcc8ffe906d907a90dc"
    "90f191bf924492af92b092b192b292c892d1944794ca95d9964496ed96fc9b769b789b7b9bc69bde9bec9bf69c429c539c629c689c6b9c77"
    "9cbc9cbd9cd09d579d5a9dc49ea99eef9efd9f609f669fcb9fd8a063a077a0d5a0dfa0e4c6cfc6d3c6d5c6d7c6dec6dffa5ffa66fabdfac5"
    "fad5fb48fbb8fbf3fbf9fc4ffc6cfcb9fce2fcf1fdb7fdb8fdbbfdf1fe52fe6ffeaafedd"
)
_HKSCS_CHARACTERS = (
    "㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈"
    "䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋箸簆糎緒縝者耨菁蒨萏覦覩起都銹靜響鼖蔃兙兛兝兞鍮瑹浧禛邗靝瀞嬨爁"
    "矗纇駖釔惞澶輶侻營鄄鷰菏尐秣婧輋筑拐恢痹汊鬮鼗僭弌蠏拎瑨煢牐廴无癶隶〃仝倩偽包卄卿嘅婷幵廐彘悤撐晴杞"
    "沜渝港煮猪瑜瓩砉"
)
_BIG5 = {_HKSCS_BYTES[2 * n : 2 * n + 2]: sign for n, sign in enumerate(_HKSCS_CHARACTERS)}
_BIG5 |= {bytes((0xA3, 0xC0 + n)): chr(0x2400 + n) for n in range(32)} | {b"\xa3\xe0": "␡", b"\xa3\xe1": "€"}

_UNASSIGNED_CODES = {
    "big5": {b"\xa2\x41": "\u2215", b"\xa2\x42": "\ufe68"},
    "euc-jp": {b"\x8f\xa2\xb7": "\uff5e"},
}
"""Codes that Python decodes to a character which the standard assigns to another code only."""

_CODE_PATTERNS = {
    "big5": re.compile(rb"[\x81-\xfe].", re.DOTALL),
    "euc-jp": re.compile(rb"\x8f[\xa1-\xfe].|[\x8e\x8f\xa1-\xfe].", re.DOTALL),
}
"""Patterns of multi-byte codes, including unassigned ones."""

_SHIFT = re.compile(rb"\x1b(\([BJI]|\$[@B])")
_PAIR = re.compile(rb"([\x21-\x7e]{2})|[\x21-\x7e][^\x1b]?|.", re.DOTALL)
_NOT_ASCII = re.compile("[\x0e\x0f\x1b\x80-\xff]")
_NOT_KANA = re.compile("[^\x21-\x5f]")
_KANA = {byte: byte + 0xFF61 - 0x21 for byte in range(0x21, 0x60)}


def decode_codes(name: str, codec: str, body: bytes) -> str:
    """Decode bytes in an encoding of `_ALONE`, by Python's codec except for the codes listed there."""
    alone = _UNASSIGNED_CODES[name]
    if not any(code in body for code in alone):
        return body.decode(codec, ERROR_HANDLER)
    text: list[str] = []
    start = 0
    for found in _CODE_PATTERNS[name].finditer(body):
        if found[0] in alone:
            text += (body[start : found.start()].decode(codec, ERROR_HANDLER), alone[found[0]])
            start = found.end()
    return "".join((*text, body[start:].decode(codec, ERROR_HANDLER)))


def has_codes(name: str) -> bool:
    """Return whether Python's codec decodes some codes of an encoding differently."""
    return name in _UNASSIGNED_CODES


def iso_2022_jp(body: bytes) -> str:
    """Decode ISO-2022-JP; an escape sequence directly followed by another one is an error."""
    start, *rest = _SHIFT.split(body)
    text = [_ascii(start)]
    for at in range(0, len(rest), 2):
        if at and not rest[at - 1]:
            text.append(_REPLACEMENT_CHARACTER)
        text.append(_CHARACTER_SETS[rest[at]](rest[at + 1]))
    return "".join(text)


def _ascii(piece: bytes) -> str:
    return _NOT_ASCII.sub(_REPLACEMENT_CHARACTER, piece.decode("latin-1"))


def _roman(piece: bytes) -> str:
    return _ascii(piece).replace("\\", "¥").replace("~", "\N{OVERLINE}")


def _kana(piece: bytes) -> str:
    return _NOT_KANA.sub(_REPLACEMENT_CHARACTER, piece.decode("latin-1")).translate(_KANA)


def _kanji(piece: bytes) -> str:
    return "".join(_as_euc(found[1]) if found[1] else _REPLACEMENT_CHARACTER for found in _PAIR.finditer(piece))


def _as_euc(pair: bytes) -> str:
    return bytes(byte | 0x80 for byte in pair).decode("euc_jp", ERROR_HANDLER).translate(DIFFERENT_CHARACTERS["euc-jp"])


_CHARACTER_SETS = {b"(B": _ascii, b"(J": _roman, b"(I": _kana, b"$@": _kanji, b"$B": _kanji}


def _decode_as_standard(error: UnicodeError) -> tuple[str, int]:
    """Return the standard's replacement for bytes that Python's codec does not know, and the place to resume."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.start + 3]
    if error.encoding == "euc_jp" and len(bad) >= 2 and min(bad[:2]) >= 0xA1 and max(bad[:2]) <= 0xFE:
        return _row_of_windows(bad[:2]), error.start + 2
    if error.encoding == "euc_jp" and bad[0] == 0x8F and b"\xa1" <= bad[1:2] <= b"\xfe":
        return _REPLACEMENT_CHARACTER, error.start + (3 if bad[2:] >= b"\x80" else 2)
    if error.encoding == "charmap" and bad[0] < 0xA0:
        return chr(bad[0]), error.start + 1
    if error.encoding == "gb18030" and bad[0] == 0x80:
        return "€", error.start + 1
    if error.encoding == "big5hkscs" and bad[:2] in _BIG5:
        return _BIG5[bad[:2]], error.start + 2
    if error.encoding in _LEAD_BYTES:
        return _REPLACEMENT_CHARACTER, error.start + _invalid_length(bad, *_LEAD_BYTES[error.encoding])
    return _REPLACEMENT_CHARACTER, error.end


_LEAD_BYTES = {
    "big5hkscs": (range(0x81, 0xFF), b""),
    "cp949": (range(0x81, 0xFF), b""),
    "cp932": (range(0x81, 0xFD), bytes(range(0xA0, 0xE0))),
    "euc_jp": (range(0x8E, 0xFF), bytes(range(0x90, 0xA1))),
}
"""Lead bytes of pairs, and the exceptions among them, by Python's codec."""


def _invalid_length(bad: bytes, leads: range, single: bytes) -> int:
    """Return the number of bytes that one error consumes; an ASCII byte after a lead byte is decoded again."""
    if bad[0] not in leads or bad[0] in single:
        return 1
    return 2 if bad[1:2] >= b"\x80" else 1


def _row_of_windows(pair: bytes) -> str:
    """Decode an EUC-JP pair from the rows that Windows added, by way of Shift_JIS, in which Python has them."""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead, trail = row // 2, cell + 94 * (row % 2)
    shifted = bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))
    return shifted.decode("cp932", "replace")[:1]


codecs.register_error(ERROR_HANDLER, _decode_as_standard)
