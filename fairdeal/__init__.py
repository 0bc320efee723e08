"""fairdeal/1: provably fair dealing of card games. The protocol, and nothing but the protocol.

Pure: no input or output, no clock, no entropy. The specification is in `docs/spec`.
"""
