"""Second readings of the specification: slow, plain, and of no use to anybody but a test.

Each is written from the page it names and imports nothing of the core.
"""

import hashlib
import hmac


def flip(value: bytes) -> bytes:
    """No reading of anything: the same bytes but for one bit, which many tests need."""
    return bytes([value[0] ^ 1]) + value[1:]


# encoding.md


def frame(value: bytes) -> bytes:
    return bytes([len(value) >> shift & 255 for shift in (24, 16, 8, 0)]) + value


def message(tag: str, *fields: bytes) -> bytes:
    """M of ENC-9."""
    return frame(f"fairdeal/1 {tag}".encode()) + b"".join(map(frame, fields))


def framed(tag: str, *fields: bytes) -> bytes:
    """H of ENC-9."""
    return hashlib.sha256(message(tag, *fields)).digest()


def u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


# RFC 5869


def hkdf_extract(salt: bytes, material: bytes) -> bytes:
    return hmac.new(salt or bytes(32), material, hashlib.sha256).digest()


def hkdf_expand(key: bytes, info: bytes, length: int) -> bytes:
    block, out = b"", b""
    for counter in range(1, -(-length // 32) + 1):
        block = hmac.new(key, block + info + bytes([counter]), hashlib.sha256).digest()
        out += block
    return out[:length]


# seeds.md


def deal_key(terms: bytes, hand: int, epoch: int, seat_seeds: list[bytes], server: bytes) -> bytes:
    """KEY-1, without a beacon."""
    salt = framed("deal", terms, u32(hand), u32(epoch), *seat_seeds, b"")
    return hkdf_extract(salt, server)


# shuffle.md


def pick(key: bytes, name: str, m: int) -> int:
    """SHUF-3."""
    stream = hkdf_expand(key, f"fairdeal/1 pick {name}".encode(), 8160)
    return next(byte % m for byte in stream if byte < 256 - 256 % m)


def order(deck: tuple[str, ...], key: bytes) -> list[str]:
    """SHUF-2, with the whole stream."""
    stream = list(hkdf_expand(key, b"fairdeal/1 shuffle", 8160))
    cards = list(deck)
    for i in reversed(range(1, len(cards))):
        byte = stream.pop(0)
        while byte >= 256 - 256 % (i + 1):
            byte = stream.pop(0)
        j = byte % (i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


def leaves(deck: tuple[str, ...], key: bytes, epoch: int = 0) -> list[bytes]:
    """DECK-1, DECK-2."""
    salts = hkdf_expand(key, b"fairdeal/1 salts", 16 * len(deck))
    return [
        b" ".join(
            (
                str(epoch).encode(),
                str(p).encode(),
                card.encode(),
                salts[16 * p : 16 * p + 16].hex().encode(),
            )
        )
        for p, card in enumerate(order(deck, key))
    ]


# RFC 6962 2.1, with its names


def _split(n: int) -> int:
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def mth(entries: list[bytes]) -> bytes:
    if not entries:
        return hashlib.sha256().digest()
    if len(entries) == 1:
        return hashlib.sha256(b"\x00" + entries[0]).digest()
    k = _split(len(entries))
    return hashlib.sha256(b"\x01" + mth(entries[:k]) + mth(entries[k:])).digest()


def path(m: int, entries: list[bytes]) -> list[bytes]:
    if len(entries) == 1:
        return []
    k = _split(len(entries))
    if m < k:
        return [*path(m, entries[:k]), mth(entries[k:])]
    return [*path(m - k, entries[k:]), mth(entries[:k])]


def subproof(m: int, entries: list[bytes], complete: bool) -> list[bytes]:
    n = len(entries)
    if m == n:
        return [] if complete else [mth(entries)]
    k = _split(n)
    if m <= k:
        return [*subproof(m, entries[:k], complete), mth(entries[k:])]
    return [*subproof(m - k, entries[k:], False), mth(entries[:k])]


def proof(m: int, entries: list[bytes]) -> list[bytes]:
    return subproof(m, entries, True)
