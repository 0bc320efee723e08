"""The log key's file: both commands of the verifier read it alike, and refuse it alike."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from fairdeal_audit import command as audit
from fairdeal_verifier import command as verify
from fairdeal_verifier import trusted
from tests.verifier import builder as B  # noqa: N812

HAND = B.mus(salt="k")
OTHER = "deal.example/log+00000000+" + B.VKEY.rpartition("+")[2]
FILES = {
    "empty": b"",
    "blank": b" \n\n",
    "two": f"{B.VKEY}\n{B.VKEY}\n".encode(),
    "latin": b"caf\xe9\n",
    "long": b"x" * 5000,
    "endless": f"{B.VKEY}\n".encode() + b"\n" * 5000,
    "other": OTHER.encode(),
    "hand.json": HAND.file(),
}
WORDS = {
    "empty": "'empty' holds no log key: it is empty",
    "blank": "'blank' holds no log key: it is empty",
    "two": "'two' holds no log key: it is longer than one line of a key",
    "latin": "'latin' holds no log key: it is not UTF-8",
    "long": "'long' holds no log key: it is longer than one line of a key",
    "endless": "'endless' holds no log key: it is longer than one line of a key",
    "other": "'other' holds no log key: a log key does not have the key id that it states",
    "hand.json": "'hand.json' holds no log key: it is longer than one line of a key",
    "folder": "cannot read the log key 'folder': Is a directory",
    "locked": "cannot read the log key 'locked': Permission denied",
    "none": "'none' is neither a log key nor a file that holds one",
    "good/none": "'good/none' is neither a log key nor a file that holds one",
    "x" * 300: f"'{'x' * 300}' is neither a log key nor a file that holds one",
    "": "cannot read the log key '': Is a directory",
    "a\0b": "'a\\x00b' is neither a log key nor a file that holds one",
    "-": "'-' is neither a log key nor a file that holds one",
    OTHER: f"'{OTHER}' is neither a log key nor a file that holds one",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files with keys and without, where the commands are run."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    for name in ("good", "locked"):
        (tmp_path / name).write_text(f"{B.VKEY}\n", "utf-8")
    (tmp_path / "bare").write_text(B.VKEY, "utf-8")
    (tmp_path / "dos").write_bytes(f"{B.VKEY}\r\n".encode())
    (tmp_path / "hand.fair.json").write_bytes(HAND.file())
    (tmp_path / "folder").mkdir()
    (tmp_path / "evidence.json").write_bytes(b"{}")
    opened = Path.open

    def denied(self, *more, **named):  # the tests may run as root, who may read anything
        if self.name == "locked":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return opened(self, *more, **named)

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMANDS = {
    "fairdeal-verify": (verify.main, ["hand.fair.json"], 0),
    "fairdeal-verify --match": (verify.main, ["--match", "hand.fair.json"], 0),
    "fairdeal-audit judge": (audit.main, ["judge", "evidence.json"], 4),
    "fairdeal-audit fetch": (audit.main, ["fetch", "folder", "made"], 3),
    "fairdeal-audit watch": (audit.main, ["watch", "folder", "made", "--times", "1"], 3),
    "fairdeal-audit replay": (audit.main, ["replay", "folder"], 3),
    "fairdeal-audit compare": (audit.main, ["compare", "two", "two"], 4),
}
"""Each with what it comes to under a good key."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_key_s_file_that_is_none_has_one_answer_and_one_code(folder, name, capsys):
    main, arguments, _ = COMMANDS[name]
    before = {path.name for path in folder.iterdir()}
    for given, words in WORDS.items():
        assert main([*arguments, f"--key={given}"]) == 2, given
        said = capsys.readouterr()
        assert (said.out, said.err) == ("", f"{name.partition(' ')[0]}: {words}\n")
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("given", [B.VKEY, "good", "bare", "dos"])
def test_control_a_good_key_is_taken_by_all(folder, name, given):
    main, arguments, code = COMMANDS[name]
    assert main([*arguments, "--key", given]) == code


def test_the_key_that_a_folder_keeps_is_read_in_the_same_way(folder, tmp_path, capsys):
    kept = tmp_path / "folder" / "log.vkey"
    note = HAND.receipt().partition("\n\n")[2]
    (tmp_path / "head").write_text(note, "utf-8")
    compare = ["compare", "head", "head", "--dir", "folder"]
    for name in FILES:
        shutil.copyfile(name, kept)
        words = WORDS[name].replace(f"'{name}'", "'folder/log.vkey'")
        for arguments in (["replay", "folder"], ["fetch", "none", "folder"], compare):
            assert audit.main(arguments) == 2
            assert capsys.readouterr().err == f"fairdeal-audit: {words}\n"
    shutil.copyfile("good", kept)  # the control
    assert audit.main(compare) == 0


def test_a_file_without_an_end_is_not_read_to_it():
    with pytest.raises(ValueError, match="longer than one line"):
        trusted.read_key("/dev/zero")
