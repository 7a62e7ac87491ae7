"""The dimensions of an image, read from its first bytes."""

import struct

HEAD_BYTES = 64 * 1024
"""Number of first bytes that are looked at; a JPEG may have a thumbnail and a profile before its size."""

_PNG, _JPEG_START = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_NO_SIZE = {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG among those of frames that are of tables and extensions."""


def image_size(head: bytes) -> tuple[int, int] | None:
    """Return width and height of a PNG, GIF, JPEG or WebP; None for other files, and where the head is too short."""
    try:
        if head.startswith(_PNG):
            return struct.unpack(">II", head[16:24])
        if head[:6] in (b"GIF87a", b"GIF89a"):
            return struct.unpack("<HH", head[6:10])
        if head.startswith(_JPEG_START):
            return _jpeg_size(head)
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return _webp_size(head)
    except (struct.error, IndexError):
        pass
    return None


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    at = 2
    while head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        (length,) = struct.unpack(">H", head[at + 2 : at + 4])
        at += 2 + length
    return None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8X":
            wide, high = (int.from_bytes(head[at : at + 3], "little") for at in (24, 27))
            return (wide + 1, high + 1) if len(head) >= 30 else None
        case b"VP8L":
            (bits,) = struct.unpack("<I", head[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            wide, high = struct.unpack("<HH", head[26:30])
            return wide & 0x3FFF, high & 0x3FFF
    return None
