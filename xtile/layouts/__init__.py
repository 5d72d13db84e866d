"""Layouts: which register of which lane of which subgroup holds which element of a tensor.

`docs/layouts.md` explains them. Nothing here knows a dialect; everything takes plain numbers.
"""

from xtile.layouts.layout import Digit, Layout, Step
from xtile.layouts.linear import Image, LayoutError, LinearLayout

__all__ = ["Digit", "Image", "Layout", "LayoutError", "LinearLayout", "Step"]
