"""The `memref` dialect, with what xDSL's lacks."""

from xdsl.dialects.memref import MemRef

__all__ = ["MemRef"]
