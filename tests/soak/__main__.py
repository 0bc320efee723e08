"""`python -m tests.soak [FAMILY ..]`."""

import sys

from tests.soak.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
