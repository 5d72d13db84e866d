"""The `scf` dialect, with what xDSL's lacks."""

from xdsl.dialects.scf import Scf

__all__ = ["Scf"]
