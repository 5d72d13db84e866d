"""The whole `scf` dialect, which loads every module of it."""

from xdsl.ir import Dialect

from xtile.dialects.scf import branches, loops

Scf = Dialect("scf", [*branches.OPERATIONS, *loops.OPERATIONS], [])
