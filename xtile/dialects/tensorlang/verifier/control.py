"""Rules of for, if and yield.

Source: tensor language reference, sections "For", "If", "Yield" and "Cooperative matrix apply".
"""

from __future__ import annotations

from collections.abc import Container

from xdsl.ir import Attribute, Block, Operation, Region

from xtile.dialects.tensorlang.ops.control import ForOp, IfOp, YieldOp
from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixApplyOp
from xtile.dialects.tensorlang.types import component_type, type_text
from xtile.dialects.tensorlang.verifier.constants import (
    attribute_value,
    integer_of,
    positive_integer,
)
from xtile.dialects.tensorlang.verifier.kinds import has_right_results
from xtile.dialects.tensorlang.verifier.problem import (
    Problem,
    Problems,
    at_operand,
    counted,
    mnemonic_of,
    rule,
)
from xtile.dialects.tensorlang.verifier.regions import block_of

YieldingOp = ForOp | IfOp | CooperativeMatrixApplyOp
_YIELDING = (ForOp, IfOp, CooperativeMatrixApplyOp)


@rule(ForOp, reads=("from_", "to", "step"))
def for_range(operation: ForOp) -> Problems:
    """From, to and step have one integer type, and the step is positive."""
    wanted = operation.from_.type
    for name, operand in (("to", operation.to), ("step", operation.step)):
        if operand is not None and operand.type != wanted:
            message = f"'{name}' is {type_text(operand.type)} but 'from' is {type_text(wanted)}; "
            yield at_operand(operation, name, f"{message}they must have one type")
    step = None if operation.step is None else integer_of(operation.step)
    if step is not None and step <= 0:
        message = f"the step is {step} but must be positive: the loop runs up to 'to'"
        yield at_operand(operation, "step", message)


@rule(ForOp)
def for_carried(operation: ForOp) -> Problems:
    """Each loop-carried value has an initial value, a type and a name in the region."""
    types = [result.type for result in operation.results]
    if len(operation.init) != len(types):
        message = f"{counted(len(operation.init), 'initial value')} but "
        message += f"{counted(len(types), 'type')} given; write one type for each value"
        yield Problem(operation, message, "header")
    for i, (value, type) in enumerate(zip(operation.init, types, strict=False)):
        if value.type != type:
            message = f"the initial value is {type_text(value.type)} but the loop carries "
            yield at_operand(operation, "init", f"{message}{type_text(type)}", i)


@rule(ForOp)
def for_arguments(operation: ForOp) -> Problems:
    """The region has the loop variable and the loop-carried values as arguments."""
    wanted = [operation.from_.type, *(result.type for result in operation.results)]
    block = block_of(operation.body)
    given = [argument.type for argument in block.args] if block else []
    if block is None or len(given) != len(wanted):
        # Already said where the loop-carried values have no types.
        if len(given) != 1 + len(operation.init) or len(operation.init) == len(operation.results):
            message = f"the loop's region has {counted(len(given), 'argument')} but needs "
            yield Problem(operation, f"{message}{len(wanted)}", "header")
        return
    for argument, type in zip(block.args, wanted, strict=True):
        if argument.type != type:
            message = f"the argument is {type_text(argument.type)} but must be {type_text(type)}"
            yield Problem(operation, message, argument)


@rule(ForOp, reads=())
def for_unroll(operation: ForOp) -> Problems:
    """`unroll` is a boolean or a positive count."""
    unroll = operation.unroll
    if unroll is None or isinstance(attribute_value(unroll), bool):
        return
    if positive_integer(unroll) is None:
        message = "unroll must be true, false or a positive integer"
        yield Problem(operation, message, "header")


@rule(YieldOp)
def yield_position(operation: YieldOp) -> Problems:
    """A yield is the last instruction of an if, a for or a cooperative_matrix_apply."""
    parent = operation.parent_op()
    if not isinstance(parent, YieldingOp):
        message = "yield must stand in an if, a for or a cooperative_matrix_apply"
        yield Problem(operation, message)
    elif operation.next_op is not None:
        yield Problem(operation, "yield must be the last instruction of its region")
    else:
        yield from _yielded_types(operation, parent)


def _yielded_types(operation: YieldOp, parent: YieldingOp) -> Problems:
    types, name = _types_to_yield(parent), mnemonic_of(parent)
    if len(operation.values) != len(types):
        message = f"{counted(len(operation.values), 'value')} yielded, but the {name} needs "
        yield Problem(operation, f"{message}{len(types) or 'none'}")
        return
    for i, (value, type) in enumerate(zip(operation.values, types, strict=True)):
        if value.type != type and has_right_results(parent):
            message = f"the yielded value is {type_text(value.type)} but the {name} needs "
            yield at_operand(operation, "values", f"{message}{type_text(type)}", i)


def _types_to_yield(parent: YieldingOp) -> list[Attribute]:
    """An if and a for yield their results, an apply yields one component of its result."""
    if isinstance(parent, CooperativeMatrixApplyOp):
        return [component_type(result.type) for result in parent.results]
    return [result.type for result in parent.results]


def missing_yields(operation: Operation, incomplete: Container[Block] = ()) -> Problems:
    """The problems with regions that return values but do not end with a yield.

    Regions in `incomplete` lost instructions to syntax errors, perhaps their yield.
    """
    if type(operation) not in _YIELDING or not operation.results:
        return
    name = mnemonic_of(operation)
    for region in operation.regions:
        block = block_of(region)
        if block is not None and (block in incomplete or isinstance(block.last_op, YieldOp)):
            continue
        if type(operation) is IfOp and _is_left_out(operation, region):
            message = "an if that returns values needs an else that yields them"
        else:
            message = f"the region of this {name} must end with a yield of "
            message += counted(len(operation.results), "value")
        yield Problem(operation, message, "header")


def _is_left_out(operation: IfOp, region: Region) -> bool:
    return len(operation.regions) > 1 and region is operation.regions[1] and not region.blocks
