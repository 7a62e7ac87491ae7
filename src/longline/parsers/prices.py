"""Prices as people and machines write them, in any part of the world."""

import re
import unicodedata

_NUMBER = re.compile(r"\d(?:[\d.,'’٫٬\s]*\d)?")
_SPACES = re.compile(r"(?<=\d)\s(?=\d{3}(?!\d))")
_OTHER_SPACE = re.compile(r"\s.*", re.DOTALL)
_THREE_DECIMALS = frozenset(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"))
_CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_KNOWN = (
    "AED ARS AUD BDT BGN BHD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP GEL HKD HRK HUF IDR ILS INR IQD ISK JOD JPY "
    "KES KRW KWD KZT LBP LKR LYD MAD MXN MYR NGN NOK NZD OMR PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD THB TND TRY "
    "TWD UAH USD UYU VND ZAR"
)
_CODES = frozenset(_KNOWN.split())
_SIGNS = (
    *(("US$", "USD"), ("CA$", "CAD"), ("C$", "CAD"), ("AU$", "AUD"), ("A$", "AUD"), ("NZ$", "NZD"), ("HK$", "HKD")),
    *(("NT$", "TWD"), ("S$", "SGD"), ("R$", "BRL"), ("MX$", "MXN"), ("RMB", "CNY"), ("CN¥", "CNY"), ("元", "CNY")),
    *(
        ("€", "EUR"),
        ("£", "GBP"),
        ("₹", "INR"),
        ("Rs.", "INR"),
        ("₽", "RUB"),
        ("руб", "RUB"),
        ("₩", "KRW"),
        ("원", "KRW"),
    ),
    *(("₺", "TRY"), ("₴", "UAH"), ("грн", "UAH"), ("₫", "VND"), ("₪", "ILS"), ("฿", "THB"), ("₱", "PHP"), ("₦", "NGN")),
    *(
        ("₸", "KZT"),
        ("zł", "PLN"),
        ("Kč", "CZK"),
        ("Ft", "HUF"),
        ("lei", "RON"),
        ("лв", "BGN"),
        ("円", "JPY"),
        ("¥", "JPY"),
    ),
    *(("￥", "JPY"), ("Fr.", "CHF"), ("$", "USD")),
)
"""In order: what is part of another sign comes after it."""


def price_of(value: object, currency: str = "") -> float | None:
    """The amount that a number or a text means; the first of several, None where there is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _rounded(float(value), currency)
    if not isinstance(value, str):
        return None
    found = _NUMBER.search("".join(map(_plain, unicodedata.normalize("NFKC", value[:200]))))
    if not found:
        return None
    return _rounded(float(_pointed(found[0], currency)), currency)


def currency_of(text: object) -> str:
    """The code of the currency that a text names by code or by sign; empty if it names none."""
    if not isinstance(text, str):
        return ""
    codes = (code for code in _CODE.findall(text.upper() if len(text.strip()) == 3 else text) if code in _CODES)
    return next(codes, "") or next((code for sign, code in _SIGNS if sign in text), "")


def _rounded(amount: float, currency: str) -> float | None:
    return round(amount, 3 if currency in _THREE_DECIMALS else 2) if 0 <= amount < 1e12 else None


def _plain(character: str) -> str:
    """Digits of any script as ours, and every kind of space as one."""
    digit = unicodedata.decimal(character, None)
    return str(digit) if digit is not None else " " if character.isspace() else character


def _pointed(number: str, currency: str) -> str:
    """The digits with a point before the decimals, and nothing between thousands."""
    number = _OTHER_SPACE.sub("", _SPACES.sub("", number))
    number = re.sub(r"['’٬]", "", number).replace("٫", ".")
    last = max(number.rfind("."), number.rfind(","))
    if last < 0:
        return number
    mark, before, after = number[last], number[:last], number[last + 1 :]
    whole = re.sub(r"[.,]", "", before)
    return whole + after if _is_thousands(mark, before, after, currency) else f"{whole}.{after}"


def _is_thousands(mark: str, before: str, after: str, currency: str) -> bool:
    """Whether the last mark stands between thousands, not before decimals."""
    if mark in before:
        return True
    if len(after) != 3 or before.lstrip("0") == "" or "." in before or "," in before:
        return False
    return len(before) <= 3 and currency not in _THREE_DECIMALS
