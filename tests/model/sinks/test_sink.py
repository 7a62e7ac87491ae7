import pytest

from longline.model.errors import BadInput
from longline.model.sinks.sink import ABANDONED_MS, FAILING_MS, SinkAddress, SinkLag, check_sink_name, parse_sinks


def test_no_secret_of_an_address_is_shown():
    address = SinkAddress.parse("https://me:pass@a.example:8443/in?token=t0ken#whsec_secret")
    assert address.label == "https://a.example:8443/in"
    assert address.hostname == "a.example"
    assert repr(address) == "SinkAddress('https://a.example:8443/in')"


@pytest.mark.parametrize("text", ["", "books", "/tmp/secret", "https://", "https://[secret", "https://h:secret/"])
def test_a_text_that_is_no_address_is_refused_without_being_shown(text: str):
    with pytest.raises(BadInput, match="not a sink") as refused:
        SinkAddress.parse(text)
    assert "secret" not in str(refused.value)


def test_an_address_may_have_a_name():
    address = SinkAddress.parse("books=postgresql://a.example/shop/books?x=1")
    assert (address.name, address.url) == ("books", "postgresql://a.example/shop/books?x=1")
    assert address.key == SinkAddress.parse(address.url).key
    assert (address.title, SinkAddress.parse("https://a.example/in").title) == ("books", "https://a.example/in")
    assert SinkAddress.parse("https://a.example/in?a=b").name == ""
    for name in ("Books", "b_c", 'b"', "-b", "b" * 64):
        with pytest.raises(BadInput, match="cannot be the name of a sink"):
            check_sink_name(name)


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (("a=x://h/1", "a=x://h/2"), "two sinks are called 'a'"),
        (("x://h/1", "a=x://h/1"), "the sink x://h/1 stands twice"),
    ],
)
def test_sinks_that_are_the_same_are_refused(texts: tuple[str, ...], error: str):
    with pytest.raises(BadInput, match=error):
        parse_sinks(texts)
    assert [sink.name for sink in parse_sinks(("a=x://h/1", "x://h/2"))] == ["a", ""]


def test_a_text_of_a_foreign_library_is_masked():
    address = SinkAddress.parse("kafka://me:p%40ssword@a.example/in?token=t0ken&x=1#whsec_secret")
    text = "p@ssword p%40ssword token=t0ken t0ken whsec_secret me:p%40ssword@a.example 1 " + address.url
    assert address.masked(text) == "*** *** ***=*** *** *** ***a.example 1 kafka://a.example/in".replace(
        "***=***", "token=***"
    )
    keyed = SinkAddress.parse("elasticsearch://VnVhQ2ZHY0JDZGJrUW0@a.example/books")
    assert keyed.masked("401 for ApiKey VnVhQ2ZHY0JDZGJrUW0") == "401 for ApiKey ***"
    assert SinkAddress.parse("postgresql://admin@h/d/t").masked('no role "admin"') == 'no role "admin"'
    assert address.masked("nothing to hide") == "nothing to hide"


def test_a_sink_fails_after_some_time_or_with_a_refused_item_unless_it_is_abandoned():
    assert not SinkLag(id=1, label="x", failing_ms=FAILING_MS - 1).failing
    assert SinkLag(id=1, label="x", failing_ms=FAILING_MS).failing
    assert SinkLag(id=1, label="x", held_runs=1).failing
    assert not SinkLag(id=1, label="x", held_runs=1, unseen_ms=ABANDONED_MS).failing
    assert (SinkLag(id=1, label="x").title, SinkLag(id=1, label="x", name="n").title) == ("1", "n")
