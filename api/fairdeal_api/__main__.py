"""The command `fairdeal`: so small that it can say at once how it is stopped."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command."""
    # Modules take half a second to read. Ctrl-C ends that by the signal and without a word; from
    # then on a command puts in order what it has begun. Who has started it deaf finds it so.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from fairdeal_api import cli  # noqa: PLC0415 - takes a while; Ctrl-C may come in it

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
