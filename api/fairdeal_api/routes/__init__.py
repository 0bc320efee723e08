"""The routes: thin, and registered in the order in which they are matched, hot ones first."""

from __future__ import annotations

from fairdeal_api.routes.operation import OPERATIONS, Operation


def all_operations() -> list[Operation]:
    """Every operation of the API."""
    # Imported for what they register, and late: the documentation among them reads this list.
    from fairdeal_api.routes import hands, seats  # noqa: F401, I001, PLC0415
    from fairdeal_api.routes import public, tables, log, gossip, meta, site  # noqa: F401, PLC0415

    return OPERATIONS
