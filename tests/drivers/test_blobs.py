import re

import pytest

from longline.drivers.blobs import open_blobs
from longline.model.errors import BadInput

S3 = "endpoint=http://127.0.0.1:1&access_key_id=a&secret_access_key=b"


async def test_a_folder_is_opened_by_path_or_url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "with space"
    relative = open_blobs("with space")
    monkeypatch.chdir("/")
    await relative.put("a", b"x")
    for url in (str(folder), f"file://{folder}", f"file://localhost{tmp_path}/with%20space", "~/with space"):
        assert await open_blobs(url).get("a") == b"x"
        assert await open_blobs(url).check() == f"folder {folder}"


def test_opening_a_store_makes_no_file(tmp_path):
    for url in (f"{tmp_path}/folder", f"file://{tmp_path}/folder", "memory://", f"s3://bucket?{S3}"):
        open_blobs(url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "the path of the objects folder is empty"),
        ("nul\0", "the path of the objects folder is empty or has a NUL"),
        ("gs://bucket", "no object store is called gs://"),
        ("memory://name", "no object store is called memory://"),
        ("file://relative/path", "file:///path, with three slashes"),
        ("file:///path?x=1", "nothing after the path"),
        ("s3://", "an S3 address is s3://bucket"),
        ("s3:///prefix", "an S3 address is s3://bucket"),
        ("s3://key:hidden@bucket", "an S3 address is s3://bucket"),
        (f"s3://bucket?{S3}&regoin=x", "unknown S3 option 'regoin'"),
        (f"s3://bucket/a/../b?{S3}", "'..' segment"),
        ("s3://bucket?endpoint=127.0.0.1:9000&access_key_id=a&secret_access_key=b", "not an http:// or https://"),
        ("s3://bucket?endpoint=http://user:hidden@host&access_key_id=a&secret_access_key=b", "without a user name"),
        ("s3://bucket?access_key_id=a", "both, or neither"),
    ],
)
def test_an_invalid_address_is_bad_input(url, said):
    with pytest.raises(BadInput, match=re.escape(said)) as caught:
        open_blobs(url)
    assert "hidden" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_endpoint_needs_a_key(monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with pytest.raises(BadInput, match="needs access_key_id and secret_access_key"):
        open_blobs("s3://bucket?endpoint=http://127.0.0.1:1")
