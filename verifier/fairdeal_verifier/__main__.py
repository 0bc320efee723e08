"""The command `fairdeal-verify`: so small that it can say at once how it is stopped.

Runs installed, as `python3 -m fairdeal_verifier`, from a zip, and as
`python3 -I -S fairdeal_verifier` from a folder that was only copied.
"""

import os
import signal
import sys

if not __package__:
    # Run by the name of the folder: Python has put the folder itself on the path, and its modules
    # would hide others. What is needed is the folder above, and last.
    sys.path[0:1] = []
    sys.path.append(os.path.realpath(f"{__file__}/../.."))


def main() -> int:
    """Runs the command.

    Returns:
        The exit code. Spec: VER-4
    """
    # Ctrl-C ends it where it stands, by the signal and without a word: nothing has to be put in
    # order. Who has started it deaf to Ctrl-C, in the background, finds it so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from fairdeal_verifier import command  # noqa: PLC0415 - takes a while; Ctrl-C may come in it

    return command.main()


if __name__ == "__main__":
    sys.exit(main())
