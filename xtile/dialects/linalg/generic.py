"""Operations that say themselves what they compute or where: `generic`, `map`, `reduce` and others.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR/LinalgStructuredOps.td` and `LinalgOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, cast

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr, i64
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.linalg.assembly import (
    MAPS,
    SEGMENTS,
    parse_group,
    parse_results,
    print_group,
    print_results,
    shown,
    tensors,
)
from xtile.dialects.linalg.structure import element_type, verify
from xtile.dialects.upstream import completes

_ITERATORS = "iterator_types"
_OF_GENERIC = ("doc", MAPS, _ITERATORS, "library_call")
_NEUTRAL = ("#arith.fastmath<none>", "#arith.overflow<none>")
"""Attributes that say nothing, which the short form of a body leaves out."""


@completes()
class GenericOp(ops.GenericOp):
    """Runs its body for all numbers of its loops, on the elements that its maps say.

    ```
    linalg.generic {indexing_maps = [#a, #b], iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %in, %out : f32
      linalg.yield %0 : f32
    }
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        given = dict(parser.parse_optional_attr_dict())
        missing = [name for name in (MAPS, _ITERATORS) if name not in given]
        if missing:
            parser.raise_error(f"linalg.generic needs {missing[0]}", position, parser.pos)
        given[_ITERATORS] = _iterator_types(parser, given[_ITERATORS], position)
        inputs, outputs = parse_group(parser, "ins"), parse_group(parser, "outs")
        attributes: Mapping[str, Attribute] = {}
        if parser.parse_optional_keyword("attrs") is not None:
            parser.parse_punctuation("=")
            attributes = parser.parse_optional_attr_dict()
        body = parser.parse_region()
        properties = {name: given.pop(name) for name in _OF_GENERIC if name in given}
        return cls.build(
            operands=[inputs, outputs],
            result_types=[parse_results(parser)],
            properties=properties,
            attributes={**given, **attributes},
            regions=[body],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        iterators = ArrayAttr(StringAttr(str(each.data)) for each in self.iterator_types)
        properties = {name: self.properties[name] for name in sorted(self.properties)}
        properties[_ITERATORS] = iterators
        printer.print_attr_dict(
            {name: properties[name] for name in _OF_GENERIC if name in properties}
        )
        print_group(printer, "ins", self.inputs)
        print_group(printer, "outs", self.outputs)
        if self.attributes:
            # Upstream prints two spaces here.
            printer.print_string(" attrs = ")
            printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body)
        print_results(printer, self.result_types)

    @override
    def verify_(self) -> None:
        verify(self)


def _iterator_types(parser: Parser, given: Attribute, position: int) -> ArrayAttr[IteratorTypeAttr]:
    """The kinds of loops, which the text gives as strings."""
    types: list[IteratorTypeAttr] = []
    known = [str(kind) for kind in IteratorType]
    for each in given if isa(given, ArrayAttr) else ():
        if isinstance(each, StringAttr) and each.data in known:
            types.append(IteratorTypeAttr(IteratorType(each.data)))
        elif isinstance(each, IteratorTypeAttr):
            types.append(each)
        else:
            parser.raise_error(f"a loop is one of {', '.join(known)}, not {each}", position)
    return ArrayAttr(types)


@completes()
class IndexOp(ops.IndexOp):
    """The number of a loop in the turn that the body is run for.

    ```
    linalg.generic {indexing_maps = [#a], iterator_types = ["parallel"]}
        outs(%a : memref<4xindex>) {
    ^bb0(%out: index):
      %0 = linalg.index 0 : index
      linalg.yield %0 : index
    }
    ```
    """

    traits = traits_def(Pure(), HasParent(ops.GenericOp))

    @override
    def verify_(self) -> None:
        around = self.parent_op()
        loops = len(around.iterator_types) if isinstance(around, ops.GenericOp) else 0
        if not 0 <= self.dim.value.data < loops:
            raise VerifyException(f"the number of a loop must be from 0 to {loops - 1}")


class _Body:
    """A body as text: in full, or as the name of the one operation that it is."""

    @staticmethod
    def parse_short(parser: Parser) -> tuple[type[Operation], Mapping[str, Attribute]] | None:
        """Reads `{ arith.addf }`, if it is there: the operation and its attributes."""
        if parser.parse_optional_punctuation("{") is None:
            return None
        position = parser.pos
        name = parser.parse_identifier()
        kind = parser.ctx.get_optional_op(name)
        if kind is None:
            parser.raise_error(f"Operation {name} is not registered", position, parser.pos)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("}")
        return kind, attributes

    @staticmethod
    def parse_full(parser: Parser) -> Region:
        """Reads `(%in: f32, %init: f32) { .. }`."""
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        return parser.parse_region(arguments)

    @staticmethod
    def of_operation(
        kind: type[Operation],
        attributes: Mapping[str, Attribute],
        types: Sequence[Attribute],
        order: Sequence[int],
    ) -> Region:
        """The body that is one operation on the arguments in some order."""
        block = Block(arg_types=types)
        known = cast("type[IRDLOperation]", kind).get_irdl_definition().properties
        defaults = {
            name: definition.default_value
            for name, definition in known.items()
            if definition.default_value is not None
        }
        operation = kind.create(
            operands=[block.args[number] for number in order],
            result_types=[types[-1]],
            properties={
                **defaults,
                **{name: value for name, value in attributes.items() if name in known},
            },
            attributes={name: value for name, value in attributes.items() if name not in known},
        )
        block.add_ops([operation, ops.YieldOp(operation.results[0])])
        return Region([block])

    @staticmethod
    def is_short(block: Block, order: Sequence[int]) -> bool:
        """Whether a body is one operation on the arguments in this order."""
        operations = list(block.ops)
        if len(operations) != 2 or operations[0].regions:
            return False
        first, end = operations
        arguments = [block.args[number] for number in order]
        return (
            bool(arguments)
            and list(first.operands) == arguments
            and list(end.operands) == list(first.results)
        )

    @staticmethod
    def print_short(printer: Printer, block: Block) -> None:
        """Writes ` { arith.addf }`."""
        operation = block.first_op
        assert operation is not None
        printer.print_string(f" {{ {operation.name}")
        given = shown(operation, ())
        said = {name: value for name, value in given.items() if str(value) not in _NEUTRAL}
        if said:
            printer.print_op_attributes(said)
        printer.print_string(" }")

    @staticmethod
    def print_full(printer: Printer, region: Region) -> None:
        """Writes the body on lines of its own."""
        with printer.indented():
            printer.print_string("\n")
            with printer.in_parens():
                printer.print_list(region.block.args, printer.print_block_argument)
            printer.print_string(" ")
            printer.print_region(region, print_entry_block_args=False)


@op_definition
class MapOp(IRDLOperation):
    """Computes each element of a memref from those of others at the same position.

    ```
    linalg.map { arith.addf } ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.map"

    inputs = var_operand_def()
    init = operand_def()
    result = var_result_def()
    mapper = region_def("single_block")

    def __init__(self, inputs: Sequence[SSAValue], init: SSAValue, mapper: Region) -> None:
        super().__init__(operands=[inputs, init], result_types=[tensors([init])], regions=[mapper])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        short = _Body.parse_short(parser)
        inputs, outputs = parse_group(parser, "ins"), parse_group(parser, "outs")
        if len(outputs) != 1:
            parser.raise_error("linalg.map has one output")
        attributes = parser.parse_optional_attr_dict()
        if short is None:
            body = _Body.parse_full(parser)
        else:
            types = [element_type(value) for value in (*inputs, *outputs)]
            body = _Body.of_operation(*short, types, range(len(inputs)))
        operation = cls(inputs, outputs[0], body)
        operation.attributes |= attributes
        return operation

    @override
    def print(self, printer: Printer) -> None:
        is_short = _Body.is_short(self.mapper.block, range(len(self.inputs)))
        if is_short:
            _Body.print_short(printer, self.mapper.block)
        print_group(printer, "ins", self.inputs)
        print_group(printer, "outs", [self.init])
        printer.print_op_attributes(self.attributes)
        if not is_short:
            _Body.print_full(printer, self.mapper)

    @override
    def verify_(self) -> None:
        verify(self)


@completes()
class ReduceOp(ops.ReduceOp):
    """Combines the elements along some dimensions with those of the output.

    ```
    linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%b : memref<4xf32>) dimensions = [1]
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        short = _Body.parse_short(parser)
        source, target = _parse_pair(parser, cls.name)
        dimensions = _parse_numbers(parser, "dimensions")
        attributes = parser.parse_optional_attr_dict()
        if short is None:
            body = _Body.parse_full(parser)
        else:
            types = [element_type(value) for value in (source, target)]
            body = _Body.of_operation(*short, types, (1, 0))
        operation = cls(source, target, dimensions, body)
        operation.attributes |= attributes
        return operation

    @override
    def print(self, printer: Printer) -> None:
        is_short = _Body.is_short(self.region.block, (1, 0))
        if is_short:
            _Body.print_short(printer, self.region.block)
        _print_pair(printer, self, "dimensions", self.dimensions)
        if not is_short:
            _Body.print_full(printer, self.region)

    @override
    def verify_(self) -> None:
        rank = len(cast("Any", self.input.type).get_shape())
        dimensions = list(self.dimensions.get_values())
        _verify_dimensions(dimensions, rank)
        if dimensions != sorted(set(dimensions)):
            raise VerifyException(f"dimensions must be in increasing order, got {dimensions}")
        verify(self)


@completes()
class TransposeOp(ops.TransposeOp):
    """Copies with the dimensions in another order: dimension i is dimension permutation[i] before.

    ```
    linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) permutation = [1, 0]
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        source, target = _parse_pair(parser, cls.name)
        operation = cls(source, target, _parse_numbers(parser, "permutation"))
        operation.attributes |= parser.parse_optional_attr_dict()
        return operation

    @override
    def print(self, printer: Printer) -> None:
        _print_pair(printer, self, "permutation", self.permutation)

    @override
    def verify_(self) -> None:
        permutation = list(self.permutation.get_values())
        rank = len(cast("Any", self.outputs[0].type).get_shape())
        if sorted(permutation) != list(range(rank)):
            raise VerifyException(f"{permutation} is no permutation of {rank} dimensions")
        verify(self)


@completes()
class BroadcastOp(ops.BroadcastOp):
    """Copies along dimensions that the input does not have.

    ```
    linalg.broadcast ins(%a : memref<8xf32>) outs(%b : memref<4x8xf32>) dimensions = [0]
    ```
    """

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        source, target = _parse_pair(parser, cls.name)
        operation = cls(source, target, _parse_numbers(parser, "dimensions"))
        operation.attributes |= parser.parse_optional_attr_dict()
        return operation

    @override
    def print(self, printer: Printer) -> None:
        _print_pair(printer, self, "dimensions", self.dimensions)

    @override
    def verify_(self) -> None:
        rank = len(cast("Any", self.init.type).get_shape())
        dimensions = list(self.dimensions.get_values())
        _verify_dimensions(dimensions, rank)
        verify(self)


def _verify_dimensions(dimensions: Sequence[int], rank: int) -> None:
    if any(not 0 <= each < rank for each in dimensions):
        raise VerifyException(f"dimensions must be from 0 to {rank - 1}, got {dimensions}")


def _parse_pair(parser: Parser, name: str) -> tuple[SSAValue, SSAValue]:
    """Reads one input and one output."""
    inputs, outputs = parse_group(parser, "ins"), parse_group(parser, "outs")
    if len(inputs) != 1 or len(outputs) != 1:
        parser.raise_error(f"{name} has one input and one output here")
    return inputs[0], outputs[0]


def _parse_numbers(parser: Parser, keyword: str) -> DenseArrayBase:
    """Reads `dimensions = [0, 1]`."""
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return DenseArrayBase.from_list(i64, numbers)


def _print_pair(
    printer: Printer, operation: Operation, keyword: str, numbers: DenseArrayBase
) -> None:
    source, target = operation.operands
    print_group(printer, "ins", [source])
    print_group(printer, "outs", [target])
    # Upstream prints the space behind it, too.
    values = ", ".join(map(str, cast("Any", numbers).get_values()))
    printer.print_string(f" {keyword} = [{values}] ")
    attributes = shown(operation, (keyword, SEGMENTS))
    if attributes:
        printer.print_attr_dict(dict(attributes))


OPERATIONS: list[type[Operation]] = [
    BroadcastOp,
    GenericOp,
    IndexOp,
    MapOp,
    ReduceOp,
    TransposeOp,
    ops.YieldOp,
]
"""The operations of this module."""
