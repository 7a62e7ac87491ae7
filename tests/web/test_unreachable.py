import socket
import sys

import pytest

from tests.web.unreachable import closed_port, full_port


def test_a_closed_port_refuses():
    with closed_port() as port, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems treat a full queue in their own way")
def test_a_full_port_sends_no_answer():
    with full_port() as port, pytest.raises(TimeoutError):
        socket.create_connection(("127.0.0.1", port), timeout=0.2)
