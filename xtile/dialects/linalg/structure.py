"""What all structured operations have in common: loops, and what each turn computes.

An operation runs through all numbers of its loops. For each it takes the element of each operand
that the operand's map says, and writes what its body yields to those of the outputs.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR/LinalgInterfaces.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ShapedType, TensorType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.linalg.payloads import NAMED, payload


class TypeFn(StrEnum):
    """How numbers are cast to the type of the output: with their sign, or as if they had none."""

    SIGNED = "cast_signed"
    UNSIGNED = "cast_unsigned"


@irdl_attr_definition
class TypeFnAttr(EnumAttribute[TypeFn]):
    """`#linalg.type_fn<cast_unsigned>`."""

    name = "linalg.type_fn"

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> TypeFn:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)

    @override
    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)


@dataclass(frozen=True)
class Structure:
    """The loops of an operation, and what each turn computes.

    Attributes:
        operation: The operation.
        inputs: What is read: memrefs, tensors and scalars.
        outputs: What is updated: memrefs or tensors.
        maps: For each input and each output the element that a turn takes.
        is_parallel: For each loop whether its turns may be done in any order and at once; the turns
            of the others are done in any order, one after the other.
        body: A block that has an argument for each element and yields the new ones of the outputs.
    """

    operation: Operation
    inputs: Sequence[SSAValue]
    outputs: Sequence[SSAValue]
    maps: Sequence[AffineMap]
    is_parallel: Sequence[bool]
    body: Block

    @property
    def operands(self) -> Sequence[SSAValue]:
        """What has a map."""
        return [*self.inputs, *self.outputs]

    @property
    def output_maps(self) -> Sequence[AffineMap]:
        """The maps of the outputs."""
        return self.maps[len(self.inputs) :]

    def sizes(self) -> list[tuple[int, int]]:
        """For each loop an operand whose dimension it runs through, and the dimension.

        Raises:
            VerifyException: The maps do not say how long a loop is.
        """
        found: dict[int, tuple[int, int]] = {}
        for number, map_ in enumerate(self.maps):
            for dimension, result in enumerate(map_.results):
                if isinstance(result, AffineDimExpr):
                    found.setdefault(result.position, (number, dimension))
        loops = len(self.is_parallel)
        missing = [loop for loop in range(loops) if loop not in found]
        if missing:
            raise VerifyException(f"no dimension of an operand says how long loop {missing[0]} is")
        return [found[loop] for loop in range(loops)]


def is_structured(operation: Operation) -> bool:
    """Whether an operation has a structure."""
    return operation.name in _STRUCTURES or isinstance(operation, LinalgStructuredOperation)


def structure_of(operation: Operation) -> Structure:
    """The structure of an operation that `is_structured`.

    Raises:
        VerifyException: The operation has none for the types of its operands.
    """
    return _STRUCTURES.get(operation.name, _from_interface)(operation)


def _from_interface(operation: Operation) -> Structure:
    """The structure that xDSL's classes tell of; of a named operation the body is its name's."""
    given = cast("Any", operation)
    inputs, outputs = list(given.inputs), list(given.outputs)
    if operation.name in NAMED:
        types = [element_type(operand) for operand in operation.operands]
        body = payload(operation.name, types, is_unsigned(operation))
        if body is None:
            raise VerifyException(f"{operation.name} does not take elements of these types")
    else:
        body = given.body.block
    kinds = [each.data is IteratorType.PARALLEL for each in given.get_iterator_types()]
    maps = [each.data for each in given.get_indexing_maps()]
    return Structure(operation, inputs, outputs, maps, kinds, body)


def _map(operation: Operation) -> Structure:
    given = cast("Any", operation)
    inputs, outputs = list(given.inputs), [given.init]
    rank = rank_of(given.init)
    maps = [AffineMap.identity(rank)] * (len(inputs) + 1)
    return Structure(operation, inputs, outputs, maps, [True] * rank, given.mapper.block)


def _reduce(operation: Operation) -> Structure:
    inputs, outputs = reduced(operation)
    region = operation.regions[0]
    dimensions = cast("Any", operation).dimensions.get_values()
    rank = rank_of(inputs[0])
    kept = [loop for loop in range(rank) if loop not in dimensions]
    to_output = AffineMap(rank, 0, tuple(AffineDimExpr(loop) for loop in kept))
    maps = [AffineMap.identity(rank)] * len(inputs) + [to_output] * len(outputs)
    parallel = [loop in kept for loop in range(rank)]
    return Structure(operation, inputs, outputs, maps, parallel, region.block)


def reduced(operation: Operation) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
    """The inputs and the outputs of a `linalg.reduce`; xDSL's class has one of each."""
    half = len(operation.operands) // 2
    return operation.operands[:half], operation.operands[half:]


def _broadcast(operation: Operation) -> Structure:
    given = cast("Any", operation)
    dimensions = given.dimensions.get_values()
    source, target = operation.operands
    rank = rank_of(target)
    kept = tuple(AffineDimExpr(loop) for loop in range(rank) if loop not in dimensions)
    maps = [AffineMap(rank, 0, kept), AffineMap.identity(rank)]
    return Structure(operation, [source], [target], maps, [True] * rank, _copying(operation))


def _transpose(operation: Operation) -> Structure:
    permutation = list(cast("Any", operation).permutation.get_values())
    source, target = operation.operands
    rank = rank_of(target)
    positions = tuple(AffineDimExpr(permutation.index(dimension)) for dimension in range(rank))
    maps = [AffineMap(rank, 0, positions), AffineMap.identity(rank)]
    return Structure(operation, [source], [target], maps, [True] * rank, _copying(operation))


def _copying(operation: Operation) -> Block:
    body = payload("linalg.fill", [element_type(operand) for operand in operation.operands])
    assert body is not None
    return body


_STRUCTURES = {
    "linalg.broadcast": _broadcast,
    "linalg.map": _map,
    "linalg.reduce": _reduce,
    "linalg.transpose": _transpose,
}
"""The operations whose structure xDSL's interface does not tell."""


def is_unsigned(operation: Operation) -> bool:
    """Whether an operation casts numbers as if they had no sign."""
    return getattr(operation.properties.get("cast"), "data", None) == TypeFn.UNSIGNED


def element_type(value: SSAValue) -> Attribute:
    """The type of an operand's elements; that of a scalar itself."""
    type_ = value.type
    return type_.element_type if isa(type_, MemRefType | TensorType) else type_


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The sizes of an operand; a scalar has none."""
    return value.type.get_shape() if isinstance(value.type, ShapedType) else ()


def rank_of(value: SSAValue) -> int:
    """The number of an operand's dimensions."""
    return len(shape_of(value))


def verify(operation: Operation) -> None:
    """Checks the operands, maps and body of a structured operation.

    Raises:
        VerifyException: Something is wrong, with what would be right.
    """
    structure = structure_of(operation)
    _verify_kinds(structure)
    _verify_maps(structure)
    _verify_body(structure)
    _verify_sizes(structure)


def _verify_kinds(structure: Structure) -> None:
    if not structure.outputs:
        raise VerifyException("expected an output")
    types = [operand.type for operand in structure.operands]
    if any(isa(type_, TensorType) for type_ in types) and any(
        isa(type_, MemRefType) for type_ in types
    ):
        raise VerifyException("the operands must be all memrefs or all tensors")
    outputs = [output.type for output in structure.outputs]
    if not all(isa(type_, TensorType | MemRefType) for type_ in outputs):
        raise VerifyException("the outputs must be memrefs or tensors")
    expected = [type_ for type_ in outputs if isa(type_, TensorType)]
    if list(structure.operation.result_types) != expected:
        raise VerifyException("the results must be the tensors among the outputs")


def _verify_maps(structure: Structure) -> None:
    loops = len(structure.is_parallel)
    if len(structure.maps) != len(structure.operands):
        raise VerifyException(
            f"expected an indexing map for each of {len(structure.operands)} operands, "
            f"got {len(structure.maps)}"
        )
    for number, (map_, operand) in enumerate(zip(structure.maps, structure.operands, strict=True)):
        if map_.num_dims != loops or map_.num_symbols:
            raise VerifyException(f"indexing map {number} must have {loops} dimensions, one a loop")
        if len(map_.results) != rank_of(operand):
            raise VerifyException(
                f"indexing map {number} has {len(map_.results)} results, but operand {number} has "
                f"{rank_of(operand)} dimensions"
            )


def _verify_body(structure: Structure) -> None:
    expected = [element_type(operand) for operand in structure.operands]
    found = list(structure.body.arg_types)
    if found != expected:
        raise VerifyException(
            f"the body must take the elements of the operands, {_names(expected)}, "
            f"got {_names(found)}"
        )
    end = structure.body.last_op
    yielded = [] if end is None else list(end.operand_types)
    outputs = [element_type(output) for output in structure.outputs]
    if end is None or end.name != "linalg.yield" or yielded != outputs:
        raise VerifyException(f"the body must yield elements of the outputs, {_names(outputs)}")


def _verify_sizes(structure: Structure) -> None:
    sources = structure.sizes()
    operands = structure.operands
    sizes = [shape_of(operands[number])[dimension] for number, dimension in sources]
    for number, (map_, operand) in enumerate(zip(structure.maps, operands, strict=True)):
        for dimension, (result, size) in enumerate(
            zip(map_.results, shape_of(operand), strict=True)
        ):
            loops = sorted(
                each.position for each in result.dfs() if isinstance(each, AffineDimExpr)
            )
            if size == DYNAMIC_INDEX or any(sizes[loop] <= 0 for loop in loops):
                continue
            first = result.eval([0] * len(sizes), [])
            last = result.eval([each - 1 for each in sizes], [])
            needed = max(first, last) + 1
            is_exact = isinstance(result, AffineDimExpr)
            if min(first, last) < 0 or needed > size or (is_exact and needed != size):
                raise VerifyException(
                    f"dimension {dimension} of operand {number} has size {size}, but the loops "
                    f"reach from {min(first, last)} to {needed - 1}"
                )


def _names(types: Sequence[Attribute]) -> str:
    return ", ".join(str(type_) for type_ in types) or "none"
