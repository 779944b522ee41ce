"""`python -m meeplezoo.cli`: the same as the command `meeplezoo`."""

import sys

from .main import main

sys.exit(main())
