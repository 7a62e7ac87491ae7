from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from longline.drivers.blobs.s3_address import client_options, open_s3, read_options
from longline.model.errors import BadInput, NotFound, Unavailable
from longline.ports.blobs import Blobs
from tests.drivers.blobs.address import s3_url
from tests.servers.process import free_ports


async def everything_fails(blobs: Blobs, said: str) -> None:
    """Check that every operation fails with the same sentence."""
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


async def test_an_endpoint_without_a_server_is_one_clear_line(s3_bucket):
    endpoint = f"http://127.0.0.1:{free_ports(1)[0]}"
    blobs = open_s3(s3_url(s3_bucket, endpoint=endpoint))
    name = f"S3 bucket '{s3_bucket.name}' at {endpoint}"
    await everything_fails(blobs, f"{name} cannot be reached: nothing answers there")


async def test_a_missing_bucket_is_reported_and_not_made(s3_bucket):
    missing = s3_bucket._replace(name="never-made")
    blobs = open_s3(s3_url(missing))
    for attempt in (blobs.check(), blobs.get("a"), anext(aiter(blobs.list())), blobs.check()):
        with pytest.raises(Unavailable) as caught:
            await attempt
        assert str(caught.value) == f"S3 bucket 'never-made' at {missing.endpoint} does not exist"


async def test_a_prefix_separates_the_objects_of_a_bucket(s3_bucket):
    whole, ours, theirs = (open_s3(s3_url(s3_bucket, prefix)) for prefix in ("", "our/things", "theirs"))
    await ours.put("a", b"ours")
    await theirs.put("a", b"theirs")
    assert [info.key async for info in ours.list()] == ["a"]
    assert [info.key async for info in whole.list()] == ["our/things/a", "theirs/a"]
    await theirs.delete(["a"])
    assert await ours.get("a") == b"ours"
    with pytest.raises(NotFound):
        await theirs.get("a")


async def test_options_missing_in_the_address_are_read_from_the_environment(s3_bucket, monkeypatch):
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


def test_a_secret_with_a_plus_sign_is_kept_unchanged():
    assert read_options("secret_access_key=x+y/z%2Bw==") == {"secret_access_key": "x+y/z+w=="}


@pytest.mark.parametrize(("endpoint", "allowed"), [("http://h", True), ("https://h", False), (None, False)])
def test_plain_http_is_allowed_for_an_http_endpoint_alone(endpoint, allowed):
    assert client_options(endpoint)["allow_http"] is allowed


async def headers_of_puts(query: str, *buckets: str) -> list[dict[str, str]]:
    """Return the headers that the server receives with one stored object for each bucket."""
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            asked.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("ETag", '"x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        key = f"endpoint=http://127.0.0.1:{server.server_port}&access_key_id=a&secret_access_key=b"
        blobs = open_s3(f"s3://main?{key}&{query}")
        for bucket in buckets:
            await (blobs if bucket == "main" else blobs.bucket(bucket)).put("k", b"x")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    return asked


async def test_objects_are_encrypted_by_the_server_according_to_their_bucket():
    query = "encryption=AES256&encryption.other=aws:kms&kms_key.other=k1"
    main, other = await headers_of_puts(query, "main", "other")
    assert main["x-amz-server-side-encryption"] == "AES256"
    assert "x-amz-server-side-encryption-aws-kms-key-id" not in main
    assert other["x-amz-server-side-encryption"] == "aws:kms"
    assert other["x-amz-server-side-encryption-aws-kms-key-id"] == "k1"
    [plain] = await headers_of_puts("encryption.other=AES256", "main")
    assert "x-amz-server-side-encryption" not in plain
    with pytest.raises(BadInput, match="AES256, aws:kms"):
        open_s3("s3://main?encryption=rot13")
