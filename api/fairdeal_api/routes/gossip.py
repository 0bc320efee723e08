"""What others have seen of the log: the only way to learn of a fork of one's own. Spec: LOG-22."""

from __future__ import annotations

from fairdeal_api import answers
from fairdeal_api.http import Call
from fairdeal_api.problems import Problem
from fairdeal_api.replies import Reply, json_reply
from fairdeal_api.routes.operation import operation
from fairdeal_api.schemas import Gossip


@operation(
    "putGossip",
    "PUT",
    "/v1/gossip",
    tag="log",
    summary="Present a checkpoint of this log; if the log does not extend it, the service freezes",
    body=Gossip,
    answers=((200, answers.Heard),),
    problems=("checkpoint_invalid",),
)
async def put_gossip(call: Call) -> Reply:
    """Hold the log against a checkpoint. Spec: LOG-22."""
    body, _ = await call.model(Gossip)
    service = call.service
    found = service.log_keys.signer(body.checkpoint)
    if found is None:
        raise Problem("checkpoint_invalid")
    signer, checkpoint = found
    # A key signs no head of a size at which another one is in force; if it has, somebody goes on
    # with it elsewhere.
    mine = service.log_keys.at(checkpoint.size)
    if signer != mine or not service.ledger.extends(checkpoint):
        service.freeze(body.checkpoint, checkpoint.size)
        raise Problem("log_frozen")
    return json_reply({"size": service.ledger.size})
