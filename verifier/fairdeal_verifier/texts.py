"""What the report says of each check, and of itself. Spec: VER-6."""

from fairdeal_verifier.words import Said, Value, say

NOT_PROVED = tuple(say(f"not_proved.{number}") for number in range(1, 7))

# The places that the numbers of an id fill in its sentence, by family; others have none.
_PLACES = {
    "seal": ("seat",),
    "link": ("epoch", "seat"),
    "draw": ("k",),
    "discard": ("k",),
    "show": ("k",),
    "reshuffle": ("k",),
    "seat.signature": ("seat",),
}


def family(check_id: str) -> tuple[str, dict[str, Value]]:
    """Splits an id into its family in the catalogue and its numbers; `chain.E.N` is a link."""
    words = check_id.split(".")
    numbers = [int(word) for word in words if word.isdecimal()]
    name = ".".join(word for word in words if not word.isdecimal())
    if name == "chain" and numbers:
        name = "link"
    return name, dict(zip(_PLACES.get(name, ()), numbers, strict=True))


def sentence(check_id: str) -> Said:
    """Says in a sentence what it means that a check passes."""
    name, values = family(check_id)
    return Said(f"check.{name}", values)


def reason(check_id: str) -> Said:
    """Says why a check matters."""
    return say(f"why.{family(check_id)[0]}")
