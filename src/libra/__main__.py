"""`python -m libra` does what the command `libra` does."""

import sys

from libra.cli import main

if __name__ == "__main__":
    sys.exit(main())
