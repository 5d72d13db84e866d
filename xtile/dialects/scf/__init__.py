"""The `scf` dialect in upstream's syntax.

Operations that xDSL has are derived from xDSL's, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/SCF/IR`.
"""

from xdsl.ir import Dialect

from xtile.dialects.scf import branches, forall, loops

Scf = Dialect("scf", [*branches.OPERATIONS, *forall.OPERATIONS, *loops.OPERATIONS], [])

__all__ = ["Scf"]
