"""A reference client: what a seat's own device does, and what it checks before it does it.

    api = Api("https://deal.example")
    seat = SeatClient.claim(api, code, log_key="deal.example/log+0f5b851a+AT..", folder=Path("me"))
    seat.sync(wait=25)      # fetch what is new; every event goes through the core's state machine
    seat.seal()             # draw a secret, keep it here, send its seal
    seat.sync(wait=25)      # until the others have sealed
    seat.open_seed()        # check the sealed head (OPEN-1), remember that it was opened, open
    for held in seat.cards():   # each card proved on arrival (OPEN-3)
        print(held.card)
    seat.show([held.place])

`log_key` must come from somewhere else than the service: it is what everything is checked with.
The protocol's arithmetic is the package `fairdeal`; here are the conversation and the checks. What
the client must not forget it keeps in `folder`, and each hand's notes are written there as it goes.
When a check fails, `CheckError` is raised, both sides of the contradiction are kept as a file, and
the client does nothing more, nor when it is started again, until somebody has looked at the file
and taken it away.

| module | what |
|---|---|
| `api` | HTTP: retries, idempotency keys, problems as exceptions |
| `log` | the pinned log: receipts, and that each checkpoint extends the last |
| `chain` | a table's events, folded one by one |
| `memory` | what a seat keeps on its own disk |
| `notebook` | the player's notes, as the hand goes on |
| `checks` | what must hold, decided from the seat's own copy of the chain |
| `conversation` | asking and being answered; a check that fails ends it |
| `seat` | the seat itself, step by step |
"""

from fairdeal_api.client.api import Api, ApiError
from fairdeal_api.client.chain import Chain, Standing
from fairdeal_api.client.checks import HeldCard
from fairdeal_api.client.errors import CheckError
from fairdeal_api.client.log import PinnedLog
from fairdeal_api.client.memory import Memory
from fairdeal_api.client.seat import SeatClient

__all__ = [
    "Api",
    "ApiError",
    "Chain",
    "CheckError",
    "HeldCard",
    "Memory",
    "PinnedLog",
    "SeatClient",
    "Standing",
]
