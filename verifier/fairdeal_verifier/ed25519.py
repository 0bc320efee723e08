"""Checks Ed25519 signatures by the one rule of SIG-1, in integers and nothing else.

RFC 8032 with the cofactorless equation `[S]B = R + [k]A`; S < L; A and R are canonical encodings
and not points of small order. Libraries disagree on exactly these edges, so the rule is spelled out
here.

`[S]B + [k](-A)` is computed in extended coordinates (Hisil, Wong, Carter, Dawson 2008) and written
as bytes, which must be R. That R is canonical follows: what this module writes always is.
Signatures are public, so nothing here needs to run in constant time.
"""

from functools import cache, lru_cache
from hashlib import sha512

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
_D2 = 2 * D % P
_ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)
_BASE_Y = 4 * pow(5, -1, P) % P

# The eight points whose order divides 8, by their canonical encodings.
_ORDER_8_Y = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SIGN = 1 << 255
SMALL_ORDER = frozenset(
    number.to_bytes(32, "little")
    for number in (
        1,
        P - 1,
        0,
        _SIGN,
        _ORDER_8_Y,
        _ORDER_8_Y | _SIGN,
        P - _ORDER_8_Y,
        (P - _ORDER_8_Y) | _SIGN,
    )
)

_SMALL_ORDER_Y = frozenset(int.from_bytes(point, "little") & (_SIGN - 1) for point in SMALL_ORDER)

Point = tuple[int, int, int, int]  # X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z
Addend = tuple[int, int, int, int]  # Y - X, Y + X, 2dT, 2Z of a point that will be added often
IDENTITY: Point = (0, 1, 1, 0)

_WIDTH_OF_KEY = 5
_WIDTH_OF_BASE = 8


def decode_point(encoding: bytes) -> Point | None:
    """Decodes a point; None if the encoding is not canonical or not on the curve."""
    number = int.from_bytes(encoding, "little")
    sign = number >> 255
    y = number & (_SIGN - 1)
    if y >= P:
        return None
    u = (y * y - 1) % P
    v = (D * y * y + 1) % P
    x = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    square = v * x * x % P
    if square == P - u:
        x = x * _ROOT_OF_MINUS_1 % P
    elif square != u:
        return None
    if x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def can_be_key(encoding: bytes) -> bool:
    """Says if a table's terms may give a seat these 32 bytes as its key.

    That they lie on the curve is not asked: a key that does not has no signature.

    Spec: TBL-1, SIG-1
    """
    y = int.from_bytes(encoding, "little") & (_SIGN - 1)
    return y < P and y not in _SMALL_ORDER_Y


def encode_point(point: Point) -> bytes:
    """Encodes a point, in the one canonical way."""
    inverse = pow(point[2], -1, P)
    x = point[0] * inverse % P
    y = point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def add(point: Point, addend: Addend) -> Point:
    """Adds two points; complete, so no case is special."""
    x, y, z, t = point
    minus, plus, t2d, z2 = addend
    a = (y - x) * minus
    b = (y + x) * plus
    c = t * t2d
    d = z * z2
    e, f, g, h = (b - a) % P, (d - c) % P, (d + c) % P, (b + a) % P
    return e * f % P, g * h % P, f * g % P, e * h % P


def as_addend(point: Point) -> Addend:
    """Prepares a point for `add`."""
    x, y, z, t = point
    return (y - x) % P, (y + x) % P, t * _D2 % P, 2 * z


def _odd_multiples(point: Point, width: int) -> list[Addend]:
    """Gives P, 3P, 5P .. as far as signed digits of this width need."""
    twice = as_addend(add(point, as_addend(point)))
    multiples = [point]
    for _ in range((1 << (width - 2)) - 1):
        multiples.append(add(multiples[-1], twice))
    return [as_addend(multiple) for multiple in multiples]


def _signed_digits(number: int, width: int) -> list[int]:
    """Writes a number in non-adjacent form: odd digits below 2^(width-1), with zeros between."""
    digits = [0] * 256
    full, half = 1 << width, 1 << (width - 1)
    place = 0
    while number:
        zeros = (number & -number).bit_length() - 1
        number >>= zeros
        place += zeros
        digit = number & (full - 1)
        if digit >= half:
            digit -= full
        digits[place] = digit
        number -= digit
    return digits


@cache
def _base_multiples() -> list[Addend]:
    base = decode_point(_BASE_Y.to_bytes(32, "little"))
    return _odd_multiples(base, _WIDTH_OF_BASE) if base else []


@lru_cache(maxsize=64)
def _key_multiples(public_key: bytes) -> list[Addend] | None:
    """Gives multiples of -A, or None if A is refused. Spec: SIG-1."""
    if public_key in SMALL_ORDER:
        return None
    point = decode_point(public_key)
    if point is None:
        return None
    x, y, z, t = point
    return _odd_multiples((P - x, y, z, P - t), _WIDTH_OF_KEY)


def _combine(s: int, k: int, key_multiples: list[Addend]) -> Point:
    """Gives [s]B + [k](-A), with the doublings shared."""
    base_multiples = _base_multiples()
    base_digits = _signed_digits(s, _WIDTH_OF_BASE)
    key_digits = _signed_digits(k, _WIDTH_OF_KEY)
    x, y, z, t = IDENTITY
    for base_digit, key_digit in zip(reversed(base_digits), reversed(key_digits), strict=True):
        a = x * x
        b = y * y
        h = a + b
        e = h - (x + y) ** 2
        g = a - b
        f = (2 * z * z + g) % P
        e %= P
        g %= P
        h %= P
        x, y, z = e * f % P, g * h % P, f * g % P
        if not (base_digit or key_digit):
            continue
        t = e * h % P
        for digit, multiples in ((base_digit, base_multiples), (key_digit, key_multiples)):
            if digit > 0:
                x, y, z, t = add((x, y, z, t), multiples[digit >> 1])
            elif digit:
                minus, plus, t2d, z2 = multiples[-digit >> 1]
                x, y, z, t = add((x, y, z, t), (plus, minus, -t2d, z2))
    return x, y, z, t


def verify_signature(public_key: bytes, data: bytes, signature: bytes) -> bool:
    """Says if a signature is good.

    Args:
        public_key: A, 32 bytes.
        data: What was signed.
        signature: R and S, 64 bytes.

    Spec: SIG-1
    """
    if len(public_key) != 32 or len(signature) != 64:
        return False
    r = signature[:32]
    s = int.from_bytes(signature[32:], "little")
    if s >= L or r in SMALL_ORDER:
        return False
    multiples = _key_multiples(public_key)
    if multiples is None:
        return False
    k = int.from_bytes(sha512(r + public_key + data).digest(), "little") % L
    return encode_point(_combine(s, k, multiples)) == r
