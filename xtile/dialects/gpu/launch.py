"""Launches of device code that stands in the host's.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

# Operands are named as upstream names them.
# ruff: noqa: N815

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    FlatSymbolRefAttr,
    IndexType,
    IntegerAttr,
    SymbolRefAttr,
    i32,
    i64,
)
from xdsl.dialects.gpu import AsyncTokenType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.gpu.attributions import (
    Arguments,
    parse_attributions,
    print_attributions,
    verify_attributions,
)
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.gpu.functions import WORKGROUP_ATTRIBUTIONS
from xtile.text.extensions import generic_elsewhere


@generic_elsewhere
@op_definition
class LaunchOp(IRDLOperation):
    """Launches the device code in its body.

    The arguments of the body are three each of the block ids, thread ids, grid sizes, block sizes
    and, where given, cluster ids and cluster sizes; then the buffers in workgroup memory and those
    in private memory.

    ```
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
      gpu.terminator
    }
    ```
    """

    name = "gpu.launch"

    asyncDependencies = var_operand_def(AsyncTokenType())
    gridSizeX = operand_def(IndexType())
    gridSizeY = operand_def(IndexType())
    gridSizeZ = operand_def(IndexType())
    blockSizeX = operand_def(IndexType())
    blockSizeY = operand_def(IndexType())
    blockSizeZ = operand_def(IndexType())
    clusterSizeX = opt_operand_def(IndexType())
    clusterSizeY = opt_operand_def(IndexType())
    clusterSizeZ = opt_operand_def(IndexType())
    dynamicSharedMemorySize = opt_operand_def(i32)
    module = opt_prop_def(FlatSymbolRefAttr)
    function = opt_prop_def(FlatSymbolRefAttr)
    workgroup_attributions = opt_attr_def(IntegerAttr)
    asyncToken = opt_result_def(AsyncTokenType())
    body = region_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def has_clusters(self) -> bool:
        """Whether the blocks are grouped in clusters."""
        return self.clusterSizeX is not None

    @property
    def index_arguments(self) -> Sequence[BlockArgument]:
        """The ids and sizes, 12 or with clusters 18."""
        return self.body.blocks[0].args[: self._index_count]

    @property
    def workgroup_buffers(self) -> Sequence[BlockArgument]:
        """The attributions in workgroup memory."""
        start = self._index_count
        return self.body.blocks[0].args[start : start + self._workgroup_count]

    @property
    def private_buffers(self) -> Sequence[BlockArgument]:
        """The attributions in private memory."""
        return self.body.blocks[0].args[self._index_count + self._workgroup_count :]

    @property
    def _index_count(self) -> int:
        return 18 if self.has_clusters else 12

    @property
    def _workgroup_count(self) -> int:
        count = self.workgroup_attributions
        return 0 if count is None else count.value.data

    @classmethod
    @override
    def parse(cls, parser: Parser) -> LaunchOp:
        has_token, dependencies = _parse_async(parser)
        clusters: _Assignment | None = None
        if parser.parse_optional_keyword("clusters") is not None:
            clusters = _Assignment.parse(parser)
        parser.parse_keyword("blocks")
        blocks = _Assignment.parse(parser)
        parser.parse_keyword("threads")
        threads = _Assignment.parse(parser)
        memory: SSAValue | None = None
        if parser.parse_optional_keyword("dynamic_shared_memory_size") is not None:
            memory = parser.resolve_operand(parser.parse_unresolved_operand(), i32)
        symbols = {name: _parse_symbol(parser, name) for name in ("module", "function")}
        workgroup = parse_attributions(parser, "workgroup")
        private = parse_attributions(parser, "private")
        arguments = [*blocks.ids, *threads.ids, *blocks.names, *threads.names]
        if clusters is not None:
            arguments += [*clusters.ids, *clusters.names]
        body = parser.parse_region(
            [
                *(argument.resolve(IndexType()) for argument in arguments),
                *_without_attributes(parser, workgroup),
                *_without_attributes(parser, private),
            ]
        )
        attributes = parser.parse_optional_attr_dict()
        return LaunchOp(
            operands=[
                dependencies,
                *blocks.sizes,
                *threads.sizes,
                *([None] * 3 if clusters is None else clusters.sizes),
                memory,
            ],
            properties={**symbols},
            attributes={
                **attributes,
                WORKGROUP_ATTRIBUTIONS: IntegerAttr(len(workgroup), i64),
            },
            regions=[body],
            result_types=[AsyncTokenType() if has_token else None],
        )

    @override
    def print(self, printer: Printer) -> None:
        if self.asyncToken is not None:
            printer.print_string(" async")
        if self.asyncDependencies:
            printer.print_string(" [")
            printer.print_list(self.asyncDependencies, printer.print_ssa_value)
            printer.print_string("]")
        arguments = self.index_arguments
        if self.clusterSizeX and self.clusterSizeY and self.clusterSizeZ:
            sizes = (self.clusterSizeX, self.clusterSizeY, self.clusterSizeZ)
            _print_assignment(printer, "clusters", arguments[12:15], arguments[15:18], sizes)
        sizes = (self.gridSizeX, self.gridSizeY, self.gridSizeZ)
        _print_assignment(printer, "blocks", arguments[0:3], arguments[6:9], sizes)
        sizes = (self.blockSizeX, self.blockSizeY, self.blockSizeZ)
        _print_assignment(printer, "threads", arguments[3:6], arguments[9:12], sizes)
        if self.dynamicSharedMemorySize is not None:
            printer.print_string(" dynamic_shared_memory_size ")
            printer.print_ssa_value(self.dynamicSharedMemorySize)
        for name, symbol in (("module", self.module), ("function", self.function)):
            if symbol is not None:
                printer.print_string(f" {name}(")
                printer.print_attribute(symbol)
                printer.print_string(")")
        print_attributions(printer, "workgroup", self.workgroup_buffers)
        print_attributions(printer, "private", self.private_buffers)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes, reserved_attr_names=(WORKGROUP_ATTRIBUTIONS,))

    @override
    def verify_(self) -> None:
        sizes = (self.clusterSizeX, self.clusterSizeY, self.clusterSizeZ)
        if len({size is None for size in sizes}) > 1:
            raise VerifyException("expected all 3 cluster sizes or none")
        if not self.body.blocks:
            return
        least = self._index_count + self._workgroup_count
        types = self.body.blocks[0].arg_types
        if len(types) < least:
            raise VerifyException(
                f"expected at least {least} arguments of the body, got {len(types)}"
            )
        verify_attributions(self.workgroup_buffers, AddressSpace.WORKGROUP)
        verify_attributions(self.private_buffers, AddressSpace.PRIVATE)
        for block in self.body.blocks:
            last = block.last_op
            if last is not None and not last.successors and not isinstance(last, TerminatorOp):
                raise VerifyException(
                    f"expected 'gpu.terminator' or a terminator with successors, got '{last.name}'"
                )


@generic_elsewhere
@op_definition
class TerminatorOp(IRDLOperation):
    """Ends the body of a `gpu.launch`.

    ```
    gpu.terminator
    ```
    """

    name = "gpu.terminator"

    assembly_format = "attr-dict"

    traits = traits_def(HasParent(LaunchOp), IsTerminator())


class _Assignment:
    """`(%id, %id, %id) in (%size = %value, %size = %value, %size = %value)`."""

    def __init__(
        self,
        ids: Sequence[Parser.UnresolvedArgument],
        names: Sequence[Parser.UnresolvedArgument],
        sizes: Sequence[SSAValue],
    ) -> None:
        self.ids = ids
        self.names = names
        self.sizes = sizes

    @staticmethod
    def parse(parser: Parser) -> _Assignment:
        start = parser.pos
        ids = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_keyword("in")
        sizes = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_size(parser)
        )
        if len(ids) != 3 or len(sizes) != 3:
            parser.raise_error(
                f"expected 3 ids and 3 sizes, got {len(ids)} and {len(sizes)}", start, parser.pos
            )
        return _Assignment(ids, [name for name, _ in sizes], [size for _, size in sizes])


def _parse_size(parser: Parser) -> tuple[Parser.UnresolvedArgument, SSAValue]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.resolve_operand(parser.parse_unresolved_operand(), IndexType())


def _print_assignment(
    printer: Printer,
    keyword: str,
    ids: Sequence[SSAValue],
    names: Sequence[SSAValue],
    sizes: Sequence[SSAValue],
) -> None:
    printer.print_string(f" {keyword}(")
    printer.print_list(ids, printer.print_ssa_value)
    printer.print_string(") in (")
    for index, (name, size) in enumerate(zip(names, sizes, strict=True)):
        if index:
            printer.print_string(", ")
        printer.print_ssa_value(name)
        printer.print_string(" = ")
        printer.print_ssa_value(size)
    printer.print_string(")")


def _parse_async(parser: Parser) -> tuple[bool, list[SSAValue]]:
    has_token = parser.parse_optional_keyword("async") is not None
    operands = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )
    return has_token, [
        parser.resolve_operand(operand, AsyncTokenType()) for operand in operands or ()
    ]


def _parse_symbol(parser: Parser, keyword: str) -> Attribute | None:
    if parser.parse_optional_keyword(keyword) is None:
        return None
    with parser.in_parens():
        return SymbolRefAttr(parser.parse_symbol_name())


def _without_attributes(parser: Parser, arguments: Arguments) -> list[Parser.Argument]:
    for _, attributes in arguments:
        if attributes:
            parser.raise_error("attributions of a gpu.launch have no attributes")
    return [argument for argument, _ in arguments]


OPERATIONS: list[type[Operation]] = [
    LaunchOp,
    TerminatorOp,
]
"""The operations of this module."""
