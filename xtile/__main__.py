"""`python -m xtile`: the command `xtile`."""

from __future__ import annotations

import sys

from xtile.entry_points import xtile

sys.exit(xtile())
