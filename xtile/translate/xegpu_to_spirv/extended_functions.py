"""Functions of OpenCL.std that a kernel calls by MLIR's own `spirv` dialect.

They become what their counterparts in `arith` and `math` do, so that they are as exact.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xtile.dialects.spirv.mathematics import FUNCTIONS
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.arithmetic import RULES as ARITHMETIC
from xtile.translate.xegpu_to_spirv.elementwise import instruction, on_floats
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.mathematics import RULES as MATHEMATICS

_COUNTERPARTS = {**ARITHMETIC, **MATHEMATICS}


def _refused(operation: Operation, lowering: Lowering) -> None:
    """Refuses a function of GLSL, and names the one of OpenCL that computes the same."""
    counterpart = FUNCTIONS[operation.name.removeprefix("spirv.")].counterpart
    advice = "".join(
        f"; write spirv.{name}"
        for name, function in FUNCTIONS.items()
        if name.startswith("CL.") and counterpart and function.counterpart == counterpart
    )
    raise lowering.error(
        f"{operation.name} is a function of GLSL.std.450, which kernels for OpenCL cannot "
        f"call{advice}"
    )


RULES: dict[str, Rule] = {
    **{
        f"spirv.{name}": _COUNTERPARTS[function.counterpart] if name.startswith("CL.") else _refused
        for name, function in FUNCTIONS.items()
        if function.counterpart or name.startswith("GL.")
    },
    "spirv.CL.mix": on_floats(instruction("CL.mix")),
}
"""The rule of each operation, by name."""
