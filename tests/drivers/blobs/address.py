"""The URL of a test's bucket."""

from urllib.parse import quote

from tests.servers import S3Bucket


def s3_url(bucket: S3Bucket, prefix: str = "some/prefix", **changes: str | None) -> str:
    """Return the URL of a bucket for `open_blobs`; an option that is changed to None is left out."""
    options: dict[str, str | None] = {
        "endpoint": bucket.endpoint,
        "region": bucket.region,
        "access_key_id": bucket.access_key,
        "secret_access_key": bucket.secret_key,
    }
    told = {name: value for name, value in {**options, **changes}.items() if value is not None}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in told.items())
    return f"s3://{bucket.name}/{prefix}?{query}"
