"""The ``accsim`` command; ``python -m accsim`` is the same."""

from __future__ import annotations

import signal
import sys

from . import _accsim


def main() -> int:
    """Run the arguments of the process and return its exit code."""
    # Python would only make a note of Ctrl-C until the command is done.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _accsim.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
