"""Functions of the `math` dialect, by the OpenCL extended instruction set.

Source: OpenCL Extended Instruction Set Specification, 2.1 "Math extended instructions".
"""

from __future__ import annotations

from xtile.translate.rule import Rule
from xtile.translate.xegpu_to_spirv.elementwise import instruction, named, on_floats

_SAME_NAME = ("exp", "exp2", "log", "sqrt", "sin", "cos")

RULES: dict[str, Rule] = {
    **named("math", {name: on_floats(instruction(f"CL.{name}")) for name in _SAME_NAME}),
    "math.absf": on_floats(instruction("CL.fabs")),
    "math.fma": on_floats(instruction("CL.fma")),
}
