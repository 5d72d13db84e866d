"""What no chip goes beyond."""

from __future__ import annotations

from xtile.targets import COMPILED_VENDORS

LARGEST_WORK_GROUP = max(
    target.most_work_items for vendor in COMPILED_VENDORS for target in vendor.chips.values()
)
"""Work-items of a work-group that some chip can have."""
