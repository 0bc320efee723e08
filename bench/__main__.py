"""`python -m bench [NAME..]`: one JSON line a figure.

NAME is `hands`, `log`, `audit`, `api` or `page`; all by default.
"""

from __future__ import annotations

import sys

from bench import api, audit, hands, log, page


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
    if not names or "page" in names:
        page.main()


if __name__ == "__main__":
    main(sys.argv[1:])
