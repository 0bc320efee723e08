"""The ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp

from fairdeal_api.middleware import Gate
from fairdeal_api.routes import all_operations
from fairdeal_api.routes.operation import routes
from fairdeal_api.service import Service
from fairdeal_api.settings import Settings


class _Bare(FastAPI):
    """FastAPI's application without the eight layers around its router.

    They answer errors with what was sent, or with a traceback. The gate and the endpoints answer
    with problems.
    """

    def build_middleware_stack(self) -> ASGIApp:
        return self.router


def create_app(settings: Settings, service: Service | None = None) -> ASGIApp:
    """The application over a data folder.

    Args:
        settings: Where the data is.
        service: An opened service; by default the application opens one, and raises
            `StartRefused` if it cannot.
    """
    opened = service or Service(settings)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await opened.start()
        try:
            yield
        finally:
            await opened.stop()

    app = _Bare(
        title="fairdeal",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # What FastAPI would tell a tracer has paths in it.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        lifespan=lifespan,
    )
    app.router.routes[:] = routes(all_operations())
    # Outermost, as almost every request goes from it to its endpoint without the application.
    return Gate(app, opened)
