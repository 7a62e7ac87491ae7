"""Downloads: the identity of a file, and the digest that is expected of it."""

import pytest

from longline.model.downloads.download import DownloadOrder, NewDownload


def test_the_resource_id_alone_identifies_a_task_in_its_run():
    one = NewDownload(resource_id="a", url="https://a.example/", key="a")
    assert one.task_key == NewDownload(resource_id="a", url="https://b.example/", key="b").task_key
    assert one.task_key != NewDownload(resource_id="b", url="https://a.example/", key="a").task_key
    assert NewDownload(resource_id="\ud800", url="", key="").task_key


@pytest.mark.parametrize(
    ("hint", "digest"),
    [
        ("sha256:AB01", "ab01"),
        ("SHA256: ab01 ", "ab01"),
        ("md5:ab01", None),
        ("ab01", None),
        ("sha256:", None),
        ("sha256:xy", None),
        (None, None),
    ],
)
def test_only_sha256_is_expected_of_a_file(hint, digest):
    assert DownloadOrder("r", "key", checksum=hint).sha256 == digest
