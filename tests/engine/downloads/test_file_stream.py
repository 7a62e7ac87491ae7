"""The rules by which a broken file is resumed; `test_downloader.py` has whole downloads."""

import pytest

from longline.engine.downloads.file_stream import strong_validator
from longline.ports.http import Response

DATE = ("Date", "Tue, 10 Nov 2026 10:01:00 GMT")


@pytest.mark.parametrize(
    ("headers", "validator"),
    [
        ((("ETag", '"a"'),), '"a"'),
        ((("ETag", 'W/"a"'),), None),
        ((("ETag", '"a"'), ("Accept-Ranges", "None")), None),
        ((("ETag", '"a"'), ("Accept-Ranges", "bytes")), '"a"'),
        ((("Last-Modified", "Tue, 10 Nov 2026 10:00:00 GMT"), DATE), "Tue, 10 Nov 2026 10:00:00 GMT"),
        ((("Last-Modified", "Tue, 10 Nov 2026 10:00:01 GMT"), DATE), None),
        ((("Last-Modified", "Tue, 10 Nov 2026 10:00:00 GMT"),), None),
        ((("Last-Modified", "lately"), DATE), None),
        ((), None),
    ],
)
def test_only_strong_validators_identify_the_rest_of_a_file(headers, validator):
    assert strong_validator(Response("https://a.example/", 200, headers, b"", "HTTP/1.1", 0)) == validator
