"""What a kernel's source promises of its parameters, as promises of the arguments they became.

A language without words for such promises leaves them to the signature. A kernel that comes from
there relies on them like the source, since a launch checks what the signature says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, UnitAttr, i64
from xdsl.ir import Attribute

from xtile.dialects.core.arguments import (
    ALIGNMENT_ATTRIBUTE,
    NOALIAS_ATTRIBUTE,
    SHAPE_GCD_ATTRIBUTE,
    STRIDE_GCD_ATTRIBUTE,
    leads_to_memory,
    promises_of,
)
from xtile.dialects.core.signature import Piece, Role, SourceParameter, source_signature
from xtile.dialects.gpu.functions import FuncOp

PROMISES: Mapping[str, str] = {
    "alignment": ALIGNMENT_ATTRIBUTE,
    "shape_gcd": SHAPE_GCD_ATTRIBUTE,
    "stride_gcd": STRIDE_GCD_ATTRIBUTE,
}
"""What the tensor language calls the promises of a memref, and core does."""


def with_promises_of_source(function: FuncOp) -> FuncOp:
    """A kernel whose arguments have the promises of its source, or the kernel itself.

    Args:
        function: The kernel; it is not changed.

    Raises:
        ValueError: Its signature is malformed; the message says how.
    """
    signature = source_signature(function)
    if signature is None:
        return function
    arguments = function.body.block.args
    pieces = [(each, piece) for each in signature.parameters for piece in each.becomes]
    is_known = signature.language == "tensorlang"
    attributes: list[dict[str, Attribute]] = []
    for index in range(len(function.function_type.inputs)):
        own = dict(promises_of(function, index))
        if index < len(pieces) and leads_to_memory(arguments[index].type):
            parameter, piece = pieces[index]
            given = _promised(parameter, piece) if is_known else {}
            own = {
                **given,
                **({NOALIAS_ATTRIBUTE: UnitAttr()} if parameter.is_noalias else {}),
                **own,
            }
        attributes.append(own)
    if attributes == [dict(promises_of(function, index)) for index in range(len(attributes))]:
        return function
    result = function.clone()
    result.location = function.location
    result.arg_attrs = ArrayAttr(map(DictionaryAttr, attributes))
    return result


def _promised(parameter: SourceParameter, piece: Piece) -> dict[str, Attribute]:
    """What a parameter of the tensor language promises of an argument that it became."""
    promised: dict[str, Attribute] = {}
    for name, attribute in parameter.attributes.items():
        if not isinstance(attribute, ArrayAttr):
            if name == "alignment":
                promised[PROMISES[name]] = attribute
        elif name in PROMISES and piece.role is Role.MEMREF:
            divisors = _divisors(cast("ArrayAttr[Any]", attribute).data, piece.modes)
            promised[PROMISES[name]] = DenseArrayBase.from_list(i64, divisors)
    return promised


def _divisors(given: Sequence[Any], modes: Sequence[int]) -> list[int]:
    """The divisor of each dimension of a memref; what is not given is 1."""
    numbers = [int(each.value.data) for each in given]
    return [numbers[mode] if mode < len(numbers) else 1 for mode in modes]
