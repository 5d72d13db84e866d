"""The `gpu` dialect in upstream's syntax, with what xDSL's lacks."""

from xdsl.dialects.gpu import GPU

__all__ = ["GPU"]
