"""Splits complex numbers into their two parts, and computes with those.

What is carried by loops and branches becomes two values, and what the `complex` dialect computes is
composed of `arith` and `math`. Memory keeps its complex elements, and an access reads or writes
both parts at once: what is left of the dialect are `complex.re` and `complex.im` of a number that
an operation gives, and `complex.create` of one that an operation takes.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType, ModuleOp
from xdsl.ir import Operation

from xtile.dialects.walk import types_in, walk
from xtile.rewrite.kernels import DEVICE_CODE, with_device_code_rebuilt
from xtile.text.source import source_of

CARRYING = frozenset(
    {
        "scf.condition",
        "scf.execute_region",
        "scf.for",
        "scf.if",
        "scf.index_switch",
        "scf.while",
        "scf.yield",
    }
)
"""Control flow that carries the parts of a complex number as two values."""

_ON_ANY_NUMBERS = CARRYING | {"arith.select", "core.atomic_update", "ub.poison"}
"""What becomes something else where it is on complex numbers."""

_BETWEEN = frozenset({"complex.create", "complex.im", "complex.re"})
"""What stays between a number and its parts."""


def split_complex(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels compute with the parts of complex numbers.

    Functions of the host stay as they are; without complex arithmetic it is the module itself.

    Args:
        module: The module; it is not changed.

    Raises:
        DiagnosticError: An operation on complex numbers cannot be done part by part.
    """
    device_code = (each for each in module.body.block.ops if isinstance(each, DEVICE_CODE))
    if not any(map(_has_work, device_code)):
        return module
    from xtile.transforms.cleanup.dead_code import remove_dead_code
    from xtile.transforms.split_complex.rules import RULES
    from xtile.transforms.split_complex.splitter import Splitter

    splitter = Splitter(RULES, "real numbers", source_of(module))
    result = with_device_code_rebuilt(module, splitter)
    remove_dead_code(result)
    return result


def _has_work(code: Operation) -> bool:
    """Whether kernels compute with complex numbers."""
    has_numbers = any(type(type_) is ComplexType for type_ in types_in(code))
    return has_numbers and any(map(_computes_with_complex, walk(code)))


def _computes_with_complex(operation: Operation) -> bool:
    name = operation.name
    if name in _ON_ANY_NUMBERS:
        values = (*operation.operands, *operation.results)
        return any(type(value.type) is ComplexType for value in values)
    return name.startswith("complex.") and name not in _BETWEEN
