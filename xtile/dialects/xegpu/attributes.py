"""The dialect's attributes, apart from the layouts.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUAttrs.td`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, i1, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.definitions import check_parameters
from xtile.dialects.xegpu.assembly import parse_struct, print_struct


class MemorySpace(StrEnum):
    """Where the memory of a descriptor is."""

    GLOBAL = "global"
    SLM = "slm"


class CachePolicy(StrEnum):
    """What a cache does with the data of an access."""

    CACHED = "cached"
    UNCACHED = "uncached"
    STREAMING = "streaming"
    READ_INVALIDATE = "read_invalidate"
    WRITE_BACK = "write_back"
    WRITE_THROUGH = "write_through"


class FenceScope(StrEnum):
    """Who observes memory in the order that a fence sets."""

    WORKGROUP = "workgroup"
    GPU = "gpu"


MEMORY_SPACE_NUMBERS = {MemorySpace.GLOBAL: 0, MemorySpace.SLM: 3}
"""The number of each memory space, as a memref's memory space may give it."""

READ_POLICIES = (
    CachePolicy.CACHED,
    CachePolicy.UNCACHED,
    CachePolicy.STREAMING,
    CachePolicy.READ_INVALIDATE,
)
"""The cache policies of loads and prefetches."""

WRITE_POLICIES = (
    CachePolicy.CACHED,
    CachePolicy.UNCACHED,
    CachePolicy.WRITE_BACK,
    CachePolicy.WRITE_THROUGH,
)
"""The cache policies of stores."""


@irdl_attr_definition
class MemorySpaceAttr(EnumAttribute[MemorySpace], SpacedOpaqueSyntaxAttribute):
    """A memory space: `#xegpu<memory_space slm>`."""

    name = "xegpu.memory_space"


@irdl_attr_definition
class FenceScopeAttr(EnumAttribute[FenceScope], SpacedOpaqueSyntaxAttribute):
    """A fence's scope: `#xegpu<fence_scope workgroup>`."""

    name = "xegpu.fence_scope"


@irdl_attr_definition
class CachePolicyAttr(EnumAttribute[CachePolicy]):
    """A cache policy: `#xegpu.cache_hint<streaming>`."""

    name = "xegpu.cache_hint"

    @override
    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> CachePolicy:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(CachePolicy)


@irdl_attr_definition
class BlockTensorDescAttr(ParametrizedAttribute):
    """How the block of a descriptor is accessed; a parameter that is not given has its default.

    `#xegpu.block_tdesc_attr<memory_space =  slm, array_length = 2 : i64, boundary_check = false>`
    """

    name = "xegpu.block_tdesc_attr"

    memory_space: MemorySpaceAttr
    array_length: IntegerAttr
    """How many horizontally consecutive blocks one load fetches."""
    boundary_check: IntegerAttr
    """Whether accesses outside of the memory region are checked by the hardware."""

    def __init__(
        self,
        memory_space: MemorySpace = MemorySpace.GLOBAL,
        array_length: int = 1,
        boundary_check: bool = True,
    ) -> None:
        super().__init__(
            MemorySpaceAttr(memory_space),
            IntegerAttr(array_length, i64),
            IntegerAttr.from_bool(boundary_check),
        )

    @property
    def fields(self) -> dict[str, Attribute]:
        """The parameters by name."""
        return {
            "memory_space": self.memory_space,
            "array_length": self.array_length,
            "boundary_check": self.boundary_check,
        }

    @property
    def is_boundary_checked(self) -> bool:
        """Whether accesses outside of the memory region are checked by the hardware."""
        # xDSL stores true as 1 or -1.
        return self.boundary_check.value.data != 0

    @property
    def has_defaults_only(self) -> bool:
        """Whether every parameter has its default."""
        return (
            self.memory_space.data is MemorySpace.GLOBAL
            and self.array_length.value.data == 1
            and self.is_boundary_checked
        )

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        given = parse_struct(
            parser,
            {
                "memory_space": _parse_memory_space,
                "array_length": _parse_integer,
                "boundary_check": _parse_integer,
            },
        )
        parameters = {**BlockTensorDescAttr().fields, **given}
        return check_parameters(parser, start, cls, tuple(parameters.values()))

    @override
    def print_parameters(self, printer: Printer) -> None:
        _print_fields(printer, self.fields, BlockTensorDescAttr().fields)

    @override
    def verify(self) -> None:
        if self.boundary_check.type != i1:
            raise VerifyException(
                f"boundary_check is {self.boundary_check}; it must be true or false"
            )


@irdl_attr_definition
class ScatterTensorDescAttr(ParametrizedAttribute):
    """How the points of a scattered descriptor are accessed.

    `#xegpu.scatter_tdesc_attr<memory_space =  slm, chunk_size = 8 : i64>`
    """

    name = "xegpu.scatter_tdesc_attr"

    memory_space: MemorySpaceAttr
    chunk_size: IntegerAttr
    """How many contiguous elements are accessed at each offset."""

    def __init__(self, memory_space: MemorySpace = MemorySpace.GLOBAL, chunk_size: int = 1) -> None:
        super().__init__(MemorySpaceAttr(memory_space), IntegerAttr(chunk_size, i64))

    @property
    def fields(self) -> dict[str, Attribute]:
        """The parameters by name."""
        return {"memory_space": self.memory_space, "chunk_size": self.chunk_size}

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        start = parser.pos
        given = parse_struct(
            parser, {"memory_space": _parse_memory_space, "chunk_size": _parse_integer}
        )
        parameters = {**ScatterTensorDescAttr().fields, **given}
        return check_parameters(parser, start, cls, tuple(parameters.values()))

    @override
    def print_parameters(self, printer: Printer) -> None:
        _print_fields(printer, self.fields, ScatterTensorDescAttr().fields)

    @override
    def verify(self) -> None:
        if self.chunk_size.type == i1 or self.chunk_size.value.data <= 0:
            raise VerifyException(f"chunk_size is {self.chunk_size}; it must be at least 1")


@irdl_attr_definition
class RangeAttr(ParametrizedAttribute):
    """The half-open range from `start` to `end`: `#xegpu.range<[2 : i64, 4 : i64]>`."""

    name = "xegpu.range"

    start: IntegerAttr
    end: IntegerAttr

    def __init__(self, start: int, end: int) -> None:
        super().__init__(IntegerAttr(start, i64), IntegerAttr(end, i64))

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        position = parser.pos
        with parser.in_angle_brackets(), parser.in_square_brackets():
            start = _parse_integer(parser)
            parser.parse_punctuation(",")
            end = _parse_integer(parser)
        return check_parameters(parser, position, cls, (start, end))

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets(), printer.in_square_brackets():
            printer.print_list((self.start, self.end), printer.print_attribute)

    @override
    def verify(self) -> None:
        start, end = self.start.value.data, self.end.value.data
        if start >= end:
            raise VerifyException(f"the range ends at {end}; it must end after its start {start}")


@irdl_attr_definition
class MemLayoutAttr(ParametrizedAttribute):
    """How the elements of a matrix lie in shared local memory.

    `#xegpu.mem_layout<block = [8, 8], stride = [1, 128]>`
    """

    name = "xegpu.mem_layout"

    attrs: DictionaryAttr

    def __init__(
        self, stride: Sequence[int] | None = None, block: Sequence[int] | None = None
    ) -> None:
        given = {"stride": stride, "block": block}
        super().__init__(
            DictionaryAttr(
                {
                    name: ArrayAttr(IntegerAttr(number, i64) for number in numbers)
                    for name, numbers in given.items()
                    if numbers is not None
                }
            )
        )

    @property
    def stride(self) -> tuple[int, ...] | None:
        """The distance of neighbours in each dimension, in elements; None if not given."""
        return self._numbers("stride")

    @property
    def block(self) -> tuple[int, ...] | None:
        """The shape of the contiguous blocks; None if not given."""
        return self._numbers("block")

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        position = parser.pos
        entries: dict[str, Attribute] = {}

        def parse_entry() -> None:
            start = parser.pos
            name = parser.parse_identifier()
            if name in entries:
                message = f"parameter '{name}' is given twice; it may be given once"
                parser.raise_error(message, start, start + len(name))
            parser.parse_punctuation("=")
            entries[name] = parser.parse_attribute()

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_entry)
        return check_parameters(parser, position, cls, (DictionaryAttr(entries),))

    @override
    def print_parameters(self, printer: Printer) -> None:
        entries = dict(sorted(self.attrs.data.items()))
        print_struct(printer, entries, lambda value: _print_entry(printer, value))

    @override
    def verify(self) -> None:
        if not self.attrs.data:
            raise VerifyException("the layout is empty; give it a stride or a block")
        for name in ("stride", "block"):
            value = self.attrs.data.get(name)
            if value is not None and not isa(value, ArrayAttr[IntegerAttr]):
                raise VerifyException(
                    f"{name} is {value}; it must be a list of integers such as [16, 1]"
                )

    def _numbers(self, name: str) -> tuple[int, ...] | None:
        value = self.attrs.data.get(name)
        if not isa(value, ArrayAttr[IntegerAttr]):
            return None
        return tuple(item.value.data for item in value)


ATTRIBUTES: list[type[Attribute]] = [
    MemorySpaceAttr,
    FenceScopeAttr,
    CachePolicyAttr,
    BlockTensorDescAttr,
    ScatterTensorDescAttr,
    RangeAttr,
    MemLayoutAttr,
]
"""Every attribute of this module."""


def _parse_integer(parser: AttrParser) -> Attribute:
    start = parser.pos
    value = parser.parse_attribute()
    if not isa(value, IntegerAttr):
        parser.raise_error(f"expected an integer, but got {value}", start, parser.pos)
    return value


def _parse_memory_space(parser: AttrParser) -> Attribute:
    start = parser.pos
    value = parser.parse_optional_attribute() if _is_at_hash(parser) else None
    if value is None:
        return MemorySpaceAttr(parser.parse_str_enum(MemorySpace))
    if not isinstance(value, MemorySpaceAttr):
        parser.raise_error(f"expected a memory space, but got {value}", start, parser.pos)
    return value


def _is_at_hash(parser: AttrParser) -> bool:
    return parser.lexer.input.content.startswith("#", parser.pos)


def _print_fields(
    printer: Printer, fields: dict[str, Attribute], defaults: dict[str, Attribute]
) -> None:
    """Prints the fields that do not have their default."""
    given = {name: value for name, value in fields.items() if value != defaults[name]}
    print_struct(printer, given, lambda value: _print_field(printer, value))


def _print_field(printer: Printer, value: Attribute) -> None:
    if isinstance(value, MemorySpaceAttr):
        # Upstream's enumerations print a space of their own before the value.
        printer.print_string(f" {value.data.value}")
    else:
        printer.print_attribute(value)


def _print_entry(printer: Printer, value: Attribute) -> None:
    """Prints an entry of a memory layout, whose lists leave out the type i64."""
    if not isa(value, ArrayAttr[IntegerAttr]):
        printer.print_attribute(value)
        return
    with printer.in_square_brackets():
        printer.print_list(value, lambda item: _print_number(printer, item))


def _print_number(printer: Printer, number: IntegerAttr) -> None:
    if number.type == i64:
        printer.print_int(number.value.data)
    else:
        printer.print_attribute(number)
