"""Files of the package fairdeal-verifier. They are read; nothing of it is ever run here."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_PACKAGE: Final = "fairdeal_verifier"
_POLICY: Final = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"\r\n]+)"')


@dataclass(frozen=True, slots=True)
class Page:
    """The page that checks hands.

    Attributes:
        content: The bytes of `verify.html`, as released.
        etag: Made from their SHA-256.
        policy: The content security policy that the page sets for itself.
    """

    content: bytes
    etag: bytes
    policy: bytes


def folder() -> Path:
    """Where the package is. It is looked for, not imported."""
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise FileNotFoundError(_PACKAGE)
    return Path(found.origin).parent


@lru_cache(maxsize=1)
def page() -> Page:
    """The page, read once.

    Raises:
        FileNotFoundError: The package is not installed whole.
        ValueError: The page sets no policy.
    """
    content = (folder() / "verify.html").read_bytes()
    policy = _POLICY.search(content)
    if policy is None:
        raise ValueError("the page sets no content security policy")
    digest = hashlib.sha256(content).hexdigest().encode()
    return Page(content, b'"%s"' % digest, policy[1])
