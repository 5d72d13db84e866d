"""Rules of functions and their parameters.

Source: tensor language reference, sections "Functions", "Alignment attribute" and "Greatest
common divisor (GCD) attributes".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, BlockArgument

from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.types import (
    DYNAMIC,
    SIZE_IN_BYTES,
    CoopmatrixType,
    GroupType,
    MemrefType,
    PoisonType,
    is_scalar,
    type_text,
)
from xtile.dialects.tensorlang.verifier.constants import integer_list, positive_integer
from xtile.dialects.tensorlang.verifier.problem import Problem, Problems, counted, rule
from xtile.dialects.tensorlang.verifier.regions import block_of
from xtile.targets import LARGEST_WORK_GROUP

_IDENTIFIER = re.compile(r"[0-9]+|[A-Za-z][A-Za-z0-9_]*")


@rule(FuncOp)
def function_name(function: FuncOp) -> Problems:
    """The name is an identifier."""
    name = function.sym_name.data
    if _IDENTIFIER.fullmatch(name) is None:
        message = "is not an identifier: a letter and then letters, digits or '_', or a number"
        yield Problem(function, f"the name @{name} {message}", "header")


@rule(FuncOp)
def launch_attributes(function: FuncOp) -> Problems:
    """The subgroup size divides the first work-group size, and some device has such sizes."""
    size, group = function.subgroup_size, function.work_group_size
    subgroup_size = positive_integer(size)
    if size is not None and subgroup_size is None:
        message = "subgroup_size must be a positive integer, such as 16 or 32"
        yield Problem(function, message, "header")
    yield from _too_large(function, "subgroup", subgroup_size or 0)
    if group is None:
        return
    sizes = integer_list(group)
    if sizes is None or len(sizes) != 2 or min(sizes) < 1:
        message = "work_group_size must be a list of two positive integers, such as [64,2]"
        yield Problem(function, message, "header")
    elif subgroup_size is not None and sizes[0] % subgroup_size != 0:
        message = f"the first work-group size is {sizes[0]} but must be a multiple of the subgroup "
        yield Problem(function, f"{message}size, {subgroup_size}", "header")
    else:
        yield from _too_large(function, "work-group", math.prod(sizes))


def _too_large(function: FuncOp, what: str, work_items: int) -> Problems:
    if work_items > LARGEST_WORK_GROUP:
        message = f"a {what} has {work_items} work-items, but no device allows more than "
        yield Problem(function, f"{message}{LARGEST_WORK_GROUP}", "header")


@rule(FuncOp)
def parameters(function: FuncOp) -> Problems:
    """A parameter is a bool, a number, a memref or a group, and its attributes are right for it."""
    block = block_of(function.body)
    arguments: Sequence[BlockArgument] = block.args if block else ()
    for argument in arguments:
        yield from _parameter_type(function, argument)
    attributes = function.parameter_attributes
    if attributes is None:
        return
    if len(attributes.data) != len(arguments):
        message = f"{counted(len(arguments), 'parameter')} but {len(attributes.data)} dictionaries "
        yield Problem(function, f"{message}of parameter attributes", "header")
        return
    for argument, dictionary in zip(arguments, attributes.data, strict=True):
        yield from _parameter_attributes(function, argument, dictionary.data)


def _parameter_type(function: FuncOp, argument: BlockArgument) -> Problems:
    type = argument.type
    # A calling convention may have no bool; the language has.
    if is_scalar(type) or isinstance(type, MemrefType | GroupType | PoisonType):
        return
    hint = "a parameter must be a bool, a number, a memref or a group"
    if isinstance(type, CoopmatrixType):
        hint = "pass a memref and load it with cooperative_matrix_load"
    yield Problem(function, f"a parameter cannot be {type_text(type)}; {hint}", argument)


def _parameter_attributes(
    function: FuncOp, argument: BlockArgument, attributes: Mapping[str, Attribute]
) -> Problems:
    type = argument.type.memref_type if isinstance(argument.type, GroupType) else argument.type
    for name in ("alignment", "shape_gcd", "stride_gcd"):
        attribute = attributes.get(name)
        if attribute is None or isinstance(type, PoisonType):
            continue
        if not isinstance(type, MemrefType):
            message = f"{type_text(type)} has no {name}; only memrefs and groups have"
            yield Problem(function, message, argument)
        elif name == "alignment":
            yield from _alignment(function, argument, attribute, type)
        else:
            values = type.shape if name == "shape_gcd" else type.strides
            yield from _divisors(function, argument, name, attribute, values)


def _alignment(
    function: FuncOp, argument: BlockArgument, attribute: Attribute, type: MemrefType
) -> Problems:
    alignment, size = positive_integer(attribute), SIZE_IN_BYTES[type.element_type]
    if alignment is None or alignment % size != 0:
        found = f"alignment {alignment}" if alignment else "the alignment"
        message = f"{found} must be a positive multiple of {size}, the size in bytes of "
        yield Problem(function, f"{message}{type_text(type.element_type)}", argument)


def _divisors(
    function: FuncOp,
    argument: BlockArgument,
    name: str,
    attribute: Attribute,
    values: Sequence[int],
) -> Problems:
    divisors = integer_list(attribute)
    if divisors is None or any(divisor < 1 for divisor in divisors):
        yield Problem(function, f"{name} must be a list of positive integers", argument)
        return
    if len(divisors) > len(values):
        message = f"{name} has {counted(len(divisors), 'divisor')}, which must not be more than "
        yield Problem(function, f"{message}the order, {len(values)}", argument)
    what = name.removesuffix("_gcd")
    for mode, (divisor, value) in enumerate(zip(divisors, values, strict=False)):
        if value != DYNAMIC and value % divisor != 0:
            message = f"{name} says that {divisor} divides {what} {mode}, which is {value}"
            yield Problem(function, message, argument)
