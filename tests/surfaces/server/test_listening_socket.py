import socket

import pytest

from longline.model.errors import BadInput, LonglineError
from longline.surfaces.server.listening_socket import address, bind


def test_a_port_bound_by_another_process_is_taken_even_before_it_listens():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        with pytest.raises(LonglineError, match="is in use"):
            bind("127.0.0.1", other.getsockname()[1])


@pytest.mark.parametrize(
    ("host", "said"), [("no.such.host.invalid", "is not an address of this machine"), ("192.0.2.1", "cannot listen on")]
)
def test_a_host_of_another_machine_is_an_error_of_one_line(host: str, said: str):
    with pytest.raises(LonglineError, match=said) as caught:
        bind(host, 0)
    assert isinstance(caught.value, BadInput) is (said == "is not an address of this machine")


def test_addresses_are_urls():
    with bind("127.0.0.1", 0) as bound:
        assert address(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"
    with bind("localhost", 0) as bound:
        assert address(bound).startswith("http://127.0.0.1:")
    with bind("::1", 0) as bound:
        assert address(bound) == f"http://[::1]:{bound.getsockname()[1]}"
