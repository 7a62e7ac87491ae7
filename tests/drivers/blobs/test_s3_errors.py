"""Failures of S3 buckets are explained in one sentence."""

import pytest

from longline.drivers.blobs.s3_errors import s3_failure


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Server returned 404: <Code>NoSuchBucket</Code>", "it does not exist"),
        ("403 Forbidden: <Code>AccessDenied</Code>", "it refuses our key: AccessDenied"),
        ("401 Unauthorized: go away", "it refuses our key: no reason given"),
        ("PUT http://169.254.169.254/latest/api/token", "it needs access_key_id and secret_access_key: none are set"),
        ("Generic S3 error: …\n  HttpError { kind: Timeout", "it cannot be reached: nothing answers there"),
        ("503: <Code>SlowDown</Code>", "it failed: SlowDown"),
        ("something new\nand details", "it failed: something new"),
    ],
)
def test_a_failure_is_explained_in_one_sentence(text, said):
    assert s3_failure("it", text) == said
