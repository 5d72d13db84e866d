"""What the warps of a program do apart from each other, and where they wait for each other.

Source: Triton 3.4 to 3.9, `TritonGPUOps.td` and `lib/Dialect/TritonGPU/IR/Ops.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    AnyAttr,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import print_attributes
from xtile.dialects.triton.module_attributes import WARPS, number
from xtile.dialects.triton.operation import Operand, TritonOperation
from xtile.dialects.triton.parser import TritonParser
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.ttg.constraints import I32_NUMBER, I32_NUMBERS
from xtile.dialects.triton.versions import V3_6, V3_7, Release


class AddrSpace(IntFlag):
    """The memory that a barrier orders."""

    NONE = 0
    LOCAL = 1
    GLOBAL_READ = 2
    GLOBAL_WRITE = 4
    TENSOR_READ = 8
    TENSOR_WRITE = 16
    ALL = 31


_LOCAL_BARRIER = "ttg.local_barrier"
"""What 3.6 calls the operation; it says no memory."""

_SPACES = {
    "none": AddrSpace.NONE,
    "local": AddrSpace.LOCAL,
    "global_read": AddrSpace.GLOBAL_READ,
    "global_write": AddrSpace.GLOBAL_WRITE,
    "tensor_read": AddrSpace.TENSOR_READ,
    "tensor_write": AddrSpace.TENSOR_WRITE,
    "all": AddrSpace.ALL,
}


@op_definition
class BarrierOp(TritonOperation):
    """All warps wait for each other, and see what all did to some memory before.

    Triton 3.6 has `ttg.local_barrier`, and releases before `gpu.barrier`. With `none` no memory is
    ordered: warps only wait.

    ```
    ttg.barrier local|global_write
    ```
    """

    name = "ttg.barrier"

    addrSpace = prop_def(I32_NUMBER)  # noqa: N815

    def __init__(self, spaces: AddrSpace) -> None:
        super().__init__(properties={"addrSpace": IntegerAttr(int(spaces), i32)})

    @property
    def spaces(self) -> AddrSpace:
        """The memory that it orders."""
        return AddrSpace(self.addrSpace.value.data)

    @override
    def migrate(self) -> None:
        # `ttg.local_barrier` of 3.6 does not say it.
        self.properties.setdefault("addrSpace", IntegerAttr(int(AddrSpace.LOCAL), i32))

    @override
    def name_in(self, release: Release) -> str:
        if release >= V3_7:
            return self.name
        is_local = release == V3_6 and self.spaces is AddrSpace.LOCAL
        return _LOCAL_BARRIER if is_local else "gpu.barrier"

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        names = list(_SPACES)
        is_local = isinstance(parser, TritonParser) and parser.given_name == _LOCAL_BARRIER
        expect = parser.parse_optional_keyword_in if is_local else parser.parse_keyword_in
        word = expect(names)
        spaces = None if word is None else _SPACES[word]
        while spaces is not None and parser.parse_optional_punctuation("|") is not None:
            start = parser.pos
            word = parser.parse_identifier()
            if word not in names:
                expected = ", ".join(names)
                parser.raise_error(f"expected one of {expected}", start, start + len(word))
            spaces |= _SPACES[word]
        attributes = parser.parse_optional_attr_dict()
        made = cls(AddrSpace.LOCAL if spaces is None else spaces)
        made.attributes.update(attributes)
        return made

    @override
    def print(self, printer: Printer) -> None:
        if release_of(printer) >= V3_7:
            printer.print_string(f" {_spelling(self.spaces)}")
        print_attributes(printer, self, ["addrSpace"])


def _spelling(spaces: AddrSpace) -> str:
    whole = [name for name, space in _SPACES.items() if space == spaces]
    parts = [name for name, space in _SPACES.items() if space.bit_count() == 1 and space in spaces]
    return whole[0] if whole else "|".join(parts)


@op_definition
class WarpIdOp(TritonOperation):
    """The number of the warp.

    ```
    %w = ttg.warp_id
    ```
    """

    name = "ttg.warp_id"
    SINCE: ClassVar[Release] = V3_7

    omitUniformHint = opt_prop_def(UnitAttr)  # noqa: N815
    result = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


@op_definition
class WarpSpecializeOp(TritonOperation):
    """Other warps run other regions beside the one that these warps run; all wait at the end.

    ```
    %0 = ttg.warp_specialize(%a)
    default {
      ttg.warp_yield %b : i32
    }
    partition0(%c: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> i32
    ```
    """

    name = "ttg.warp_specialize"

    explicitCaptures = var_operand_def(AnyAttr())  # noqa: N815
    partitionNumWarps = prop_def(I32_NUMBERS)  # noqa: N815
    warpGroupStartIds = opt_prop_def(I32_NUMBERS)  # noqa: N815
    requestedRegisters = opt_prop_def(I32_NUMBERS)  # noqa: N815
    actualRegisters = opt_prop_def(I32_NUMBERS)  # noqa: N815
    defaultPassthrough = var_result_def(AnyAttr())  # noqa: N815
    defaultRegion = region_def()  # noqa: N815
    partitionOpHolder = region_def("single_block")  # noqa: N815

    def __init__(
        self,
        captures: Sequence[Operand],
        default: Region,
        partitions: Sequence[Region],
        num_warps: Sequence[int],
        result_types: Sequence[Attribute] = (),
    ) -> None:
        holder = Region(Block([WarpSpecializePartitionsOp(captures, partitions)]))
        super().__init__(
            operands=[[]],
            regions=[default, holder],
            properties={"partitionNumWarps": DenseArrayBase.from_list(i32, num_warps)},
            result_types=[result_types],
        )

    @override
    def migrate(self) -> None:
        # Until 3.6 the operands stand here and not with the regions that take them.
        if self.operands and self.regions and (partitions := self.partitions) is not None:
            partitions.operands = [*self.operands]
            self.operands = []

    @property
    def partitions(self) -> WarpSpecializePartitionsOp | None:
        """The regions of the other warps."""
        block = self.regions[1].blocks.first if len(self.regions) > 1 else None
        found = None if block is None else block.first_op
        return found if isinstance(found, WarpSpecializePartitionsOp) else None

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        position = parser.pos
        captures = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_keyword("default")
        default = parser.parse_region()
        counts: list[int] = []
        regions: list[Region] = []
        while parser.parse_optional_keyword(f"partition{len(counts)}") is not None:
            arguments = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_argument
            )
            parser.parse_keyword("num_warps")
            with parser.in_parens():
                counts.append(parser.parse_integer())
            regions.append(parser.parse_region(arguments))
        parser.parse_punctuation(":")
        types = parser.parse_type()
        if not isinstance(types, FunctionType):
            parser.raise_error("expected a type such as (i32) -> i32")
        operands = _resolved(parser, captures, types, position)
        made = cls(operands, default, regions, counts, types.outputs.data)
        given: dict[str, Attribute] = {} if attributes is None else dict(attributes.data)
        for name, value in given.items():
            names = cls.get_irdl_definition().properties
            (made.properties if name in names else made.attributes)[name] = value
        return made

    @override
    def print(self, printer: Printer) -> None:
        partitions = self.partitions
        assert partitions is not None
        with printer.in_parens():
            printer.print_list(partitions.operands, printer.print_ssa_value)
        properties = {k: v for k, v in self.properties.items() if k != "partitionNumWarps"}
        printer.print_op_attributes(
            {**self.attributes, **properties}, reserved_attr_names=(), print_keyword=True
        )
        printer.print_string("\ndefault ")
        printer.print_region(self.defaultRegion)
        for index, (region, count) in enumerate(
            zip(partitions.regions, self.partitionNumWarps.get_values(), strict=True)
        ):
            printer.print_string(f"\npartition{index}")
            with printer.in_parens():
                printer.print_list(region.block.args, printer.print_block_argument)
            printer.print_string(f" num_warps({count}) ")
            printer.print_region(region, print_entry_block_args=False)
        printer.print_string(" : ")
        inputs = [operand.type for operand in partitions.operands]
        printer.print_attribute(FunctionType.from_lists(inputs, list(self.result_types)))

    @override
    def verify_(self) -> None:
        super().verify_()
        partitions = self.partitions
        if partitions is None:
            raise VerifyException("the second region holds ttg.warp_specialize.partitions")
        counts = [int(count) for count in self.partitionNumWarps.get_values()]
        if len(counts) != len(partitions.regions):
            raise VerifyException(
                f"there are {len(partitions.regions)} partitions, but the numbers of warps of "
                f"{len(counts)}"
            )
        if any(count < 1 or count & (count - 1) for count in counts):
            raise VerifyException(f"partitions have {counts} warps; these must be powers of two")
        starts = self.warpGroupStartIds
        if starts is not None and len(starts) != len(counts):
            raise VerifyException(
                f"warpGroupStartIds has {len(starts)} numbers; there are {len(counts)} partitions"
            )
        around = self.parent_op()
        while around is not None and not isinstance(around, ModuleOp):
            if isinstance(around, WarpSpecializeOp):
                raise VerifyException("ttg.warp_specialize cannot stand in another one")
            around = around.parent_op()
        warps = number(around, WARPS, 4)
        if warps % 4:
            raise VerifyException(
                f"{WARPS} is {warps}; it must be a multiple of 4 where warps have different tasks"
            )


def _resolved(
    parser: Parser, captures: Sequence[UnresolvedOperand], types: FunctionType, position: int
) -> Sequence[Operand]:
    return parser.resolve_operands(list(captures), list(types.inputs.data), position)


@op_definition
class WarpSpecializePartitionsOp(TritonOperation):
    """The regions of the other warps of `ttg.warp_specialize`, which use their own values only.

    ```
    %0 = ttg.warp_specialize(%a)
    default {
      ttg.warp_yield %b : i32
    }
    partition0(%c: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> i32
    ```
    """

    name = "ttg.warp_specialize.partitions"

    explicitCaptures = var_operand_def(AnyAttr())  # noqa: N815
    partitionRegions = var_region_def()  # noqa: N815

    traits = traits_def(IsolatedFromAbove(), IsTerminator(), HasParent(WarpSpecializeOp))

    def __init__(self, captures: Sequence[Operand], regions: Sequence[Region]) -> None:
        super().__init__(operands=[captures], regions=[list(regions)])

    @override
    def verify_(self) -> None:
        super().verify_()
        types = [operand.type for operand in self.operands]
        for index, region in enumerate(self.regions):
            given = [argument.type for argument in region.block.args]
            if given != types and self.operands:
                raise VerifyException(
                    f"partition {index} has {len(given)} arguments; it takes the values that "
                    f"ttg.warp_specialize names, which are {len(types)}, with their types"
                )


@op_definition
class WarpYieldOp(TritonOperation):
    """Ends the default region of `ttg.warp_specialize` with its results.

    ```
    %0 = ttg.warp_specialize(%a)
    default {
      ttg.warp_yield %b : i32
    }
    partition0(%c: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> i32
    ```
    """

    name = "ttg.warp_yield"

    values = var_operand_def(AnyAttr())

    traits = traits_def(Pure(), IsTerminator(), HasParent(WarpSpecializeOp))
    assembly_format = "($values^)? attr-dict (`:` type($values)^)?"

    def __init__(self, values: Sequence[Operand] = ()) -> None:
        super().__init__(operands=[values])

    @override
    def verify_(self) -> None:
        super().verify_()
        around = self.parent_op()
        expected = () if around is None else tuple(around.result_types)
        if tuple(value.type for value in self.values) != expected:
            raise VerifyException(
                f"{len(self.values)} values are given; ttg.warp_specialize has {len(expected)} "
                "results, whose types they have"
            )


@op_definition
class WarpReturnOp(TritonOperation):
    """Ends a partition of `ttg.warp_specialize`.

    ```
    %0 = ttg.warp_specialize(%a)
    default {
      ttg.warp_yield %b : i32
    }
    partition0(%c: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> i32
    ```
    """

    name = "ttg.warp_return"

    traits = traits_def(Pure(), IsTerminator(), HasParent(WarpSpecializePartitionsOp))
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


OPERATIONS: list[type[Operation]] = [
    BarrierOp,
    WarpIdOp,
    WarpSpecializeOp,
    WarpSpecializePartitionsOp,
    WarpYieldOp,
    WarpReturnOp,
]
"""Every operation of this module."""
