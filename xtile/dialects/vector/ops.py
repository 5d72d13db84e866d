"""The `vector` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.vector.contractions import *
    from xtile.dialects.vector.elements import *
    from xtile.dialects.vector.gathers import *
    from xtile.dialects.vector.masks import *
    from xtile.dialects.vector.memory import *
    from xtile.dialects.vector.positions import *
    from xtile.dialects.vector.printing import *
    from xtile.dialects.vector.products import *
    from xtile.dialects.vector.reductions import *
    from xtile.dialects.vector.shapes import *
    from xtile.dialects.vector.shuffles import *
    from xtile.dialects.vector.slices import *
    from xtile.dialects.vector.transfers import *

__getattr__ = operations_by_name("vector")
