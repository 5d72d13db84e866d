"""What no chip goes beyond, for checks that need no chip."""

from __future__ import annotations

LARGEST_WORK_GROUP = 8192
"""Work-items of a work-group that some chip can have: the CPU."""
