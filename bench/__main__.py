"""`python -m bench [NAME..]`: one JSON line a figure.

NAME is `hands`, `log`, `audit` or `api`; all by default.
"""

from __future__ import annotations

import sys

from bench import api, audit, hands, log


def main(names: list[str]) -> None:
    """Run the benches named, or all of them."""
    if not names or "hands" in names:
        hands.main()
    if not names or "log" in names:
        log.main()
    if not names or "audit" in names:
        audit.main()
    if not names or "api" in names:
        api.api_hand()


if __name__ == "__main__":
    main(sys.argv[1:])
