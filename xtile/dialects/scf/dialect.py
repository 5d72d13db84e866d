"""The whole `scf` dialect, which loads every module of it."""

from xdsl.dialects import scf
from xdsl.ir import Dialect

from xtile.dialects.scf.extensions import OPERATIONS
from xtile.text.extensions import completed

Scf = Dialect("scf", completed(list(scf.Scf.operations), OPERATIONS), [])
