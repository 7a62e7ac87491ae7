"""Keys of objects: the place in the object store of every kind of file that the platform stores."""

import re
from datetime import UTC, datetime
from hashlib import sha256
from itertools import accumulate
from urllib.parse import quote, urlsplit

from longline.model.ids import new_id
from longline.model.logs.log_months import month_name
from longline.model.urls.url import parse

UPLOADS, METADATA_FILE, DOCUMENT_FILE = "uploads", "metadata.json", "manifest.json"

IMAGE_SUFFIXES = frozenset({"png", "gif", "jpg", "jpeg", "webp", "avif", "svg"})

_MAX_SEGMENT_CHARS = 255
"""Largest number of characters of a segment of a key, which is the limit of file systems in bytes."""

_MAX_PAGE_PATH_CHARS = 400
_UNSAFE_IN_PATH = re.compile(r"[^A-Za-z0-9._/-]")
_UNSAFE_IN_SOURCE = re.compile(r'[\\?*<>:"|\x00-\x1f\x7f. /_]+')


# The archive


def segment_key(now: int) -> str:
    """Return the unique key of a WARC segment; keys are in the order of time."""
    at = datetime.fromtimestamp(now / 1000, UTC)
    return f"warc/{at:%Y/%m/%d}/{at:%H%M%S}-{new_id()}.warc.gz"


def html_copy_key(source: str, at: int, url: str) -> str:
    """Return the key of a response in the HTML archive."""
    moment, mark = datetime.fromtimestamp(at / 1000, UTC), sha256(url.encode()).hexdigest()[:8]
    folder = _UNSAFE_IN_SOURCE.sub("_", source.lower()).strip("_") or "unknown"
    return f"live/{folder}/{moment:%Y/%m/%d}/{mark}_{moment:%Y%m%d%H%M%S}.html"


def page_object_key(begin: str, url: str) -> str:
    """Return the key of a page that is an object: its host and path, and a digest where these are not the URL."""
    place = parse(url)
    plain = f"{place.host.replace(':', '_')}{place.href.split(place.host, 1)[1]}"
    path = _UNSAFE_IN_PATH.sub("_", plain.partition("?")[0]).replace("..", "_").rstrip("/")
    if path == plain and "//" not in path and len(path) <= _MAX_PAGE_PATH_CHARS:
        return f"{begin}/{path}"
    folder, slash, name = path[:_MAX_PAGE_PATH_CHARS].replace("//", "/_/").rpartition("/")
    return f"{begin}/{folder}{slash}{sha256(url.encode()).hexdigest()[:16]}-{name}"


def series_pages_prefix(series_id: str) -> str:
    """Return the begin of the keys of the pages of a series."""
    return f"series/{series_id}"


def bot_page_key() -> str:
    """Return a unique key for the page that a bot has sent with its result."""
    return f"bots/{new_id()}.html"


def image_key(source_id: int, url: str, digest: str) -> str:
    """Return the key of an image of a product."""
    ending = urlsplit(url).path.rpartition(".")[2].lower()
    return f"images/{source_id}/{digest}{f'.{ending}' if ending in IMAGE_SUFFIXES else ''}"


# Manifests


def manifest_key(kind: str, uid: str, file: str = METADATA_FILE) -> str:
    """Return the key of an object that belongs to a manifest."""
    return f"manifests/{safe_segment(kind)}/{uid}/{file}"


def resource_key(kind: str, uid: str, resource_id: str, prefix: str = "") -> str:
    """Return the key of a downloaded file of a manifest; its kind may have a prefix of its own."""
    return f"{prefix or f'resources/{safe_segment(kind)}/'}{safe_segment(uid)}/{safe_segment(resource_id)}"


def upload_parts_prefix(upload_id: str) -> str:
    """Return the begin of the keys of the parts of an upload."""
    return f"{UPLOADS}/{upload_id}/parts"


def upload_note_key(upload_id: str) -> str:
    """Return the key of the note about an upload."""
    return f"{UPLOADS}/{upload_id}/upload.json"


def upload_part_key(upload_id: str, number: int) -> str:
    """Return the key of one part of an upload."""
    return f"{upload_parts_prefix(upload_id)}/{number:05}"


# Logs


def run_log_key(name: str, number: int) -> str:
    """Return the key of a run's log."""
    return f"logs/{name}/{number}.log.gz"


def log_month_key(month: int, piece: int) -> str:
    """Return the key of one piece of a month's archive."""
    return f"logs/months/{month_name(month)}/{piece:06}.jsonl.gz"


# Parts of keys


def safe_segment(text: str) -> str:
    """Return a text of a client as one segment of a key: unsafe characters, and segments of dots, are escaped.

    A segment that file systems would not take is cut, and ends with the digest of the text. The sign = before the
    digest is in no other segment.
    """
    escaped = quote(text, safe="")
    if len(escaped) > _MAX_SEGMENT_CHARS:
        begin, digest = begin_and_digest(text, _MAX_SEGMENT_CHARS)
        return f"{quote(begin, safe='')}={digest}"
    return escaped.replace(".", "%2E") if set(escaped) == {"."} else escaped


def begin_and_digest(text: str, max_chars: int, safe: str = "") -> tuple[str, str]:
    """Return the begin of a text, and its digest, which have so many characters with a sign between when escaped."""
    digest = sha256(text.encode()).hexdigest()
    lengths = accumulate(len(quote(character, safe)) for character in text)
    kept = sum(length < max_chars - len(digest) for length in lengths)
    return text[:kept], digest
