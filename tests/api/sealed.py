"""A service with something of everything that is sealed, and what is left of it in the files."""

from __future__ import annotations

import json
from typing import Any

from fairdeal_api.settings import Settings
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_verifier.verify import verify
from tests.api.conftest import Site
from tests.api.play import Operator, bearer, expect, idempotency, places


class Played:
    """Two tables in the middle of a hand, and requests to be made again."""

    def __init__(self, site: Site) -> None:
        self.key = site.key()
        self.asked: list[tuple[str, Any, str]] = []
        self.mus = Operator(site.client, self.key, "mus", test_seed="11" * 32)
        self.mus.open()
        dealt = self._ask(site, self.mus.url("/deal"), {"seeds": self.mus.secrets.seeds()})
        first = dealt["first"]
        thrown = places(dealt["cards"][str(first)], 1)
        self.mus.act({"type": "discard", "seat": first, "cards": thrown})
        self.kozel = Operator(site.client, self.key, "kozel", disclosure="table")
        self.kozel.open()
        self.kozel.deal()
        self.kozel.close()
        self.kozel.open()
        # Its answer holds claim codes, which nothing could make again.
        self._ask(site, "/v1/tables", {"game": "svoi", "custody": "seats"})

    def _ask(self, site: Site, url: str, body: Any) -> Any:
        text = self._post(site, url, body, len(self.asked))
        self.asked.append((url, body, text))
        return json.loads(text)

    def _post(self, site: Site, url: str, body: Any, number: int) -> str:
        headers = {**bearer(self.key), **idempotency(f"asked-{number}")}
        answer = site.client.post(url, json=body, headers=headers)
        assert answer.status_code in (200, 201), answer.text
        return answer.text

    def go_on(self, site: Site) -> None:
        """Asked again, the same bytes; and every hand ends, is disclosed and verifies."""
        for number, (url, body, text) in enumerate(self.asked):
            assert self._post(site, url, body, number) == text
        for table in (self.mus, self.kozel):
            table.client = site.client
        expect(self.mus.post(self.mus.url("/abort"), {}))
        self.kozel.deal()
        self.kozel.close()
        closed = self.kozel.post(f"/v1/tables/{self.kozel.table}/close", {})
        assert expect(closed)["unused_seed"]
        for table, hands in ((self.mus, 1), (self.kozel, 2)):
            for hand in range(1, hands + 1):
                url = f"/v1/tables/{table.table}/hands/{hand}"
                assert expect(site.client.get(url))["server_seed"] is not None
                file = site.client.get(f"{url}/transcript").content
                assert verify(file, key=str(site.service.verifier_key)).exit == 0


def stored(settings: Settings) -> list[tuple[str, bytes]]:
    """Every sealed value, with the name of the database's table that it is in."""
    reader = SQLiteReader(settings.data / "ledger.db")
    try:
        return [
            *(("commitments", row.sealed) for row in reader.commitments()),
            *(("discards", row.sealed) for row in reader.all_discards()),
            *(("answers", row.sealed) for row in reader.all_answers()),
            *(("tables", row.test_seed) for row in reader.all_tables() if row.test_seed),
        ]
    finally:
        reader.close()


def remains(settings: Settings, values: list[tuple[str, bytes]]) -> list[str]:
    """Of which values something is still in the files of the data folder."""
    files = [path.read_bytes() for path in settings.data.rglob("*") if path.is_file()]
    return [name for name, value in values if any(value[4:40] in data for data in files)]
