"""Games, keys, health, version, documentation."""

from __future__ import annotations

from fairdeal.games import GAMES
from fairdeal.log.keys import LogKeys
from fairdeal_api import __version__, answers, catalogue, openapi
from fairdeal_api.http import Call
from fairdeal_api.problems import Problem
from fairdeal_api.replies import BRIEFLY, HTML, JSON, Reply, json_reply
from fairdeal_api.routes.operation import operation

_HOUR = (b"cache-control", b"public, max-age=3600")


@operation(
    "listGames",
    "GET",
    "/v1/games",
    tag="games",
    summary="The games that can be dealt",
    answers=((200, answers.Games),),
)
async def list_games(call: Call) -> Reply:
    """All games."""
    call.query()
    games = [catalogue.describe(game) for game in GAMES.values()]
    return json_reply({"games": games}, headers=[_HOUR])


@operation(
    "getGame",
    "GET",
    "/v1/games/{game}",
    tag="games",
    summary="A game: deck, seats, options with defaults first, dealing procedure, card names",
    answers=((200, answers.Game),),
    problems=("game_unknown",),
)
async def get_game(call: Call) -> Reply:
    """One game."""
    call.query()
    game = GAMES.get(call.params["game"])
    if game is None:
        raise Problem("game_unknown")
    return json_reply(catalogue.describe(game), headers=[_HOUR])


@operation(
    "getKeys",
    "GET",
    "/v1/keys",
    tag="service",
    summary="The log's verifier keys, the one in force first, and what leads from one to the next",
    answers=((200, answers.Keys),),
)
async def get_keys(call: Call) -> Reply:
    """The keys. Take the one to trust from somewhere else."""
    call.query()
    service = call.service
    follows = service.dealer.slots.follows
    return json_reply(
        {
            "origin": service.settings.log_origin,
            "mode": service.settings.mode,
            "keys": _keys(service.log_keys),
            "rotations": service.rotations()["rotations"],
            "follows": follows.old.origin if follows is not None else None,
            "witnesses": [one.vkey for one in service.witnesses.members],
        },
        headers=[BRIEFLY],
    )


def _keys(keys: LogKeys) -> list[dict[str, object]]:
    """The log's keys, the one in force first, each with the sizes it signs. Spec: LOG-27."""
    ends = [rotation.size for rotation in keys.rotations]
    found: list[dict[str, object]] = [
        {
            "id": key.id.hex(),
            "algorithm": "ed25519",
            "vkey": str(key),
            "state": "active" if end is None else "retired",
            "first_size": first,
            "last_size": end,
        }
        for key, first, end in zip(
            keys, [0, *(end + 1 for end in ends)], [*ends, None], strict=True
        )
    ]
    return found[::-1]


@operation(
    "getWitnesses",
    "GET",
    "/v1/witnesses",
    tag="service",
    summary="Who cosigns the log, how many must, and how far they are",
    answers=((200, answers.Witnesses),),
)
async def get_witnesses(call: Call) -> Reply:
    """The witnesses. Spec: WIT-9."""
    call.query()
    return json_reply(call.service.witnesses.state(), headers=[BRIEFLY])


@operation(
    "getHealth",
    "GET",
    "/healthz",
    tag="service",
    summary="Whether the process is alive; no input or output is done",
    answers=((200, answers.Health),),
)
async def get_health(_call: Call) -> Reply:
    """Liveness."""
    return json_reply({"status": "ok"})


@operation(
    "getReadiness",
    "GET",
    "/readyz",
    tag="service",
    summary="Whether the database can be read",
    answers=((200, answers.Health),),
)
async def get_readiness(call: Call) -> Reply:
    """Readiness."""
    if call.service.frozen:
        raise Problem("log_frozen")
    call.service.reader.head()
    return json_reply({"status": "ok"})


@operation(
    "getVersion",
    "GET",
    "/version",
    tag="service",
    summary="The version of the service and of its protocol",
    answers=((200, answers.Version),),
)
async def get_version(_call: Call) -> Reply:
    """The version."""
    return json_reply({"version": __version__, "protocol": "fairdeal/1"})


@operation(
    "getOpenapi",
    "GET",
    "/openapi.json",
    tag="service",
    summary="This API in machine-readable form",
    answers=((200, answers.Answer),),
)
async def get_openapi(_call: Call) -> Reply:
    """The OpenAPI file."""
    return Reply(openapi.encoded(), 200, [JSON, _HOUR])


@operation(
    "getDocs",
    "GET",
    "/docs",
    tag="service",
    summary="This API for people, with a line for each error code",
    answers=((200, "text/html"),),
)
async def get_docs(_call: Call) -> Reply:
    """The documentation page: plain HTML, nothing is loaded from anywhere."""
    return Reply(openapi.page(), 200, [HTML, _HOUR])
