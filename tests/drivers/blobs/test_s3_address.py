import pytest

from longline.drivers.blobs.s3_address import client_options, open_s3, read_options
from longline.model.errors import NotFound, Unavailable
from longline.ports.blobs import Blobs
from tests.drivers.blobs.address import s3_url
from tests.servers.process import free_ports


async def everything_fails(blobs: Blobs, said: str) -> None:
    """Every verb fails in the same one sentence."""
    attempts = (
        blobs.check(),
        blobs.put("a", b"x"),
        blobs.get("a"),
        blobs.get_range("a", 0, 1),
        blobs.delete(["a"]),
        anext(aiter(blobs.list())),
    )
    for attempt in attempts:
        with pytest.raises(Unavailable) as caught:
            await attempt
        assert str(caught.value) == said


async def test_a_wrong_secret_is_one_clear_line(s3_bucket):
    blobs = open_s3(s3_url(s3_bucket, secret_access_key="not-the-secret"))
    name = f"S3 bucket '{s3_bucket.name}' at {s3_bucket.endpoint}"
    await everything_fails(blobs, f"{name} refuses our key: SignatureDoesNotMatch")


async def test_an_unknown_key_is_one_clear_line(s3_bucket):
    with pytest.raises(Unavailable, match=r"refuses our key: InvalidAccessKeyId$"):
        await open_s3(s3_url(s3_bucket, access_key_id="nobody")).check()


async def test_an_endpoint_where_nothing_answers_is_one_clear_line(s3_bucket):
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    blobs = open_s3(s3_url(s3_bucket, endpoint=endpoint))
    name = f"S3 bucket '{s3_bucket.name}' at {endpoint}"
    await everything_fails(blobs, f"{name} cannot be reached: nothing answers there")


async def test_a_missing_bucket_is_found_out_and_not_made(s3_bucket):
    missing = s3_bucket._replace(name="never-made")
    blobs = open_s3(s3_url(missing))
    for attempt in (blobs.check(), blobs.get("a"), anext(aiter(blobs.list())), blobs.check()):
        with pytest.raises(Unavailable) as caught:
            await attempt
        assert str(caught.value) == f"S3 bucket 'never-made' at {missing.endpoint} does not exist"


async def test_a_prefix_is_a_wall(s3_bucket):
    whole, ours, theirs = (open_s3(s3_url(s3_bucket, prefix)) for prefix in ("", "our/things", "theirs"))
    await ours.put("a", b"ours")
    await theirs.put("a", b"theirs")
    assert [info.key async for info in ours.list()] == ["a"]
    assert [info.key async for info in whole.list()] == ["our/things/a", "theirs/a"]
    await theirs.delete(["a"])
    assert await ours.get("a") == b"ours"
    with pytest.raises(NotFound):
        await theirs.get("a")


async def test_what_the_address_leaves_out_comes_from_the_environment(s3_bucket, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_bucket.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_bucket.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_bucket.secret_key)
    monkeypatch.setenv("AWS_REGION", s3_bucket.region)
    blobs = open_s3(f"s3://{s3_bucket.name}")
    assert await blobs.check() == f"S3 bucket '{s3_bucket.name}' at {s3_bucket.endpoint}"


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
async def test_the_address_wins_over_the_environment(s3_bucket, monkeypatch, variable):
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of another key")
    monkeypatch.setenv("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "true")
    await open_s3(s3_url(s3_bucket)).check()


def test_a_secret_with_a_plus_sign_stays_as_it_is():
    assert read_options("secret_access_key=x+y/z%2Bw==") == {"secret_access_key": "x+y/z+w=="}


@pytest.mark.parametrize(("endpoint", "allowed"), [("http://h", True), ("https://h", False), (None, False)])
def test_plain_http_is_used_only_where_it_is_asked_for(endpoint, allowed):
    assert client_options(endpoint)["allow_http"] is allowed
