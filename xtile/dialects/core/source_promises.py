"""What a kernel's source promises of its parameters, as promises of the arguments they became.

A language without words for such promises leaves them to the signature. A kernel that comes from
there relies on them like the source, since a launch checks what the signature says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute

from xtile.dialects.core.arguments import (
    ALIGNMENT_ATTRIBUTE,
    NOALIAS_ATTRIBUTE,
    SHAPE_GCD_ATTRIBUTE,
    STRIDE_GCD_ATTRIBUTE,
    leads_to_memory,
    promises_of,
)
from xtile.dialects.core.signature import source_signature
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
            given = promised(parameter.attributes, piece.modes) if is_known else {}
            if parameter.is_noalias:
                given[NOALIAS_ATTRIBUTE] = UnitAttr()
            own = {**given, **own}
        attributes.append(own)
    if attributes == [dict(promises_of(function, index)) for index in range(len(attributes))]:
        return function
    result = function.clone()
    result.location = function.location
    result.arg_attrs = ArrayAttr(map(DictionaryAttr, attributes))
    return result


def promised(given: Mapping[str, Attribute], modes: Sequence[int]) -> dict[str, Attribute]:
    """The attributes of an argument for what the tensor language promises of a parameter.

    Args:
        given: The promises, as the tensor language calls them; what is none is left out.
        modes: For each dimension of the memref the parameter's mode; none where it is no memref.
    """
    result: dict[str, Attribute] = {}
    for name, attribute in given.items():
        if name == "alignment" and isinstance(attribute, IntegerAttr):
            result[PROMISES[name]] = cast("Attribute", attribute)
        elif name in PROMISES and modes and isinstance(attribute, ArrayAttr):
            numbers = _integers(cast("ArrayAttr[Attribute]", attribute).data)
            # What is not promised is divided by 1.
            divisors = [numbers[mode] if mode < len(numbers) else 1 for mode in modes]
            result[PROMISES[name]] = DenseArrayBase.from_list(i64, divisors)
    return result


def _integers(given: Sequence[Attribute]) -> list[int]:
    return [
        cast("IntegerAttr[IntegerType]", each).value.data
        for each in given
        if isinstance(each, IntegerAttr)
    ]
