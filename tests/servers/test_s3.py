import sysconfig

import obstore
import pytest
from obstore.exceptions import AlreadyExistsError, PermissionDeniedError
from obstore.store import S3Store

from tests.servers import S3Bucket, ServerFailed
from tests.servers.s3 import find_weed


def store(bucket: S3Bucket, secret: str | None = None) -> S3Store:
    return S3Store(
        bucket.name,
        endpoint=bucket.endpoint,
        access_key_id=bucket.access_key,
        secret_access_key=secret or bucket.secret_key,
        region=bucket.region,
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )


async def keys(place: S3Store) -> list[str]:
    return [found["path"] for found in await obstore.list(place).collect_async()]


async def test_objects_are_stored_and_read(s3_bucket):
    place = store(s3_bucket)
    await obstore.put_async(place, "a/b", b"caught")

    assert bytes(await (await obstore.get_async(place, "a/b")).bytes_async()) == b"caught"
    assert await keys(place) == ["a/b"]


async def test_each_test_gets_an_empty_bucket(s3_bucket):
    assert await keys(store(s3_bucket)) == []


async def test_a_second_creator_loses(s3_bucket):
    place = store(s3_bucket)
    await obstore.put_async(place, "one", b"first", mode="create")

    with pytest.raises(AlreadyExistsError):
        await obstore.put_async(place, "one", b"second", mode="create")


async def test_a_wrong_secret_is_refused(s3_bucket):
    with pytest.raises(PermissionDeniedError):
        await obstore.put_async(store(s3_bucket, secret="wrong"), "a", b"b")


async def test_a_deleted_bucket_is_gone(s3_server):
    bucket = s3_server.create_bucket("test-short-life")
    await obstore.put_async(store(bucket), "a", b"b")
    s3_server.delete_bucket(bucket)
    again = s3_server.create_bucket("test-short-life")

    assert await keys(store(again)) == []
    s3_server.delete_bucket(again)


def test_a_bucket_that_cannot_be_made_is_an_error(s3_server):
    bucket = s3_server.create_bucket()

    with pytest.raises(OSError, match="409"):
        s3_server.create_bucket(bucket.name)
    s3_server.delete_bucket(bucket)


def test_the_version_is_a_number_and_an_origin(s3_server):
    name, number, origin = s3_server.version.split()

    assert name == "SeaweedFS"
    assert int(number.split(".")[0]) >= 4
    assert origin in ("(wheel)", "(installed)")


def test_no_program_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ServerFailed, match="no SeaweedFS"):
        find_weed()
