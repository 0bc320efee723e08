"""The yardstick of `api_hand`: a bare FastAPI POST with a pydantic model, same server settings."""

from __future__ import annotations

import gc

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict


class Question(BaseModel):
    """A small request."""

    model_config = ConfigDict(strict=True, extra="forbid")

    name: str
    number: int
    values: dict[str, str]


class Answer(BaseModel):
    """A small answer."""

    name: str
    number: int


app = FastAPI()


@app.post("/bare")
async def bare(question: Question) -> Answer:
    """Read, validate, answer."""
    return Answer(name=question.name, number=question.number + 1)


gc.collect()
gc.freeze()
