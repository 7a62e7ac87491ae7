"""Failures of S3 buckets, in sentences for a person."""

import re

_CODE = re.compile(r"<Code>(\w+)</Code>")
_CLIENT = re.compile(r"status (?:code: )?4(?!08|09|23|25|29)\d\d\b|\b400 Bad Request")
_REFUSALS = ("403 Forbidden", "401 Unauthorized")
_NO_ANSWER = ("kind: Connect", "kind: Timeout", "error sending request")
_INSTANCE_ADDRESS = "169.254.169.254"  # the AWS instance metadata service, a source of credentials


def s3_failure(name: str, text: str) -> str:
    """Return the message for a person about a failure of the bucket `name`, from the text of obstore's error."""
    found = _CODE.search(text)
    code = found[1] if found else ""
    if code == "NoSuchBucket":
        return f"{name} does not exist"
    if any(refusal in text for refusal in _REFUSALS):
        return f"{name} refuses our key: {code or 'no reason given'}"
    if _INSTANCE_ADDRESS in text:
        return f"{name} needs access_key_id and secret_access_key: none are set"
    if any(word in text for word in _NO_ANSWER):
        return f"{name} cannot be reached: nothing answers there"
    return f"{name} failed: {code or text.partition(chr(10))[0][:300]}"


def is_final(error: Exception) -> bool | None:
    """Return whether a failed upload is a refusal, True, or may be cured by another attempt, False.

    None means that the store did not answer.
    """
    text = str(error)
    if _INSTANCE_ADDRESS in text or any(word in text for word in _NO_ANSWER):
        return None
    return isinstance(error, FileNotFoundError) or any(word in text for word in _REFUSALS) or bool(_CLIENT.search(text))
