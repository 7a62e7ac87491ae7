import pytest

from longline.model.errors import BadInput
from longline.model.sinks.sink import SinkAddress


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
