"""What libraries find wrong, in our words: their own are for programmers."""

from __future__ import annotations

from typing import Final

from pydantic_core import ErrorDetails

_WHOLE: Final = "must be a whole number"
_WORDS: Final = {
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _WHOLE,
    "int_from_float": _WHOLE,
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "literal_error": "must be {expected}",
    "path_type": "must be the name of a file or folder",
    "missing": "is missing",
    "tuple_type": "must be a list",
    "too_long": "must be {max_length} or fewer",
    "model_type": "must have `url` and `vkey`",
}
"""By pydantic's type of fault. The only model in a setting is a witness."""


def fault_in_words(fault: ErrorDetails) -> str:
    """What a value must be that is something else: `must be 65535 or less`. It is not shown.

    Args:
        fault: From `ValidationError.errors()`. A check of ours says it in its own words.
    """
    context = fault.get("ctx", {})
    if fault["type"] == "value_error":
        return str(context["error"]).removesuffix(".")
    return _WORDS.get(fault["type"], "cannot be this").format(**context)


def failure_in_words(error: OSError) -> str:
    """What the system has refused, and of which file: `hands/log.vkey: Permission denied`."""
    what = error.filename or "A file or the output"
    return f"{what}: {error.strerror or type(error).__name__}"
