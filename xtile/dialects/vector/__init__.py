"""The `vector` dialect in upstream's syntax, with what xDSL's lacks."""

from xdsl.dialects.vector import Vector

__all__ = ["Vector"]
