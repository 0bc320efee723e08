"""Hosts that answer with whatever they are told to, and never come to an end of it."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from contextlib import suppress


def byte_by_byte(text):
    """A byte of a text now and then, and another one instead of its end."""
    for byte in itertools.chain(text, itertools.repeat(text[-1])):
        yield bytes([byte])
        time.sleep(0.02)


class Hosts:
    """Answers every request with parts, until the test is over."""

    def __init__(self):
        self.over = threading.Event()
        self.threads: list[threading.Thread] = []
        self.listening: list[socket.socket] = []

    def __call__(self, parts) -> str:
        """Listens; gives the address."""
        listening = socket.create_server(("127.0.0.1", 0))
        self.listening.append(listening)
        self.start(self._accept, listening, parts)
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    def start(self, *called):
        self.threads.append(threading.Thread(target=called[0], args=called[1:], daemon=True))
        self.threads[-1].start()

    def _accept(self, listening, parts):
        with suppress(OSError):
            while True:
                self.start(self._answer, listening.accept()[0], parts)

    def _answer(self, connection, parts):
        with connection, suppress(OSError):
            connection.recv(65_536)
            for part in parts():
                if self.over.is_set():
                    return
                connection.sendall(part)

    def stop(self):
        """What still reads gets an end, too."""
        self.over.set()
        for one in self.listening:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive()
