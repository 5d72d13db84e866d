"""The `arith` dialect, with what xDSL's lacks."""

from xdsl.dialects.arith import Arith

__all__ = ["Arith"]
