import base64

import pytest

from longline.model.errors import BadInput
from longline.model.sinks.webhook_signature import read_secret, signature, signed_headers

# The example of the Standard Webhooks.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MESSAGE, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'


def test_the_signature_is_that_of_the_standard():
    wanted = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert signature(read_secret(SECRET), MESSAGE, AT, BODY) == wanted
    headers = dict(signed_headers(read_secret(SECRET), MESSAGE, AT, BODY))
    assert headers == {
        "content-type": "application/json",
        "webhook-id": MESSAGE,
        "webhook-timestamp": str(AT),
        "webhook-signature": wanted,
    }


@pytest.mark.parametrize("text", ["", "secret", "whsec_", "whsec_???", "whsec_" + base64.b64encode(b"x" * 23).decode()])
def test_another_secret_is_refused(text: str):
    with pytest.raises(BadInput):
        read_secret(text)
