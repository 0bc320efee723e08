"""Builds hands from the specification, and forges them.

A second copy of the protocol, for tests only: it shares nothing with the package under test. A
forger holds the log key and may change any event before it is chained, so everything after it fits.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ORIGIN = "deal.example/log"
TABLE = "tbl_01kb6v3q8ne5t9y2m4x7c0r1sd"
BASE_TIME = 1_764_448_200_000  # 2025-11-29T20:30:00.000Z, in milliseconds since 1970

RULESETS = {
    "kozel": {"discards": "hidden", "indicator": "interior", "indicator_place": "stays"},
    "mus": {
        "first_mano": "random",
        "min_discard": 1,
        "mus_corrido": False,
        "reshuffle": "all",
        "service": "block",
    },
    "azi": {"blind": False, "cards": 3, "six_on_stage": True, "suits": "DHS", "trump": "next_card"},
    "svoi": {"distinct_trumps": True, "pack": 36, "sixes": "keep"},
}
PLAY_RULES = {
    "kozel": {
        "eggs": "none",
        "first_leader": "dealer_left",
        "must_beat": False,
        "pull": "any_suit",
        "target": 12,
    },
    "mus": {
        "games": 3,
        "kings": 8,
        "ordago": True,
        "punto": "plus_one",
        "raises": "free",
        "real31": False,
        "target": 40,
    },
    "azi": {
        "all_in": "capped",
        "ante": 10,
        "azi": "all_ante",
        "min_bet": 10,
        "must_trump": True,
        "opener": "must_bet",
        "raises": "three_per_player",
        "stack": 1000,
    },
    "svoi": {"pick_up": "voluntary", "repetition": 3},
}
FRESH = {
    "kozel": {"defeat": [0, 0], "doubled": False, "eggs": False, "leader": None},
    "mus": {"games": [0, 0], "score": [0, 0]},
    "azi": {
        "bank": 0,
        "contributions": {},
        "players": [0, 1, 2],
        "stacks": [1000, 1000, 1000],
        "winner": None,
    },
    "svoi": {"draws": 0, "wins": [0, 0]},
}
SEATS = {"kozel": 4, "mus": 4, "azi": 3, "svoi": 2}
CARDS = {"kozel": 4, "mus": 4, "svoi": 18}


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def u32(n: int) -> bytes:
    return n.to_bytes(4, "big")


def fr(x: bytes) -> bytes:
    return u32(len(x)) + x


def msg(tag: str, *fields: bytes) -> bytes:
    return fr(b"fairdeal/1 " + tag.encode()) + b"".join(map(fr, fields))


def H(tag: str, *fields: bytes) -> bytes:  # noqa: N802 (the spec's name)
    return sha(msg(tag, *fields))


def expand(key: bytes, name: str, length: int) -> bytes:
    out = block = b""
    counter = 1
    while len(out) < length:
        info = b"fairdeal/1 " + name.encode()
        block = hmac.digest(key, block + info + bytes([counter]), "sha256")
        out += block
        counter += 1
    return out[:length]


def uniform(stream: list[int], m: int) -> int:
    while True:
        b = stream.pop(0)
        if b < 256 - (256 % m):
            return b % m


def pick(key: bytes, name: str, m: int) -> int:
    return uniform(list(expand(key, f"pick {name}", 320)), m)


def shuffled(key: bytes, cards: list[str]) -> list[str]:
    stream = list(expand(key, "shuffle", 640))
    order = list(cards)
    for i in range(len(order) - 1, 0, -1):
        j = uniform(stream, i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def deck(game: str, suits: str = "DHS") -> list[str]:
    if game == "mus":
        ranks, suits = ["1", "2", "3", "4", "5", "6", "7", "10", "11", "12"], "oceb"
    else:
        ranks = ["6", "7", "8", "9", "10", "J", "Q", "K", "A"]
        suits = suits if game == "azi" else "CDHS"
    return [r + s for s in suits for r in ranks]


def mth(leaves: list[bytes]) -> bytes:
    if not leaves:
        return sha(b"")
    if len(leaves) == 1:
        return sha(b"\0" + leaves[0])
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha(b"\1" + mth(leaves[:k]) + mth(leaves[k:]))


def path(leaves: list[bytes], m: int) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    if m < k:
        return [*path(leaves[:k], m), mth(leaves[k:])]
    return [*path(leaves[k:], m - k), mth(leaves[:k])]


def canonical(value, ascii_only=True) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=ascii_only)


@lru_cache
def private_key(name: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(sha(f"test key {name}".encode()))


def public_key(name: str) -> bytes:
    return private_key(name).public_key().public_bytes_raw()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def key_id(name: str, public: bytes) -> bytes:
    return sha(name.encode() + b"\n\x01" + public)[:4]


def vkey(signer: str = "log", name: str = ORIGIN) -> str:
    public = public_key(signer)
    return name + "+" + key_id(name, public).hex() + "+" + b64(b"\x01" + public)


VKEY = vkey()


def checkpoint(size: int, root: bytes, signer: str = "log", name: str = ORIGIN) -> str:
    text = f"{name}\n{size}\n{b64(root)}\n"
    signature = private_key(signer).sign(text.encode())
    return f"{text}\n— {name} {b64(key_id(name, public_key(signer)) + signature)}\n"


def receipt(entries: list[bytes], index: int, signer: str = "log", name: str = ORIGIN) -> str:
    lines = ["c2sp.org/tlog-proof@v1", f"index {index}", *map(b64, path(entries, index))]
    return "\n".join(lines) + "\n\n" + checkpoint(len(entries), mth(entries), signer, name)


def stamp(ms: int) -> str:
    seconds, rest = divmod(ms, 1000)
    days, day = divmod(seconds, 86400)
    # Civil from days, after Hinnant.
    z = days + 719468
    era, doe = divmod(z, 146097)
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    d, m = doy - (153 * mp + 2) // 5 + 1, mp + 3 if mp < 10 else mp - 9
    y = yoe + era * 400 + (m <= 2)
    h, rest_s = divmod(day, 3600)
    return f"{y:04}-{m:02}-{d:02}T{h:02}:{rest_s // 60:02}:{rest_s % 60:02}.{rest:03}Z"


class Builder:
    """One table and one hand of it."""

    def __init__(
        self,
        game: str,
        *,
        rules: dict | None = None,
        seats: int | None = None,
        hand: int = 1,
        first: int | None = None,
        contribute: list[int] | None = None,
        keys: tuple[int, ...] = (),
        custody: str = "seats",
        disclosure: str = "hand",
        referee: bool = False,
        match: dict | None = None,
        salt: str = "",
        secrets: tuple[bytes, bytes] | None = None,
        forge: Callable[[dict], None] | None = None,
    ):
        self.game, self.hand, self.given_first = game, hand, first
        self.referee, self.match = referee, match
        if referee and match is None:
            self.match = FRESH[game]
        self.rules = RULESETS[game] | (PLAY_RULES[game] if referee else {}) | (rules or {})
        self.seats = SEATS[game] if seats is None else seats
        self.contribute = list(range(self.seats)) if contribute is None else contribute
        self.keys, self.custody, self.disclosure = keys, custody, disclosure
        self.forge = forge or (lambda body: None)
        self.now = BASE_TIME
        self.behind = (hand - 1) * 10  # events of the hands before
        self.raw: list[bytes] = []
        self.bodies: list[dict] = []
        ours = (sha(b"server" + salt.encode()), sha(b"next server" + salt.encode()))
        self.s, self.next_seed = secrets or ours
        self.chains = {}
        for seat in range(self.seats):
            x = sha(f"seat {seat}{salt}".encode())
            chain = [x]
            if game == "mus":
                for _ in range(32):
                    chain.append(H("link", chain[-1]))
                chain.reverse()
            self.chains[seat] = chain
        self.epoch = 0
        self.keys_of_epoch: dict[int, bytes] = {}
        self.orders: dict[int, list[str]] = {}
        self.salts: dict[int, list[str]] = {}
        self.hold = {seat: [] for seat in range(self.seats)}
        self.discards: dict[int, list[list[tuple[int, int]]]] = {}
        self.shown: list[dict] = []
        self.before = [f"entry {i}".encode() for i in range(5)]
        self.disclosed = True
        self.trumps = {}
        self._open_table()

    # Events.

    def add(self, kind: str, wait: int = 1000, **fields) -> dict:
        self.now += wait
        body = {
            "v": "fairdeal/1",
            "type": kind,
            "table": TABLE,
            "seq": len(self.raw) + self.behind if self.raw else 0,
            "prev": sha(self.raw[-1]).hex() if self.raw else "",
            "at": stamp(self.now),
            **fields,
        }
        if kind == "hand.opened" and self.hand > 1:
            body["prev"] = sha(b"another event").hex()
        if kind.partition(".")[0] in ("hand", "seeds", "cards", "trumps", "stock", "play"):
            body["hand"] = self.hand
        self.forge(body)
        if body.pop("drop", False):
            return body
        text = body.pop("text", None) or canonical(body)
        self.raw.append(text.encode())
        self.bodies.append(body)
        return body

    def add_first(self, kind: str, **fields):
        """As `add`, for a chain of calls."""
        self.add(kind, **fields)
        return self

    @property
    def head(self) -> bytes:
        return sha(self.raw[-1])

    def sign(self, seat: int, data: bytes) -> str:
        return private_key(f"seat {seat}").sign(data).hex()

    def _open_table(self):
        self.add(
            "table.opened",
            origin=ORIGIN,
            log_key=VKEY,
            game=self.game,
            ruleset=dict(self.rules),
            seats=self.seats,
            contribute=self.contribute,
            keys={str(s): public_key(f"seat {s}").hex() for s in self.keys},
            custody=self.custody,
            timeouts={"seal": 60, "open": 60, "hand": 600, "table": 3600, "turn": 30},
            disclosure=self.disclosure,
            referee=self.referee,
            beacon=None,
            next_commitment=H("server seed", self.s if self.hand == 1 else b"hand 1").hex(),
        )
        self.T = self.head

    def open(self):
        self.C = H("server seed", self.s)
        self.add(
            "hand.opened",
            terms=self.T.hex(),
            commitment=self.C.hex(),
            next_commitment=H("server seed", self.next_seed).hex(),
            first=self.given_first,
            match=self.match,
            round=None,
        )
        return self

    def declare(self, trumps: dict[int, str]):
        self.trumps |= trumps
        self.add(
            "trumps.declared",
            trumps={str(s): suit for s, suit in trumps.items()},
            sigs={
                str(s): self.sign(
                    s, msg("declare", self.T, u32(self.hand), bytes([s]), self.C, suit.encode())
                )
                for s, suit in trumps.items()
                if s in self.keys
            },
        )
        return self

    def seal(self, seats=None):
        seats = self.contribute if seats is None else seats
        seals = {
            s: H("seat seed", self.T, u32(self.hand), bytes([s]), self.C, self.chains[s][0])
            for s in seats
        }
        self.add(
            "seeds.sealed",
            seals={str(s): seal.hex() for s, seal in seals.items()},
            sigs={
                str(s): self.sign(s, msg("seal", self.T, u32(self.hand), bytes([s]), self.C, seal))
                for s, seal in seals.items()
                if s in self.keys
            },
        )
        self.sealed_head = self.head_of_epoch = self.head
        return self

    def open_seeds(self, seats=None, epoch: int = 0):
        seats = self.contribute if seats is None else seats
        head = self.head_of_epoch
        self.add(
            "seeds.opened",
            epoch=epoch,
            head=head.hex(),
            seeds={str(s): self.chains[s][epoch].hex() for s in seats},
            sigs={
                str(s): self.sign(
                    s, msg("open", head, u32(epoch), bytes([s]), self.chains[s][epoch])
                )
                for s in seats
                if s in self.keys
            },
        )
        return self

    def derive(self, epoch: int, cards: list[str]) -> bytes:
        seeds = [self.chains[s][epoch] for s in self.contribute]
        salt = H("deal", self.T, u32(self.hand), u32(epoch), *seeds, b"")
        key = hmac.digest(salt, self.s, "sha256")
        self.keys_of_epoch[epoch] = key
        self.orders[epoch] = shuffled(key, cards)
        salts = expand(key, "salts", 16 * len(cards)).hex()
        self.salts[epoch] = [salts[i : i + 32] for i in range(0, len(salts), 32)]
        return mth(self.leaves(epoch))

    def leaves(self, epoch: int) -> list[bytes]:
        pairs = zip(self.orders[epoch], self.salts[epoch], strict=True)
        return [f"{epoch} {p} {card} {salt}".encode() for p, (card, salt) in enumerate(pairs)]

    @property
    def deck(self) -> list[str]:
        return deck(self.game, self.rules.get("suits", ""))

    def entry(self, seat, place) -> dict:
        e, p = place
        return {
            "card": self.orders[e][p],
            "epoch": e,
            "position": p,
            "salt": self.salts[e][p],
            "seat": seat,
        }

    def deal(self):
        root = self.derive(0, self.deck)
        n, k = self.seats, CARDS.get(self.game) or self.rules["cards"]
        key = self.keys_of_epoch[0]
        self.first = pick(key, "first", n) if self.given_first is None else self.given_first
        positions = {(self.first + i) % n: [n * j + i for j in range(k)] for i in range(n)}
        for seat, ps in positions.items():
            self.hold[seat] = [(0, p) for p in ps]
        self.stock = [(0, p) for p in range(n * k, len(self.deck))]
        indicator, shown = None, []
        if self.game == "kozel":
            kind = self.rules["indicator"]
            index = {
                "interior": lambda: 1 + pick(key, "indicator", 18),
                "all": lambda: pick(key, "indicator", 20),
            }
            place = (0, 16 + index.get(kind, lambda: 10)())
            indicator = self.orders[0][place[1]]
            if kind == "index10" or self.rules["indicator_place"] == "bottom":
                shown = [self.entry(None, place)]
            if self.rules["indicator_place"] == "bottom":
                self.stock.remove(place)
                self.stock.append(place)
        if self.game == "azi":
            if self.rules["trump"] == "next_card":
                shown = [self.entry(None, (0, n * k))]
            else:
                shown = [self.entry((self.first - 1) % n, (0, n * k - 1))]
        body = self.add(
            "hand.dealt",
            deck_root=root.hex(),
            first=self.first,
            positions={str(s): ps for s, ps in sorted(positions.items())},
            indicator=indicator,
            shown=shown,
            beacon=None,
        )
        self.shown += body["shown"]
        return self

    def start(self):
        return self.open().seal().open_seeds().deal()

    def discard(self, throws: dict[int, list[tuple[int, int]]]):
        out, sigs = {}, {}
        for seat, places in throws.items():
            k = len(self.discards.setdefault(seat, []))
            self.discards[seat].append(sorted(places))
            salt = expand(self.keys_of_epoch[0], f"discard {seat} {k}", 32)
            cards = b"".join(u32(e) + u32(p) for e, p in sorted(places))
            lock = H("discard", u32(self.hand), bytes([seat]), u32(k), salt, cards)
            for place in places:
                if place in self.hold[seat]:
                    self.hold[seat].remove(place)
            out[str(seat)] = {"count": len(places), "lock": lock.hex()}
            if seat in self.keys:
                data = msg(
                    "lock",
                    self.T,
                    u32(self.hand),
                    bytes([seat]),
                    u32(k),
                    bytes([len(places)]),
                    lock,
                )
                sigs[str(seat)] = self.sign(seat, data)
        self.add("cards.discarded", discards=out, sigs=sigs)
        self.head_of_epoch = self.head
        return self

    def draw(self, seats: list[int]):
        draws = []
        for seat in seats:
            place = self.stock.pop(0)
            self.hold[seat].append(place)
            draws.append([seat, *place])
        self.add("cards.drawn", draws=draws)
        self.head_of_epoch = self.head
        return self

    def show(self, *pairs, leaves: bool | None = None):
        entries = [self.entry(seat, place) for seat, place in pairs]
        body = self.add("cards.shown", shown=entries)
        self.shown += body.get("shown", [])
        if self.game in ("kozel", "azi") if leaves is None else leaves:
            for seat, place in pairs:
                if place in self.hold.get(seat, []):
                    self.hold[seat].remove(place)
        return self

    def reshuffle(self, pool: list[tuple[int, int]]):
        epoch = self.epoch + 1
        cards = {self.orders[e][p] for e, p in pool}
        root = self.derive(epoch, [card for card in self.deck if card in cards])
        self.epoch = epoch
        self.stock = [(epoch, p) for p in range(len(pool))]
        self.add("stock.reshuffled", epoch=epoch, count=len(pool), deck_root=root.hex())
        return self

    def give(self, *triples):
        given = []
        for seat, to, place in triples:
            entry = self.entry(seat, place)
            del entry["seat"]
            given.append(entry | {"from": seat, "to": to})
        body = self.add("cards.given", given=given)
        self.shown += body["given"]
        for seat, to, place in triples:
            if place in self.hold[seat]:
                self.hold[seat].remove(place)
            self.hold[to].append(place)
        return self

    def call(self, seat: int, call: str, amount: int | None = None, **options):
        self.add("play.called", seat=seat, call=call, amount=amount, **options)
        return self

    def close(self, result: dict | None = None):
        self.add("hand.closed", result=result)
        return self

    def abort(self, reason: str, missing=(), wait: int = 1000):
        self.add("hand.aborted", wait=wait, reason=reason, missing=list(missing))
        return self

    # The file.

    def opening(self, shown: dict) -> dict:
        e, p = shown["epoch"], shown["position"]
        fields = {x: shown[x] for x in ("card", "epoch", "position", "salt")}
        return fields | {"path": [h.hex() for h in path(self.leaves(e), p)]}

    def entries(self) -> list[bytes]:
        return [*self.before, *self.raw, b"a later entry"]

    def receipt(self, digest: bytes | None = None, **options) -> str:
        digest = digest or self.head
        index = len(self.before) + [sha(raw) for raw in self.raw].index(digest)
        return receipt(self.entries(), index, **options)

    def value(self) -> dict:
        value = {
            "format": "fairdeal-hand/1",
            "events": [raw.decode() for raw in self.raw],
            "openings": [],
            "proof": self.receipt(),
        }
        if self.disclosed:
            value["disclosed"] = {
                "server_seed": self.s.hex(),
                "discards": {
                    str(s): [[list(p) for p in one] for one in all_]
                    for s, all_ in self.discards.items()
                },
            }
        else:
            value["openings"] = [self.opening(one) for one in self.shown]
        return value

    def file(self, change: Callable[[dict], None] | None = None) -> bytes:
        value = self.value()
        if change:
            change(value)
        return canonical(value, ascii_only=False).encode()


# Whole hands.


def mus(throws=((4, 4, 4, 4), (3, 3, 3, 3)), **options) -> Builder:
    """A Mus hand; the default throws need one reshuffle."""
    b = Builder("mus", **options).start()
    heap = []
    for number, counts in enumerate(throws):
        corrido = b.rules["mus_corrido"] and b.hand == 1
        turn = [(b.first + (number if corrido else 0) + i) % 4 for i in range(4)]
        this_round = {}
        for seat, count in zip(turn, counts, strict=True):
            this_round[seat] = b.hold[seat][:count]
            b.discard({seat: this_round[seat]})
        if b.rules["service"] == "one_by_one_if_all_four" and counts == (4, 4, 4, 4):
            owed = turn * 4
        else:
            owed = [seat for seat, count in zip(turn, counts, strict=True) for _ in range(count)]
        while owed:
            now, owed = owed[: len(b.stock)], owed[len(b.stock) :]
            if now:
                b.draw(now)
            if not owed:
                break
            kind = b.rules["reshuffle"]
            waiting = set(owed)
            if kind == "previous":
                takes = []
            elif kind == "all_but_own_last" and len(waiting) == 1:
                takes = [s for s in this_round if s not in waiting]
            else:
                takes = list(this_round)
            pool = heap + [p for s in takes for p in this_round.pop(s)]
            heap = []
            b.open_seeds(epoch=b.epoch + 1)
            b.reshuffle(pool)
        heap += [p for places in this_round.values() for p in places]
    b.show(*[(s, p) for s in range(4) for p in b.hold[s]])
    return b.close()


def kozel(**options) -> Builder:
    """A Kozel hand with a pull, draws, hidden discards and their count at the end."""
    b = Builder("kozel", **options).start()
    taker = b.first
    turn = lambda: [(taker + i) % 4 for i in range(4)]  # noqa: E731
    hidden = b.rules["discards"] == "hidden"
    thrown = {s: [] for s in range(4)}
    # A trick that is pulled back.
    b.show((turn()[0], b.hold[turn()[0]][0]))
    played = [(turn()[0], b.shown[-1]["position"])]
    if hidden:
        seat = turn()[1]
        card = b.hold[seat][0]
        b.discard({seat: [card]})
        b.hold[seat].append(card)
    b.hold[played[0][0]].append((0, played[0][1]))
    b.add("cards.returned")
    while any(b.hold.values()):
        seats = turn()
        b.show(*[(s, b.hold[s][0]) for s in seats[:2]])
        for seat in seats[2:]:
            card = b.hold[seat][0]
            if hidden:
                thrown[seat].append(card)
                b.discard({seat: [card]})
            else:
                b.show((seat, card))
        taker = seats[1]
        if b.stock:
            b.draw(turn())
    if hidden:
        for seat, places in thrown.items():
            if places:
                b.show(*[(seat, p) for p in places])
    return b.close()


def azi(**options) -> Builder:
    b = Builder("azi", **options).start()
    if b.rules["blind"]:
        for seat in range(b.seats):
            b.add("cards.looked", seat=seat)
    if b.rules["cards"] == 4:
        for seat in reversed(range(b.seats)):
            b.discard({seat: b.hold[seat][:1]})
    for _ in range(2):
        b.show(*[(s, b.hold[s][-1]) for s in range(b.seats)])
    return b.close()


def svoi(trumps=("H", "S"), salt: str = "", **options) -> Builder:
    b = Builder("svoi", salt=salt, **options)
    b.open()
    speaker = b.given_first or 0
    b.declare({speaker: trumps[speaker]}).declare({1 - speaker: trumps[1 - speaker]})
    b.seal().open_seeds().deal()
    given = sixes(b)
    if b.rules["sixes"] == "exchange" and given:
        b.give(*given)
    known = {(s["epoch"], s["position"]) for s in b.shown}
    b.show(*[(s, next(p for p in b.hold[s] if p not in known)) for s in (0, 1)])
    return b.close()


def sixes(b: Builder) -> list[tuple[int, int, tuple[int, int]]]:
    return [
        (s, 1 - s, p)
        for s in (0, 1)
        for p in b.hold[s]
        if b.trumps[s] != b.trumps[1 - s] and b.orders[0][p[1]] == "6" + b.trumps[1 - s]
    ]
