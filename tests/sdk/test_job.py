from decimal import Decimal

from longline.sdk import Found, Job, JobFailed
from longline.sdk.job import failure

JOB = Job("id", "https://Shop.Example.com:8080/a", 5, 3, 600, 0, "2025-01-07T07:20:00Z")


def test_the_host_of_a_job():
    assert JOB.host == "shop.example.com"
    assert Job("id", "https://faẞ.de/", 5, 3, 600, 0, "").host == "xn--fa-hia.de"
    assert Job("id", "https://xn--a.com:81/", 5, 3, 600, 0, "").host_and_port == "xn--a.com:81"
    assert Job("id", "nonsense", 5, 3, 600, 0, "").host == ""


def test_prices_are_sent_as_texts():
    assert [Found(price, "USD").body()["price"] for price in (Decimal("0.10"), "1.20", 3)] == ["0.10", "1.20", "3"]


def test_the_error_message_of_a_failure():
    assert failure(JobFailed("no price"))["error_msg"] == "no price"
    assert failure(ValueError("bad"))["error_msg"] == "ValueError: bad"
    assert failure(TimeoutError())["error_msg"] == "TimeoutError: TimeoutError"
    assert failure("x" * 600)["error_msg"] == "x" * 500
