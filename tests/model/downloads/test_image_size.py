import struct

import pytest

from longline.model.downloads.image_size import image_size

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480)
GIF = b"GIF89a" + struct.pack("<HH", 640, 480)
JPEG = b"\xff\xd8\xff\xe0" + struct.pack(">H", 4) + b"ab" + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, 480, 640)
RIFF = b"RIFF\x00\x00\x00\x00WEBP"
EXTENDED = RIFF + b"VP8X" + bytes(8) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")
LOSSLESS = RIFF + b"VP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 639 | 479 << 14)
LOSSY = RIFF + b"VP8 " + bytes(10) + struct.pack("<HH", 640, 480)


@pytest.mark.parametrize("head", [PNG, GIF, JPEG, EXTENDED, LOSSLESS, LOSSY])
def test_dimensions_are_in_the_first_bytes(head: bytes):
    assert image_size(head + b"more") == (640, 480)


@pytest.mark.parametrize(
    "head", [b"", b"<svg/>", PNG[:20], GIF[:8], JPEG[:12], JPEG[:8], RIFF + b"VP8X", RIFF, b"\xff\xd8x"]
)
def test_other_files_have_no_dimensions(head: bytes):
    assert image_size(head) is None
