"""The whole `affine` dialect, which loads every module of it."""

from xdsl.ir import Dialect

from xtile.dialects.affine import control, memory, numbers

Affine = Dialect("affine", [*control.OPERATIONS, *memory.OPERATIONS, *numbers.OPERATIONS], [])
