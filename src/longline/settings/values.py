"""Kinds of values: durations, sizes, switches, lists, addresses.

A kind reads a value of a file, the environment or a flag, and shows a value the way a person would write it. Readers
raise `ValueError`, from which `Kind.take` makes the error "is not <wanted>".
"""

import difflib
import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from longline.model.callers.audit import masked
from longline.model.duration import DAY_SECONDS, parse_duration, show_duration
from longline.model.errors import BadInput, UnknownSetting
from longline.model.proxies.proxy_uri import Proxy
from longline.model.sinks.sink import parse_sinks

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", re.IGNORECASE)
_SIZE_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SWITCH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
_PASSWORD = re.compile(r"(://[^:/@\s]*):(?:(?!://)\S)*@")
_WORD = re.compile(r"[^\s,'\"]+")
_COLON = re.compile(r":(?!//)")
_MIN_PASSWORD_CHARS = 8
_MAX_NUMBER = 2**53
_MAX_DURATION_SECONDS = 36_500 * DAY_SECONDS
_SECRET_PART = re.compile(r"((?:secret|password|passwd|pwd|token|api_?key)[^=&]*=)[^&]*", re.IGNORECASE)


DOOR_ACCESS = ("auto", "open", "key")
"""Ways in which an API asks for credentials."""


class RawValue(NamedTuple):
    """A value as written in a layer, and its origin."""

    raw: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A format of values; `word` stands for a value in usage lines, `wanted` completes the sentence "… is not".

    A value of a `secret` kind is masked in errors.
    """

    word: str
    wanted: str
    read: Callable[[Any], Any]
    show: Callable[[Any], str] = str
    secret: bool = False

    def take(self, raw: Any, origin: str, key: str = "", *, secret: bool = False) -> Any:
        """Return the value read from `raw`, or raise `BadInput` with one line that names origin and fault."""
        try:
            return self.read(raw)
        except BadInput as error:
            raise BadInput(f"{origin}: {error}") from None
        except ValueError:
            value = "***" if secret or self.secret else mask_misspelt(str(raw))
            raise BadInput(f'{origin}: {key}{" " if key else ""}"{value}" is not {self.wanted}') from None


@dataclass(frozen=True, slots=True)
class Key:
    """The metadata of a setting. `later` marks a setting without effect yet; a change of its value gives a warning."""

    kind: Kind
    doc: str
    secret: bool = False
    later: bool = False


def nearest(word: str, words: Iterable[str]) -> str:
    """Return the entry of `words` that is most similar to `word`."""
    return difflib.get_close_matches(word, list(words), n=1, cutoff=0.0)[0]


def unknown_setting(name: str, where: str, known: Iterable[str]) -> UnknownSetting:
    """Return the error for an unknown key, with the nearest known key."""
    return UnknownSetting(f"{where}: there is no setting {name}; the nearest is {nearest(name, known)}")


def _text(raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError
    return raw.strip()


def _header_value(raw: Any) -> str:
    value = _text(raw)
    if _CONTROL.search(value):
        raise ValueError
    return value


def _number(raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        raise ValueError
    return _countable(int(raw))


def _countable(number: float) -> int:
    """Return a number as a whole one; raise `ValueError` for one that no database counts."""
    if not abs(number) <= _MAX_NUMBER:
        raise ValueError
    return round(number)


def _switch(raw: Any) -> bool:
    if isinstance(raw, bool):
        return raw
    try:
        return _SWITCH[str(raw).strip().lower()]
    except KeyError:
        raise ValueError from None


def _duration(raw: Any) -> float:
    if isinstance(raw, bool):
        raise ValueError
    if isinstance(raw, int | float):
        return float(raw)
    return parse_duration(_text(raw))


def _size(raw: Any) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        if raw < 0:
            raise ValueError
        return _countable(raw)
    found = _SIZE.fullmatch(_text(raw))
    if not found:
        raise ValueError
    factor: int = 1024 ** _SIZE_POWERS[found[2].lower()]
    return _countable(float(found[1]) * factor)


def _show_size(size: int) -> str:
    for unit, power in (("GB", 3), ("MB", 2), ("KB", 1)):
        if size and size % 1024**power == 0:
            return f"{size // 1024**power}{unit}"
    return str(size)


def _list(raw: Any) -> tuple[str, ...]:
    parts = raw if isinstance(raw, list | tuple) else _text(raw).split(",")
    return tuple(p for p in (_text(part) for part in parts) if p)


def _networks(raw: Any) -> tuple[str, ...]:
    return tuple(str(ipaddress.ip_network(part, strict=False)) for part in _list(raw))


def _scheme(text: str) -> str:
    return text.partition("://")[0].lower() if "://" in text else ""


def mask(text: str) -> str:
    """Return a text with the passwords and secret parameters of its URLs masked."""
    return _SECRET_PART.sub(r"\1***", _PASSWORD.sub(r"\1:***@", text))


def mask_misspelt(text: str) -> str:
    """Return a text that may be a URL with mistakes, such as a missing colon, with all that may be passwords masked."""
    return _WORD.sub(_mask_word, mask(text))


def _mask_word(found: re.Match[str]) -> str:
    """Return a word without the text between its first colon and its last @."""
    user, at, place = found[0].rpartition("@")
    colon = _COLON.search(user)
    return f"{user[: colon.start()]}:***@{place}" if at and colon else found[0]


def one_of(*words: str, **also: str) -> Kind:
    """Return a kind for one of a few words; `also` maps other spellings to the words."""

    def read(raw: Any) -> str:
        word = _text(raw).lower()
        word = also.get(word, word)
        if word not in words:
            raise ValueError
        return word

    return Kind("|".join(words), "one of " + ", ".join(words), read)


def integer(least: int, most: int | None = None) -> Kind:
    """Return a kind for a whole number within bounds."""

    def read(raw: Any) -> int:
        number = _number(raw)
        if number < least or (most is not None and number > most):
            raise ValueError
        return number

    bounds = f"from {least} to {most}" if most is not None else f"of at least {least}"
    return Kind("NUMBER", f"a whole number {bounds}", read)


def url(*schemes: str, folder: bool = False) -> Kind:
    """Return a kind for a URL with one of these schemes, or an empty text; `folder` allows a path as well."""

    def read(raw: Any) -> str:
        text = _text(raw)
        if text and _scheme(text) not in schemes and not (folder and _scheme(text) == ""):
            raise ValueError
        return text

    begins = ", ".join(f"{s}://" for s in schemes)
    return Kind("URL", f"a URL that begins with {begins}" + (" or a folder" if folder else ""), read, mask)


def _urls(raw: Any) -> tuple[str, ...]:
    urls = _list(raw)
    if any(_scheme(u) not in ("http", "https") for u in urls):
        raise ValueError
    return urls


def _proxies(raw: Any) -> tuple[str, ...]:
    proxies = _list(raw)
    for proxy in proxies:
        Proxy.parse(proxy)  # raises BadInput with its own text, without the password
    return proxies


def _sinks(raw: Any) -> tuple[str, ...]:
    sinks = _list(raw)
    parse_sinks(sinks)  # raises BadInput with its own text, without the secrets
    return sinks


def _show_sinks(sinks: tuple[str, ...]) -> str:
    # Not masked by pattern: queries and fragments of any form may hold secrets.
    addresses = parse_sinks(sinks)
    return ",".join(f"{sink.name}={sink.label}" if sink.name else sink.label for sink in addresses)


def _at_least(least: float) -> Callable[[Any], float]:
    def read(raw: Any) -> float:
        seconds = _duration(raw)
        # NaN fails every comparison.
        if not least <= seconds <= _MAX_DURATION_SECONDS:
            raise ValueError
        return seconds

    return read


def _id_and_key(raw: Any) -> str:
    text = _text(raw)
    name, colon, key = text.partition(":")
    if text and not (name and colon and key):
        raise ValueError
    return text


def _host_and_port(raw: Any) -> str:
    text = _text(raw)
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError
    return text


def _password(raw: Any) -> str:
    text = _text(raw)
    if len(text) < _MIN_PASSWORD_CHARS:
        raise ValueError
    return text


def _path(raw: Any) -> Path:
    text = str(raw) if isinstance(raw, Path) else _text(raw)
    if not text:
        raise ValueError
    return Path(text).expanduser()


def _json_object(raw: Any) -> str:
    try:
        found = msgspec.json.decode(_text(raw) or "{}") if isinstance(raw, str) else raw
    except msgspec.DecodeError:
        raise ValueError from None
    if not isinstance(found, dict):
        raise ValueError
    return msgspec.json.encode(found, order="sorted").decode() if found else ""


def _show_json(text: str) -> str:
    return msgspec.json.encode(masked(msgspec.json.decode(text))).decode() if text else ""


def _join(parts: tuple[str, ...]) -> str:
    return ",".join(mask(p) for p in parts)


TEXT = Kind("TEXT", "a text", _text)
HEADER_VALUE = Kind("TEXT", "a text without control characters", _header_value)
VALUE = Kind("VALUE", "a value", lambda raw: raw)
ID_AND_KEY = Kind("ID:KEY", "an id and a key like id:key", _id_and_key, secret=True)
PASSWORD = Kind("TEXT", f"a password of at least {_MIN_PASSWORD_CHARS} characters", _password, secret=True)
HOST_AND_PORT = Kind("HOST:PORT", "a host and a port like localhost:6379", _host_and_port)
FOLDER = Kind("FOLDER", "a folder", _path)
SWITCH = Kind("true|false", "true or false", _switch, lambda on: "true" if on else "false")
DURATION = Kind("DURATION", "a duration like 500ms, 30s, 5m or 1h", _at_least(0), show_duration)
POSITIVE_DURATION = Kind(
    "DURATION", "a duration of at least 1ms, like 500ms, 30s, 5m or 1h", _at_least(0.001), show_duration
)
FILES = Kind("FILES", "a list of files", _list, ",".join)
JSON_OBJECT = Kind("JSON", 'a JSON object like {"key": "value"}', _json_object, _show_json, secret=True)
SIZE = Kind("SIZE", "a size like 500KB, 10MB or 1048576", _size, _show_size)
NETWORKS = Kind("CIDRS", "a list of networks like 10.0.0.0/8,192.168.1.7", _networks, _join)
PROXIES = Kind("URIS", "a list of proxies like socks5://user:password@192.0.2.1:1080", _proxies, _join)
SINKS = Kind("URLS", "a list of sinks like postgresql://user@host/database/table", _sinks, _show_sinks)
URLS = Kind("URLS", "a list of http or https URLs", _urls, _join)
LIST = Kind("LIST", "a list of words, separated by commas", _list, _join)
