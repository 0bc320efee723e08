"""What must outlast a loss of power: the content is synced before it gets its name, then the name.

No kill can tell. Here the calls are written down in their order.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairdeal_api import system
from fairdeal_api.client import memory

CONTENT = b"what is kept"
WHOLE = len(CONTENT)


@pytest.fixture
def noted(monkeypatch):
    """Syncs of files, with how much was in each then; syncs of folders; names, in their order."""
    found = []
    sync, replace = os.fsync, Path.replace

    def noted_sync(descriptor):
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        found.append(("folder",) if path.is_dir() else ("sync", path.name, path.stat().st_size))
        sync(descriptor)

    def noted_replace(self, target):
        found.append(("name", target.name))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    return found


def careless(path, content):
    """The control."""
    part = path.with_name("a.part")
    part.write_bytes(content)
    part.replace(path)


@pytest.mark.parametrize(
    ("write", "wanted"),
    [
        (system.create_file, [("sync", "a", WHOLE), ("folder",)]),
        (system.replace_file, [("sync", "a.part", WHOLE), ("name", "a"), ("folder",)]),
        (memory.replace, [("sync", "a.part", WHOLE), ("name", "a"), ("folder",)]),
        (careless, [("name", "a")]),
    ],
)
def test_a_file_is_durable_when_it_is_said_to_be(tmp_path, noted, write, wanted):
    """LOG-7, OPEN-2."""
    write(tmp_path / "a", CONTENT)
    assert noted == wanted
    assert (tmp_path / "a").read_bytes() == CONTENT


def test_a_seats_folder_is_durable_with_all_above_it(tmp_path, noted):
    memory.make_folder(tmp_path / "a/b/c")
    assert noted == [("folder",)] * 3
    assert (tmp_path / "a/b/c").stat().st_mode & 0o777 == 0o700
    memory.make_folder(tmp_path / "a/b/c")
    assert noted == [("folder",)] * 3  # it was there


def test_keys_are_durable_before_anything_is_signed_or_sealed(tmp_path, noted):
    system.create_keys(tmp_path / "keys")
    whole = 65  # 64 hex digits and a newline
    assert noted == [
        ("sync", system.SEALING_KEY, whole),
        ("sync", system.LOG_KEY, whole),
        ("folder",),
    ]
