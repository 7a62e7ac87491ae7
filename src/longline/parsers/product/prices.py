"""Prices and currencies in numbers and texts, in the notations of any country."""

import re
import unicodedata

_NUMBER = re.compile(r"(?:(?<!\w)[.,]+)?\d(?:[\d.,'’٫٬\s]*\d)?(?!\d|[\d.,]*\s?%)")
_SPACES = re.compile(r"(?<=\d)\s(?=\d{3}(?!\d))")
_OTHER_SPACE = re.compile(r"\s.*", re.DOTALL)
_SPACED_DECIMALS = re.compile(r"(?<=\d)([.,])\s(?=\d\d(?!\s?[\d.,]))")
_SIGN_FOR_POINT = re.compile(r"(?<=\d)\s?[€£]\s?(?=\d\d(?!\s?[\d.,€£]))")
_THREE_DECIMALS = frozenset(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"))

_KNOWN = (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF "
    "CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK "
    "HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL "
    "MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON "
    "RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX "
    "USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW"
)
_CODES = frozenset(_KNOWN.split())
_ALSO_WORDS = frozenset(("ALL", "COP", "CUP", "GEL", "MAD", "MOP", "PEN", "SOS", "TOP", "TRY"))
"""Codes that are words as well, and mean a currency only in capitals."""

_SIGNS = (
    *(("US$", "USD"), ("CA$", "CAD"), ("C$", "CAD"), ("AU$", "AUD"), ("A$", "AUD"), ("NZ$", "NZD"), ("HK$", "HKD")),
    *(("NT$", "TWD"), ("S$", "SGD"), ("R$", "BRL"), ("MX$", "MXN"), ("CN¥", "CNY"), ("元", "CNY"), ("人民币", "CNY")),
    *(("€", "EUR"), ("£", "GBP"), ("₤", "GBP"), ("₹", "INR"), ("रु", "INR"), ("ரூ", "INR"), ("රු", "LKR"), ("৳", "BDT")),
    *(("₽", "RUB"), ("₩", "KRW"), ("원", "KRW"), ("₺", "TRY"), ("₴", "UAH"), ("₫", "VND"), ("₪", "ILS"), ("฿", "THB")),
    *(("บาท", "THB"), ("₱", "PHP"), ("₦", "NGN"), ("₸", "KZT"), ("₼", "AZN"), ("₾", "GEL"), ("֏", "AMD"), ("₮", "MNT")),
    *(("₭", "LAK"), ("៛", "KHR"), ("₡", "CRC"), ("₲", "PYG"), ("₵", "GHS"), ("؋", "AFN"), ("円", "JPY"), ("¥", "JPY")),
    ("$", "USD"),
)
"""Currency signs, in order: a sign that is part of another one comes after it."""

_NAMED = (
    "EUR:eur euro euros; USD:dollar dollars; GBP:pound pounds stg; JPY:yen; CNY:rmb yuan; CHF:fr sfr; SEK:kr; "
    "CZK:kč; HUF:ft; PLN:zł zl; RON:lei; HRK:kn; BGN:лв; RSD:дин din dinara; MKD:ден; BAM:км km; ALL:lek lekë; "
    "RUB:р руб рублей рубля; UAH:грн hrn; BYN:br; KZT:тг тенге; UZS:сум som so'm; GEL:lari ლარი; TRY:tl; "
    "INR:rs re; IDR:rp; MYR:rm; VND:đ vnđ; KES:ksh kshs; TZS:tsh; UGX:ush; XOF:cfa fcfa; AED:dh dhs درهم د.إ; "
    "KWD:kd د.ك; BHD:bd د.ب; JOD:jd د.ا د.أ; TND:dt د.ت; SAR:ريال ر.س sr; IRR:ریال; EGP:جنيه ج.م le; QAR:ر.ق; "
    'OMR:ر.ع; ILS:ש"ח ש״ח nis; ZAR:r; PEN:s/'
)
_NAMES = {name: pair[:3] for pair in _NAMED.split("; ") for name in pair[4:].split()}
"""Currency names beside a number, in lower case; of several crowns or rupees the commonest."""

_LETTERS = r"[^\W\d_]+(?:[.'\"״][^\W\d_]+)*/?"
_AT_NUMBER = re.compile(rf"({_LETTERS})\.?[\s:]*(?=[.,]?\d)|(?<=\d)[\s.,–-]*({_LETTERS})")


def price_of(value: object, currency: str = "", *, is_small: bool = False) -> float | None:
    """Return the amount of a number or of the first number in a text; None without a number.

    A small number, such as a rating, has no thousands separators.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _rounded(value, currency)
    if not isinstance(value, str):
        return None
    text = "".join(map(_plain, unicodedata.normalize("NFKC", value[:200])))
    found = _NUMBER.search(_SIGN_FOR_POINT.sub(",", _SPACED_DECIMALS.sub(r"\1", text)))
    if not found:
        return None
    return _rounded(float(_pointed(found[0], currency, is_small=is_small)), currency)


def currency_of(text: object) -> str:
    """Return the ISO 4217 code of the currency that a text names by code, sign or name; empty without one."""
    if not isinstance(text, str):
        return ""
    text = unicodedata.normalize("NFKC", text[:200]).strip()
    alone = text.rstrip(".")
    words = [alone] if alone.isalpha() else [before or after for before, after in _AT_NUMBER.findall(text)]
    codes = (word.upper() for word in words if word.isupper() or word.upper() not in _ALSO_WORDS)
    signs = (code for sign, code in _SIGNS if sign in text)
    names = (_NAMES[word.lower()] for word in words if word.lower() in _NAMES)
    return next((code for code in codes if code in _CODES), "") or next(signs, "") or next(names, "")


def _rounded(amount: float, currency: str) -> float | None:
    # Pages write integers that are too large for a float: they are compared before they are converted.
    return round(float(amount), 3 if currency in _THREE_DECIMALS else 2) if 0 <= amount < 1e12 else None


def _plain(character: str) -> str:
    """Return a digit of any script as an ASCII digit, and any white space as a space."""
    digit = unicodedata.decimal(character, None)
    return str(digit) if digit is not None else " " if character.isspace() else character


def _pointed(number: str, currency: str, *, is_small: bool) -> str:
    """Return the digits with a point before the decimals, and without thousands separators."""
    if number.lstrip(".,").isdigit() and number[0] in ".,":
        return "0." + number.lstrip(".,")
    number = number.lstrip(".,")
    number = _OTHER_SPACE.sub("", _SPACES.sub("", number))
    number = re.sub(r"['’٬]", "", number).replace("٫", ".")
    last = max(number.rfind("."), number.rfind(","))
    if last < 0:
        return number
    mark, before, after = number[last], number[:last], number[last + 1 :]
    whole = re.sub(r"[.,]", "", before)
    grouped = not is_small and _is_thousands(mark, before, after, currency)
    return whole + after if grouped else f"{whole}.{after}"


def _is_thousands(mark: str, before: str, after: str, currency: str) -> bool:
    """Return whether the last mark separates thousands, not decimals."""
    if mark in before:
        return True
    if len(after) != 3 or before.lstrip("0") == "" or "." in before or "," in before:
        return False
    return len(before) <= 3 and currency not in _THREE_DECIMALS
