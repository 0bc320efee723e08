"""A standalone verifier of dealt hands, written from the specification alone.

    from fairdeal_verifier.verify import verify         # one hand's file
    from fairdeal_verifier.match import verify_match    # the files of a match

Nothing is imported here, so that the command is there at once.
"""

__version__ = "0.1.0"
