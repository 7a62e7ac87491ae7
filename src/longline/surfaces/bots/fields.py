"""Validation of client input field by field; all errors are collected."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

import msgspec

from longline.model.errors import BadInput
from longline.model.url import BadUrl, parse

MAX_INT = 2**31 - 1
MAX_HOST_CHARS = 255
REQUIRED = "This field is required."

_WHOLE = re.compile(r"-?[0-9]{1,11}")
_AMOUNT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_HOST = re.compile(r"(\*\.)?[^\s*/?#@\\\x00]+")

# Numbers are decoded as Decimal: money must never pass through a binary float.
_JSON = msgspec.json.Decoder(float_hook=Decimal)


class Invalid(BadInput):
    """Invalid client input; `detail` maps fields to their errors."""

    def __init__(self, detail: str | dict[str, list[str]]) -> None:
        super().__init__("invalid input")
        self.detail = detail


def read(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a request body."""
    try:
        found = _JSON.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"JSON parse error - {error}") from None
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise Invalid({"non_field_errors": [f"Invalid data. Expected a dictionary, but got {kind}."]})
    return found


class Fields:
    """One object of client input. `loose` is for query strings, in which numbers and booleans are text."""

    def __init__(self, sent: Mapping[str, Any], *, loose: bool = False) -> None:
        self._sent = sent
        self.loose = loose
        self.errors: dict[str, list[str]] = {}

    def value(self, name: str) -> Any:
        """Return the value of a field unchecked."""
        return self._sent.get(name)

    def has(self, name: str) -> bool:
        """Return whether the field was sent with a value other than null."""
        return self._sent.get(name) is not None

    def sent(self, name: str) -> bool:
        """Return whether the field was sent, including as null."""
        return name in self._sent

    def wrong(self, name: str, message: str) -> None:
        """Add an error of a field."""
        self.errors.setdefault(name, []).append(message)

    def not_null(self, *names: str) -> None:
        """Add an error for each of these fields that was sent as null."""
        for name in names:
            if self.sent(name) and not self.has(name):
                self.wrong(name, "This field may not be null.")

    def check(self) -> None:
        """Raise `Invalid` if there are errors."""
        if self.errors:
            raise Invalid(self.errors)

    def text(self, name: str, *, most: int | None = None, required: bool = False, raw: bool = False) -> str:
        """Return a text; a required text must not be blank, and only a raw text may contain null characters."""
        value = self._sent.get(name)
        if value is None:
            if required:
                self.wrong(name, REQUIRED if name not in self._sent else "This field may not be null.")
            return ""
        if not isinstance(value, str):
            self.wrong(name, "Not a valid string.")
        elif required and not value.strip():
            self.wrong(name, "This field may not be blank.")
        elif "\x00" in value and not raw:
            self.wrong(name, "Null characters are not allowed.")
        elif most is not None and len(value) > most:
            self.wrong(name, f"Ensure this field has no more than {most} characters.")
        else:
            return value
        return ""

    def whole(self, name: str, least: int, most: int = MAX_INT, *, default: int = 0, required: bool = False) -> int:
        """Return a whole number within bounds."""
        value = self._sent.get(name)
        if value is None:
            if required:
                self.wrong(name, REQUIRED)
            return default
        if self.loose and isinstance(value, str) and _WHOLE.fullmatch(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(name, "A valid integer is required.")
        elif value < least:
            self.wrong(name, f"Ensure this value is greater than or equal to {least}.")
        elif value > most:
            self.wrong(name, f"Ensure this value is less than or equal to {most}.")
        else:
            return value
        return default

    def flag(self, name: str, *, default: bool = False, required: bool = False) -> bool:
        """Return a boolean."""
        value = self._sent.get(name)
        if value is None:
            if required:
                self.wrong(name, REQUIRED)
            return default
        if self.loose and value in ("true", "false"):
            return bool(value == "true")
        if not isinstance(value, bool):
            self.wrong(name, "Must be a valid boolean.")
            return default
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """Return a JSON object."""
        value = self._sent.get(name)
        if value is not None and not isinstance(value, dict):
            self.wrong(name, f'Expected a dictionary of items but got type "{type(value).__name__}".')
        return value if isinstance(value, dict) else {}

    def texts(self, name: str, *, required: bool = False) -> list[str]:
        """Return a list of texts."""
        value = self._sent.get(name)
        if value is None and not required:
            return []
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self.wrong(name, REQUIRED if value is None else "Expected a list of strings.")
            return []
        return value


def uuid(fields: Fields, name: str) -> str:
    """Return a UUID in its canonical form."""
    value = fields.value(name)
    if value is None:
        fields.wrong(name, REQUIRED)
        return ""
    try:
        return str(UUID(value))
    except (ValueError, AttributeError, TypeError):
        fields.wrong(name, "Must be a valid UUID.")
        return ""


def money(fields: Fields, name: str, digits: int = 12, places: int = 2) -> int:
    """Return a non-negative amount in hundredths."""
    value = fields.value(name)
    try:
        if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
            raise InvalidOperation
        if isinstance(value, str) and not _AMOUNT.fullmatch(value.strip()):
            raise InvalidOperation
        amount = Decimal(value.strip() if isinstance(value, str) else value)
        exponent = amount.as_tuple().exponent
        if not isinstance(exponent, int):
            raise InvalidOperation
    except InvalidOperation:
        fields.wrong(name, "A valid number is required.")
        return 0
    if amount < 0:
        fields.wrong(name, "Ensure this value is greater than or equal to 0.")
    elif -exponent > places:
        fields.wrong(name, f"Ensure that there are no more than {places} decimal places.")
    elif amount >= 10 ** (digits - places):
        fields.wrong(name, f"Ensure that there are no more than {digits} digits in total.")
    else:
        return int(amount * 10**places)
    return 0


def url(fields: Fields, name: str, most: int = 2048) -> str:
    """Return an absolute http or https URL as written."""
    value = fields.text(name, most=most, required=True).strip()
    if value and not _is_url(value):
        fields.wrong(name, "Enter a valid URL.")
    return value


def urls(fields: Fields, name: str, most: int = 2048) -> list[str]:
    """Return a list of absolute http or https URLs."""
    found = fields.texts(name, required=True)
    if not all(len(url) <= most and _is_url(url) for url in found):
        fields.wrong(name, "Enter valid URLs.")
    return found


def hosts(fields: Fields, name: str, most: int) -> list[str]:
    """Return a list of host names in their stored form; a name may begin with `*.`, for every host below it."""
    given = fields.texts(name)
    if len(given) > most:
        fields.wrong(name, f"Ensure this field has no more than {most} elements.")
        return []
    found = [_host(text) for text in given]
    if None in found:
        fields.wrong(name, "Enter valid host names, such as shop.example or *.shop.example.")
    return sorted({host for host in found if host is not None})


def _host(text: str) -> str | None:
    if len(text) > MAX_HOST_CHARS or not _HOST.fullmatch(text):
        return None
    below, name = ("*.", text[2:]) if text.startswith("*.") else ("", text)
    try:
        return below + parse(f"http://{name}/").host
    except BadUrl:
        return None


def moment(fields: Fields, name: str) -> int | None:
    """Return an ISO 8601 time as UTC milliseconds; a time without an offset is UTC."""
    value = fields.value(name)
    if value is None:
        return None
    try:
        # In a query string, an unescaped plus sign of an offset is decoded as a blank.
        at = datetime.fromisoformat(value.replace(" ", "+") if fields.loose and "T" in value else value)
        # The conversion to UTC fails for a year out of range in UTC.
        return round((at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, TypeError, OverflowError):
        fields.wrong(name, "Datetime has wrong format. Use ISO 8601, as in 2025-01-07T07:20:00Z.")
        return None


def _is_url(text: str) -> bool:
    try:
        parse(text)
    except BadUrl:
        return False
    return True
