"""The `gpu` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_by_name

if TYPE_CHECKING:
    from xtile.dialects.gpu.functions import *
    from xtile.dialects.gpu.indices import *
    from xtile.dialects.gpu.launch import *
    from xtile.dialects.gpu.launch_func import *
    from xtile.dialects.gpu.memory import *
    from xtile.dialects.gpu.modules import *
    from xtile.dialects.gpu.subgroups import *

__getattr__ = operations_by_name("gpu")
