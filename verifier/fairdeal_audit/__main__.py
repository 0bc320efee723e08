"""The command `fairdeal-audit`: so small that it can say at once how it is stopped."""

import signal
import sys


def main() -> int:
    """Runs the command.

    Returns:
        The exit code: 0 clean, 1 findings, 2 usage, 3 incomplete, 4 unreadable.
    """
    # While modules are read Ctrl-C ends it by the signal and without a word; from then on the
    # command keeps what was done. Who has started it deaf to Ctrl-C finds it so.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from fairdeal_audit import command  # noqa: PLC0415 - takes a while; Ctrl-C may come in it

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command.main()


if __name__ == "__main__":
    sys.exit(main())
