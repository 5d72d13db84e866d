"""Reads and writes of slices of memory, which may reach beyond its bounds.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    IndexType,
    MemRefType,
    TensorType,
    i1,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.shapes import AnyVector, as_vector, bits_of, vector_type, verify_type
from xtile.dialects.upstream import completes
from xtile.dialects.vector.gathers import MEMREF_OR_TENSOR
from xtile.dialects.vector.types import MASK, VECTOR, Dimension, dimensions_of, make_vector

AnyShaped = MemRefType | TensorType
Transfer = vector.TransferReadOp | vector.TransferWriteOp
_Properties = Mapping[str, Attribute]


@completes(operands={"source": MEMREF_OR_TENSOR, "mask": MASK}, results={"result": VECTOR})
class TransferReadOp(vector.TransferReadOp):
    """Reads a slice of memory into a vector; `padding` stands for what is outside or masked.

    ```
    %v = vector.transfer_read %memory[%i, %j], %padding {in_bounds = [true, false],
        permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<4x8xf32>
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> TransferReadOp:
        source = parser.parse_unresolved_operand()
        indices = _parse_indices(parser)
        parser.parse_punctuation(",")
        padding = parser.parse_unresolved_operand()
        mask = _parse_optional_operand(parser)
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        parser.parse_punctuation(":")
        shaped = parser.parse_type()
        parser.parse_punctuation(",")
        moved = parser.parse_type()
        shaped, moved = _checked_types(parser, shaped, moved, start)
        properties, others = _split(parser, attributes, shaped, moved, start)
        operands = [
            [parser.resolve_operand(source, shaped)],
            [parser.resolve_operand(index, IndexType()) for index in indices],
            [parser.resolve_operand(padding, shaped.element_type)],
            _resolve_mask(parser, mask, moved, properties, start),
        ]
        return cls.build(
            operands=operands, result_types=[moved], properties=properties, attributes=others
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_slice(printer, self.source, self.indices)
        printer.print_string(", ")
        printer.print_operand(self.padding)
        _print_rest(printer, self, (self.source.type, self.result.type))

    @override
    def verify_(self) -> None:
        shaped = shaped_type(self.source)
        _verify_transfer(self, shaped, vector_type(self.result), self.source, len(self.indices))
        verify_type(self.padding.type, shaped.element_type, "the padding")


@completes(operands={"vector": VECTOR, "source": MEMREF_OR_TENSOR, "mask": MASK})
class TransferWriteOp(vector.TransferWriteOp):
    """Writes a vector to a slice of memory, but not to what is outside or masked.

    On a tensor the result is the tensor with the slice in it.

    ```
    vector.transfer_write %v, %memory[%i, %j], %mask {in_bounds = [true, true]}
        : vector<4x8xf32>, memref<?x?xf32>
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> TransferWriteOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        source = parser.parse_unresolved_operand()
        indices = _parse_indices(parser)
        mask = _parse_optional_operand(parser)
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        parser.parse_punctuation(":")
        moved = parser.parse_type()
        parser.parse_punctuation(",")
        shaped = parser.parse_type()
        shaped, moved = _checked_types(parser, shaped, moved, start)
        properties, others = _split(parser, attributes, shaped, moved, start)
        operands = [
            [parser.resolve_operand(value, moved)],
            [parser.resolve_operand(source, shaped)],
            [parser.resolve_operand(index, IndexType()) for index in indices],
            _resolve_mask(parser, mask, moved, properties, start),
        ]
        results = [shaped] if isinstance(shaped, TensorType) else []
        return cls.build(
            operands=operands, result_types=[results], properties=properties, attributes=others
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.vector)
        printer.print_string(", ")
        _print_slice(printer, self.source, self.indices)
        _print_rest(printer, self, (self.vector.type, self.source.type))

    @override
    def verify_(self) -> None:
        shaped = shaped_type(self.source)
        _verify_transfer(self, shaped, vector_type(self.vector), self.source, len(self.indices))
        if any(isinstance(each, AffineConstantExpr) for each in self.permutation_map.data.results):
            raise VerifyException("a write cannot repeat elements: no constants in its map")
        if self.result is None:
            if isinstance(shaped, TensorType):
                raise VerifyException(f"a write to a tensor has a result of type {shaped}")
        else:
            verify_type(self.result.type, shaped, "the result")


def shaped_type(value: SSAValue) -> AnyShaped:
    """Returns the type of a memref or tensor.

    Raises:
        VerifyException: The value is neither.
    """
    type = value.type
    if not isa(type, AnyShaped):
        raise VerifyException(f"expected a memref or a tensor of known rank, got {type}")
    return type


def transfer_mask_type(moved: AnyVector, map: AffineMap) -> AnyVector:
    """Returns the type of a transfer's mask: the slice in memory before it is permuted.

    Raises:
        VerifyException: The map is no permutation.
    """
    verify_permutation(map)
    dimensions = dict(zip(_positions(map), dimensions_of(moved), strict=False))
    slice_ = [
        dimensions[position]
        for position in sorted(position for position in dimensions if position >= 0)
    ]
    return make_vector(i1, slice_ or [Dimension(1, is_scalable=False)])


def _positions(map: AffineMap) -> list[int]:
    """Returns the dimension of memory for each of the vector; below 0 where it is repeated."""
    return [
        result.position if isinstance(result, AffineDimExpr) else -1 - position
        for position, result in enumerate(map.results)
    ]


def verify_permutation(map: AffineMap) -> None:
    """Checks that the results of a map are different dimensions or 0.

    Raises:
        VerifyException: They are not.
    """
    seen: set[int] = set()
    for result in map.results:
        if isinstance(result, AffineDimExpr):
            if result.position in seen:
                raise VerifyException(f"the map uses d{result.position} more than once")
            seen.add(result.position)
        elif result != AffineConstantExpr(0):
            raise VerifyException(f"the results of the map must be dimensions or 0, got {result}")


def _verify_transfer(
    operation: Transfer, shaped: AnyShaped, moved: AnyVector, source: SSAValue, indices: int
) -> None:
    rank = shaped.get_num_dims()
    if indices != rank:
        raise VerifyException(f"expected {rank} indices for {shaped}, got {indices}")
    map = operation.permutation_map.data
    transferred = _verify_elements(shaped, moved)
    if len(map.results) != transferred:
        raise VerifyException(f"expected {transferred} results of the map, got {len(map.results)}")
    if map.num_symbols:
        raise VerifyException(f"expected a map without symbols, got {map}")
    if map.num_dims != rank:
        raise VerifyException(f"expected {rank} dimensions of the map, got {map.num_dims}")
    if operation.mask is not None:
        if as_vector(shaped.element_type) is not None:
            raise VerifyException(f"a transfer of vectors has no mask, got {source.type}")
        verify_type(operation.mask.type, transfer_mask_type(moved, map), "the mask")
    if len(operation.in_bounds) != transferred:
        raise VerifyException(
            f"expected {transferred} entries of in_bounds, got {len(operation.in_bounds)}"
        )
    verify_permutation(map)


def _verify_elements(shaped: AnyShaped, moved: AnyVector) -> int:
    """Checks that elements fit each other; returns how many dimensions a transfer has."""
    held = as_vector(shaped.element_type)
    element = shaped.element_type if held is None else held.element_type
    row = bits_of(moved.element_type) * (moved.get_shape() or (1,))[-1]
    unit = bits_of(element) * (1 if held is None else (held.get_shape() or (1,))[-1])
    if row % unit:
        raise VerifyException(
            f"a row of {moved} has {row} bits, but must have a multiple of {unit} for {shaped}"
        )
    rank = moved.get_num_dims()
    if held is None:
        return rank
    if held.get_num_dims() > rank:
        raise VerifyException(f"expected at least the dimensions of {held}, got {moved}")
    return rank - held.get_num_dims()


def _default_map(shaped: AnyShaped, moved: AnyVector) -> AffineMap | None:
    """Returns the map to the last dimensions; None if memory has too few."""
    held = as_vector(shaped.element_type)
    rank = moved.get_num_dims() - (0 if held is None else held.get_num_dims())
    if not 0 <= rank <= shaped.get_num_dims():
        return None
    return AffineMap.minor_identity(shaped.get_num_dims(), rank)


def _parse_indices(parser: Parser) -> list[UnresolvedOperand]:
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )


def _parse_optional_operand(parser: Parser) -> UnresolvedOperand | None:
    if parser.parse_optional_punctuation(",") is None:
        return None
    return parser.parse_unresolved_operand()


def _checked_types(
    parser: Parser, shaped: Attribute, moved: Attribute, start: int
) -> tuple[AnyShaped, AnyVector]:
    """Returns the types of a transfer's text as what they must be."""
    if not isa(shaped, AnyShaped):
        parser.raise_error(
            f"expected a memref or a tensor of known rank, got {shaped}", start, parser.pos
        )
    value = as_vector(moved)
    if value is None:
        parser.raise_error(f"expected a vector, got {moved}", start, parser.pos)
    return shaped, value


def _split(
    parser: Parser,
    attributes: Mapping[str, Attribute],
    shaped: AnyShaped,
    moved: AnyVector,
    start: int,
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Returns the properties, by default if they are not given, and the other attributes."""
    others = dict(attributes)
    map = others.pop("permutation_map", None)
    if map is None:
        known = _default_map(shaped, moved)
        if known is None:
            parser.raise_error(
                f"a permutation_map must say how {moved} lies in {shaped}", start, parser.pos
            )
        map = AffineMapAttr(known)
    if not isinstance(map, AffineMapAttr):
        parser.raise_error(f"the permutation_map must be an affine map, got {map}", start)
    unknown = ArrayAttr([BoolAttr.from_bool(False)] * len(map.data.results))
    in_bounds = others.pop("in_bounds", unknown)
    return {"permutation_map": map, "in_bounds": in_bounds}, others


def _resolve_mask(
    parser: Parser,
    mask: UnresolvedOperand | None,
    moved: AnyVector,
    properties: _Properties,
    start: int,
) -> list[SSAValue]:
    """Returns the mask, whose type the text leaves out."""
    if mask is None:
        return []
    map = cast(AffineMapAttr, properties["permutation_map"]).data
    if len(map.results) != moved.get_num_dims():
        parser.raise_error(
            f"the map must have a result for each dimension of {moved} that is masked, got {map}",
            start,
            parser.pos,
        )
    return [parser.resolve_operand(mask, transfer_mask_type(moved, map))]


def _print_slice(printer: Printer, source: SSAValue, indices: tuple[SSAValue, ...]) -> None:
    printer.print_operand(source)
    printer.print_string("[")
    printer.print_list(indices, printer.print_operand)
    printer.print_string("]")


def _print_rest(printer: Printer, operation: Transfer, types: tuple[Attribute, ...]) -> None:
    """Prints the mask, the attributes that are not as by default, and the types."""
    if operation.mask is not None:
        printer.print_string(", ")
        printer.print_operand(operation.mask)
    shown = dict(operation.attributes)
    if not operation.permutation_map.data.is_minor_identity():
        shown["permutation_map"] = operation.permutation_map
    if any(each.value.data for each in operation.in_bounds):
        shown["in_bounds"] = operation.in_bounds
    printer.print_op_attributes(shown)
    printer.print_string(" : ")
    printer.print_list(types, printer.print_attribute)
