"""`python -m fairdeal_api.demo` is `fairdeal demo`."""

import sys

from fairdeal_api.demo import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
