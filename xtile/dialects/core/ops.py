"""The operations of the core form, each by its name."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.core.assumptions import *
    from xtile.dialects.core.atomics import *
    from xtile.dialects.core.blas import *
    from xtile.dialects.core.complex_parts import *
    from xtile.dialects.core.cooperative_matrix import *
    from xtile.dialects.core.elements import *
    from xtile.dialects.core.packing import *
    from xtile.dialects.core.pointers import *
    from xtile.dialects.core.printing import *
    from xtile.dialects.core.reductions import *
    from xtile.dialects.core.scaled_products import *
    from xtile.dialects.core.scattered import *
    from xtile.dialects.core.subgroup import *
    from xtile.dialects.core.views import *

__getattr__ = operations_by_name("core")
