"""How a table's events are found: each names the one before it, and nothing is searched."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from fairdeal_api import backup
from fairdeal_api.fsck import check
from fairdeal_api.restore import restore
from fairdeal_api.rotation import rotate
from fairdeal_api.service import Service, initialise
from fairdeal_api.settings import Settings
from fairdeal_api.store import (
    AnswerRow,
    Batch,
    CommitmentRow,
    EventRow,
    FinishedRow,
    Head,
    Identity,
    Move,
    Rows,
    TableRow,
)
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.store.sqlite import LedgerBroken, SQLiteWriter, create, migrations
from fairdeal_api.system import StartRefused
from tests.api.conftest import Site
from tests.api.play import Devices, Operator, bearer, expect, idempotency, places
from tests.api.test_start import damage

OLD_FORM = Path(__file__).parent / "old" / "form-2.zip"
"""A data folder of the database's second form, made by the service as it was then."""


@pytest.fixture
def made(settings):
    initialise(settings)
    return settings


def play(site: Site, table: Operator, hands: int) -> None:
    table.client = site.client
    for _ in range(hands):
        table.open()
        table.deal()
        table.close()


def disclose(table: Operator, hand: int) -> None:
    expect(table.post(f"/v1/tables/{table.table}/hands/{hand}/disclose", {}))


def everything(settings: Settings) -> None:
    """Late disclosures before, between and after hands, a seat's new codes, the log's own entry."""
    with Site(settings) as site:
        key = site.key()
        old = Operator(site.client, key, "kozel", disclosure="table")
        play(site, old, 3)
        disclose(old, 1)
    rotate(settings)
    with Site(settings) as site:
        tables = [Operator(site.client, key, "kozel", disclosure="table") for _ in range(2)]
        for _ in range(4):
            for table in tables:
                play(site, table, 1)
        disclose(tables[0], 2)
        disclose(tables[0], 4)
        play(site, tables[0], 2)
        disclose(tables[0], 1)
        tables[0].open()
        expect(tables[1].post(f"/v1/tables/{tables[1].table}/close", {}))
        devices = Devices(site.client, key, "kozel")
        devices.open()
        devices.open_all(devices.seal_all())
        expect(devices.operator.post(devices.operator.url("/close"), {}))
        expect(devices.operator.post(f"/v1/tables/{devices.table}/seats/1/reissue", {}))
        Operator(site.client, key, "mus")


@pytest.fixture
def reader(made) -> Iterator[SQLiteReader]:
    everything(made)
    reader = SQLiteReader(made.data / "ledger.db")
    yield reader
    reader.close()


# --- what is found ------------------------------------------------------------------------------


def test_every_page_of_every_table_and_hand_is_what_a_search_finds(reader):
    rows = list(reader.all_events())
    tables = {row.table_id for row in rows} - {""}
    late = list(reader.all_late_disclosures())
    # At their own time, by the table's end, and after a later hand.
    assert len(late) == 2 + 2 + 3
    assert len(tables) == 5
    for table in tables:
        of_table = [row for row in rows if row.table_id == table]
        for after in range(-1, len(of_table) + 1):
            for limit in (1, 2, 3, 5, 200):
                expected = [row for row in of_table if row.seq > after][:limit]
                assert reader.events(table, after, limit) == expected, (after, limit)
        hands = max(row.hand for row in of_table)
        for hand in range(1, hands + 1):
            of_hand = [row for row in of_table if row.hand == hand]
            assert reader.events_of_hand(table, hand) == of_hand
            for after in range(-1, len(of_table) + 1):
                expected = [row for row in of_hand if row.seq > after][:2]
                assert reader.events_of_hand(table, hand, after, 2) == expected
        assert reader.events_of_hand(table, hands + 1) == []
    assert [row.seq for row in reader.own_entries()] == [0]
    assert reader.events("tbl_" + "0" * 26, -1, 10) == []
    assert reader.events("", -1, 10) == []


def test_a_folder_with_everything_has_no_fault(made):
    everything(made)
    assert check(made).faults == []


def steps(reader: SQLiteReader, work) -> int:
    """How many operations SQLite makes for something."""
    count = 0

    def counted() -> bool:
        nonlocal count
        count += 1
        return False

    reader._connection.set_progress_handler(counted, 1)
    work()
    reader._connection.set_progress_handler(None)
    return count


def test_what_is_read_does_not_grow_with_the_table(made):
    with Site(made) as site:
        key = site.key()
        short, long = (Operator(site.client, key, "kozel") for _ in range(2))
        play(site, short, 5)
        play(site, long, 60)
        reader = site.service.reader

        def hand(table):
            return steps(reader, lambda: reader.events_of_hand(table.table, 3))

        def page(table):
            return steps(reader, lambda: reader.events(table.table, 5, 10))

        for table in (short, long):
            hand(table), page(table)  # prepared
        assert hand(long) == hand(short)
        # The openings are searched by halves: four looks more.
        assert page(long) < 2 * page(short)
        # The control: without the openings all of the table is passed.
        reader._opening = lambda _table, _hand: (0, -1)
        assert page(long) > 5 * page(short)


# --- no search ----------------------------------------------------------------------------------


_SMALL = {"head", "service", "CONSTANT", "v", "ends", "s", "stretch", "events_own"}
"""Of one row, the log's own entries, or what a statement has itself made."""


def searched(connection: apsw.Connection, statement: str, bindings: Any = ()) -> list[str]:
    """The steps by which a statement reads a table from end to end."""
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)]
    scans = [step for step in plan if step.startswith("SCAN ")]
    return [step for step in scans if not _SMALL & set(step.split()[1:])]


def test_no_query_on_a_requests_way_reads_a_whole_table(made):
    seen: dict[str, Any] = {}

    def trace(_cursor, statement, bindings):
        seen[statement] = bindings
        return True

    with Site(made) as site:
        reader, writer = site.service.reader, site.service.ledger._writer
        reader._connection.exec_trace = trace
        writer._connection.exec_trace = trace
        key = site.key()
        site.service.dealer.slots._limit = 1  # so that tables are loaded again and again
        devices = Devices(site.client, key, "kozel")
        devices.open()
        head = devices.seal_all()
        expect(devices.put(0, "seal", {"seal": devices.secrets.seals["0"]}))
        devices.open_all(head)
        expect(devices.operator.post(devices.operator.url("/close"), {}))
        expect(devices.operator.post(f"/v1/tables/{devices.table}/seats/1/reissue", {}))
        table = Operator(site.client, key, "mus", disclosure="table", test_seed="11" * 32)
        table.open()
        dealt = table.post(table.url("/deal"), {"seeds": table.secrets.seeds()}, "again")
        first = dealt.json()["first"]
        thrown = places(dealt.json()["cards"][str(first)], 1)
        table.act({"type": "discard", "seat": first, "cards": thrown})
        again = table.post(table.url("/deal"), {"seeds": table.secrets.seeds()}, "again")
        assert again.text == dealt.text
        table.cards(0)
        expect(table.post(table.url("/abort"), {}))
        play(site, table, 1)
        disclose(table, 1)
        url = f"/v1/tables/{table.table}"
        for path in (
            url,
            f"{url}/events?after=1&limit=2",
            f"{url}/hands/1",
            f"{url}/hands/1/events",
            f"{url}/hands/1/transcript",
            "/v1/hands",
            "/",
            "/v1/keys",
            "/log/rotations",
            "/v1/receipts/3",
        ):
            assert site.client.get(path).status_code == 200, path
        expect(site.client.get("/v1/tables", headers=bearer(key)))
        expect(table.post(f"{url}/close", {}))
        site.client.portal.call(site.service.dealer.forget, 1 << 50)
        site.client.portal.call(site.service.sweep, 20)
        connection = apsw.Connection(str(made.data / "ledger.db"))
        statements = {s for s in seen if s.split()[0] in ("SELECT", "WITH", "UPDATE", "DELETE")}
        assert len(statements) > 20
        for statement in statements:
            if "DELETE FROM answers_apart" in statement:
                continue  # it walks from the oldest, and stops where they are young
            assert searched(connection, statement, seen[statement]) == [], statement
        # The control: what there would be without links, and a table by what it is not filed under.
        for statement in (
            "SELECT idx FROM events WHERE table_id = 'x' AND seq > 3",
            "SELECT id FROM tables WHERE game = 'mus'",
            "SELECT e.idx FROM commitments c JOIN events e ON e.seq = c.hand WHERE c.table_id = ''",
        ):
            assert searched(connection, statement), statement
        connection.close()


# --- what is changed is found -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE events SET before = before - 1 WHERE idx = 5", "Entry 5 names another entry"),
        ("UPDATE events SET before = NULL WHERE idx = 5", "Entry 5 names another entry"),
        ("UPDATE events SET before = idx WHERE idx = 0", "Entry 0 names another entry"),
        ("UPDATE events SET before = 3 WHERE table_id = ''", "names another entry"),
        ("UPDATE events SET before = idx + 1 WHERE idx = 8", "Entry 8 names another entry"),
        ("UPDATE tables SET newest = newest - 1 WHERE game = 'mus'", "not what its events say"),
        ("UPDATE tables SET newest = newest + 1 WHERE game = 'mus'", "not what its events say"),
        ("UPDATE commitments SET idx = idx + 1 WHERE hand = 2", "is in another entry"),
        ("UPDATE commitments SET idx = 0 WHERE hand = 1", "is in another entry"),
        ("UPDATE late_disclosures SET idx = idx + 1 WHERE hand = 2", "not where the log says"),
        ("UPDATE late_disclosures SET hand = 9 WHERE hand = 2", "is in the log only"),
        ("DELETE FROM late_disclosures WHERE hand = 1", "is in the log only"),
        ("INSERT INTO late_disclosures VALUES ('x', 1, 1)", "not where the log says"),
    ],
)  # fmt: skip
def test_a_link_that_was_changed_is_found(made, tmp_path, statement, words):
    """LOG-25: in a folder, and in a backup."""
    everything(made)
    assert check(made).faults == []
    backup.create(made, tmp_path / "backup")
    assert backup.verify(tmp_path / "backup", None).report.faults == []
    for settings in (made, made.model_copy(update={"data": tmp_path / "backup"})):
        damage(settings, statement)
    faults = check(made).faults
    assert any(words in fault for fault in faults), faults
    faults = backup.verify(tmp_path / "backup", None).report.faults
    assert any(words in fault for fault in faults), faults


def test_a_circle_of_events_ends(made):
    """A file that somebody has written into does not hang the service."""
    with Site(made) as site:
        table = Operator(site.client, site.key(), "kozel")
        play(site, table, 2)
    damage(made, "UPDATE events SET before = idx + 2 WHERE idx = 4")
    reader = SQLiteReader(made.data / "ledger.db")
    assert len(reader.events(table.table, -1, 100)) < 13
    assert len(reader.events_of_hand(table.table, 1)) < 5
    reader.close()
    assert check(made).faults != []


def test_a_table_is_not_moved_from_another_event_than_its_newest(made):
    """Spec: LOG-20. Its number and the event's place are compared."""
    with Site(made) as site:
        play(site, Operator(site.client, site.key(), "kozel"), 1)
    writer = SQLiteWriter(made.data / "ledger.db")
    reader = SQLiteReader(made.data / "ledger.db")
    (row,), head = reader.all_tables(), reader.head()
    good = Move(row.id, row.seq, row.newest, row.seq, row.hand, "idle", 1, 1, row.newest)
    writer.commit(Batch(head, head, None, Rows(moves=[good])))
    for bad in (good._replace(old_newest=row.newest - 1), good._replace(old_seq=row.seq - 1)):
        other = SQLiteWriter(made.data / "ledger.db")
        with pytest.raises(LedgerBroken):
            other.commit(Batch(head, head, None, Rows(moves=[bad._replace(due=2)])))
        other.close()
    assert [table.due for table in reader.all_tables()] == [1]
    reader.close()
    writer.close()


def test_an_event_cannot_follow_a_later_one(made):
    with Site(made) as site:
        play(site, Operator(site.client, site.key(), "kozel"), 1)
    connection = apsw.Connection(str(made.data / "ledger.db"))
    head = connection.execute("SELECT size FROM head").fetchall()[0][0]
    row = EventRow(head, "x", 0, 0, head, b"", bytes(32))
    for before in (head, head + 1):
        with pytest.raises(apsw.ConstraintError):
            connection.execute(
                "INSERT INTO events VALUES (?,?,?,?,?,?,?)", row._replace(before=before)
            )
    connection.close()


# --- from the public files ----------------------------------------------------------------------


def test_links_are_made_again_from_the_public_files(made, tmp_path):
    """Spec: LOG-24. Of tables that the backup has, and of one that it does not."""
    with Site(made) as site:
        key = site.key()
        table = Operator(site.client, key, "kozel", disclosure="table")
        play(site, table, 2)
        backup.create(made, tmp_path / "backup")
        play(site, table, 2)
        disclose(table, 1)
        disclose(table, 3)
        other = Operator(site.client, key, "kozel", disclosure="table")
        play(site, other, 3)
        expect(other.post(f"/v1/tables/{other.table}/close", {}))
        rows = list(site.service.reader.all_events())
        late = sorted(site.service.reader.all_late_disclosures())
        assert len(late) == 2 + 2
        public = tmp_path / "public"
        for name in ("checkpoint", f"tile/entries/000.p/{len(rows)}"):
            (public / name).parent.mkdir(parents=True, exist_ok=True)
            (public / name).write_bytes(site.client.get(f"/log/{name}").content)
    for path in made.data.glob("*.db*"):
        path.unlink()
    assert restore(made, tmp_path / "backup", tiles=public).appended > 20
    assert check(made).faults == []
    reader = SQLiteReader(made.data / "ledger.db")
    assert list(reader.all_events()) == rows
    assert sorted(reader.all_late_disclosures()) == late
    reader.close()


# --- a database of the form before --------------------------------------------------------------


@pytest.fixture
def old_form(tmp_path) -> tuple[Settings, dict]:
    with zipfile.ZipFile(OLD_FORM) as archive:
        archive.extractall(tmp_path / "old")
    for path in (tmp_path / "old").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    settings = Settings(data=tmp_path / "old" / "data", mode="test", origin="deal.example/log")
    return settings, json.loads((tmp_path / "old" / "asked.json").read_text())


def form(settings: Settings) -> int:
    reader = SQLiteReader(settings.data / "ledger.db")
    try:
        return reader.form()
    finally:
        reader.close()


def look(site: Site, old: dict) -> None:
    """Everything that is public is what it was, and requests made again get what they got."""
    for url, digest in old["seen"].items():
        assert hashlib.sha256(site.client.get(url).content).hexdigest() == digest, url
    for asked in old["asked"]:
        headers = {**bearer(old["key"]), **idempotency(asked["key"])}
        answer = site.client.post(asked["url"], json=asked["body"], headers=headers)
        assert hashlib.sha256(answer.content).hexdigest() == asked["answer"], asked["url"]


def go_on(site: Site, old: dict) -> None:
    headers = {**bearer(old["key"])}
    url = f"/v1/tables/{old['kozel']['table']}"
    for path, body in (
        ("/hands/5/deal", {"seeds": old["kozel"]["seeds"]}),
        ("/hands/5/close", {}),
        ("/close", {}),
    ):
        expect(site.client.post(url + path, json=body, headers={**headers, **idempotency()}))
    for hand in range(1, 6):
        assert expect(site.client.get(f"{url}/hands/{hand}"))["server_seed"] is not None


def test_a_database_of_the_second_form_is_brought_up(old_form):
    settings, old = old_form
    assert form(settings) == 2
    with Site(settings) as site:
        assert form(settings) == migrations()[-1][0]
        look(site, old)
    assert check(settings).faults == []
    with Site(settings) as site:
        look(site, old)
        go_on(site, old)
    assert check(settings).faults == []


def test_a_backup_of_the_second_form_is_verified_and_restored(old_form, tmp_path):
    settings, old = old_form
    backup.create(settings, tmp_path / "backup")
    assert form(settings) == 2
    assert backup.verify(tmp_path / "backup", None).report.faults == []
    for path in settings.data.glob("*.db*"):
        path.unlink()
    restore(settings, tmp_path / "backup")
    assert check(settings).faults == []
    with Site(settings) as site:
        look(site, old)
        go_on(site, old)
    assert check(settings).faults == []


def content(settings: Settings) -> list[object]:
    connection = apsw.Connection(str(settings.data / "ledger.db"))
    try:
        schema = connection.execute("SELECT * FROM sqlite_schema").fetchall()
        tables = [row[1] for row in schema if row[0] == "table"]
        rows = [connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables]
        return [schema, rows, connection.pragma("user_version")]
    finally:
        connection.close()


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM events WHERE seq = 0 AND table_id <> ''", "UPDATE tables SET seq = seq + 1"],
)
def test_one_that_cannot_be_brought_up_stays_as_it_is(old_form, statement):
    settings, _ = old_form
    damage(settings, statement)
    before = content(settings)
    with pytest.raises(StartRefused, match=r"ConstraintError.*fsck"):
        Service(settings)
    assert content(settings) == before


# --- what is written ----------------------------------------------------------------------------

_TABLES, _A_BATCH = 32, 20


class Writing:
    """A database without a log: requests of hands at some tables, in turn, as rows alone."""

    def __init__(self, path: Path, *statements: str) -> None:
        create(path, Identity("none", "", ""), bytes(32), 0)
        self.writer, self.head = SQLiteWriter(path), Head(0, bytes(32), 0, 0)
        connection = self.writer._connection
        for statement in statements:
            connection.execute(statement)
        self.newest = {f"tbl_{number:026}": -1 for number in range(_TABLES)}
        self.hands = dict.fromkeys(self.newest, 0)
        rows = [TableRow(name, "", "mus", None, -1, 0, "idle", 1, 0, -1) for name in self.newest]
        self.writer.commit(Batch(self.head, self.head, None, Rows(tables=rows)))
        self.turn = itertools.count()

    def commit(self) -> int:
        """A batch of requests; gives the pages that it has changed."""
        rows, size, before = Rows(), self.head.size, self.writer._frames
        for turn in itertools.islice(self.turn, _A_BATCH):
            name, part = f"tbl_{turn % _TABLES:026}", turn // _TABLES % 3
            old = self.newest[name]
            seq = turn // _TABLES * 2
            self.hands[name] += part == 0
            hand = self.hands[name]
            for idx, back in ((size, old), (size + 1, size)):
                link = back if back >= 0 else None
                rows.events.append(
                    EventRow(idx, name, seq + idx - size, hand, link, bytes(500), bytes(32))
                )
            if part == 0:
                seed = CommitmentRow(os.urandom(32), name, hand + 1, 0, bytes(64), size)
                rows.commitments.append(seed)
            if part == 2:
                rows.finished.append(FinishedRow(size, name, hand, "mus", "closed", size))
            state = "idle" if part == 2 else "hand_open"
            rows.moves.append(Move(name, seq - 1, old, seq + 1, hand, state, 1, size, size + 1))
            rows.answers.append(
                AnswerRow(
                    size + 1, os.urandom(32), bytes(32), name, hand, 200, seq, 2, size, bytes(400)
                )
            )
            self.newest[name] = size + 1
            size += 2
        new = Head(size, os.urandom(32), 0, size)
        self.writer.commit(Batch(self.head, new, "n" * 300, rows))
        self.head = new
        return self.writer._frames - before

    def pages(self, batches: int) -> float:
        """How many pages a request changes, after so many batches."""
        for _ in range(batches):
            self.commit()
        return sum(self.commit() for _ in range(20)) / 20 / _A_BATCH


def test_a_request_changes_few_pages(tmp_path):
    """After 250 batches: 10,000 events, 5,000 answers, 1,700 hands."""
    lean = Writing(tmp_path / "lean.db").pages(250)
    assert lean < 2
    # The control: each of the indexes that are no more.
    for name, statement, more in (
        ("events", "CREATE UNIQUE INDEX i ON events (table_id, seq)", 1),
        ("answers", "CREATE UNIQUE INDEX i ON answers (scope)", 0.7),
        ("finished", "CREATE UNIQUE INDEX i ON finished (table_id, hand)", 0.1),
    ):
        indexed = Writing(tmp_path / f"{name}.db", statement).pages(250)
        assert indexed > lean + more, name
