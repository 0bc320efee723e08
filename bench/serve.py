"""`python -m bench.serve MODULE`: the `app` of a module of the bench, served as the service is."""

from __future__ import annotations

import importlib
import socket
import sys

import uvicorn

from fairdeal_api.connections import QuietConnections
from fairdeal_api.server import config_of


def main(module: str) -> None:
    """Serve until told to stop, with the service's own settings of uvicorn."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = config_of(importlib.import_module(module).app, QuietConnections(10))
    print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1])
