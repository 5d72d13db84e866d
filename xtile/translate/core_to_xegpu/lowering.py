"""What the rules of core to XeGPU share: types, values that become several, and small emitters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E8M0FNUType,
    FloatAttr,
    FloatTF32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.construction import made
from xtile.dialects.core.arguments import (
    ALIGNMENT_ATTRIBUTE,
    SHAPE_GCD_ATTRIBUTE,
    STRIDE_GCD_ATTRIBUTE,
)
from xtile.dialects.core.attributes import Level
from xtile.dialects.core.pointers import PointerType
from xtile.dialects.core.views import ViewOp
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.gpu.indices import LaneIdOp
from xtile.dialects.number_attributes import NARROW_FLOATS
from xtile.dialects.shapes import as_vector
from xtile.rewrite.facts import Facts, constant_of
from xtile.rewrite.indices import ArithBuilder, Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir_attributes import splat_constant
from xtile.text.source import Source
from xtile.translate.core_to_xegpu.fragments import Fragment, of_values, piece_types

if TYPE_CHECKING:
    from xtile.layouts.intel import VectorLayout

LOCAL_MEMORY_SPACE = IntegerAttr(3, i64)
"""Local memory as the lowering to LLVM knows it: address space 3, shared by a work-group."""

INDEX = IndexType()

DEFAULT_ALIGNMENT = 128
"""Bytes that the memory of a parameter is aligned to where nothing else is said."""


_MOST_COMPONENTS = 1 << 13
"""Components of a matrix that a lane holds, each of which is code: registers hold a sixteenth."""


@dataclass(frozen=True)
class Measure:
    """A size or a stride of a memref.

    Attributes:
        attribute: The attribute of a parameter that promises a divisor of it.
        dimension: The dimension.
    """

    attribute: str
    dimension: int


class Lowering(ArithBuilder):
    """Rebuilds kernels at subgroup level as XeGPU at lane level.

    A bf16 number becomes an i16 with its bits, because SPIR-V has no bf16 without an extension; a
    matrix becomes the vectors of a `Fragment`; every other value becomes one value.

    Args:
        rules: What becomes of each operation.
        target: What it is made for.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    SPREADS_VECTORS: ClassVar[bool] = True
    """Whether the lanes of a subgroup hold a vector together."""

    @property
    def has_lanes(self) -> bool:
        """Whether work-items are lanes of subgroups; otherwise they are subgroups."""
        return True

    def __init__(
        self,
        rules: RuleTable,
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, "XeGPU", source, diagnostics)
        self.target = target
        self.level = Level.SUBGROUP
        self.subgroup_size = target.chip.subgroup_size
        self.globals: list[Operation] = []
        self.local_bytes = 0
        self.facts = Facts()
        self._parameters: dict[SSAValue, dict[str, Any]] = {}
        self._originals: dict[SSAValue, SSAValue] = {}
        self._measured: dict[tuple[SSAValue, Measure], list[SSAValue]] = {}

    # --- what is known of memory ---

    def learn_parameter(
        self, memory: SSAValue, known: dict[str, Any], original: SSAValue | None = None
    ) -> None:
        """Records what the attributes of a memref parameter tell, and what it is a view of."""
        self._parameters[memory] = known
        if original is not None:
            self._originals[memory] = original

    def original(self, memory: SSAValue) -> SSAValue:
        """The parameter that a memref is, with the type of the signature."""
        return self._originals.get(memory, memory)

    def alignment_of(self, memory: SSAValue) -> int:
        """Bytes that the address of a memref's memory is a multiple of.

        Parameters, and the entries of groups, are aligned to 128 bytes unless they say otherwise,
        as in the calling convention of the tensor language. Of what a pointer points to nothing is
        known but what follows from how the pointer is computed.
        """
        if isinstance(memory.owner, ViewOp):
            return self.facts.divisor(memory.owner.pointer) or DEFAULT_ALIGNMENT
        known = self._parameters.get(memory, {})
        return known.get(ALIGNMENT_ATTRIBUTE, DEFAULT_ALIGNMENT)

    def promises_of(self, memory: SSAValue) -> dict[str, Any] | None:
        """What attributes tell of a parameter; None if the memref is none."""
        return self._parameters.get(memory)

    def measured(self, memory: SSAValue, measure: Measure) -> Sequence[SSAValue]:
        """The values that a size or a stride of a memref was read into."""
        return self._measured.get((memory, measure), ())

    def _measure(
        self, memory: SSAValue, attribute: str, dimension: int, value: SSAValue, divisor: int
    ) -> None:
        self.facts.assume(value, divisor, True)
        key = memory, Measure(attribute, dimension)
        self._measured.setdefault(key, []).append(value)

    def learn_metadata(self, memory: SSAValue, metadata: Operation) -> None:
        """Records what is known of the offset, the sizes and the strides read from a memref."""
        known = self._parameters.get(memory, {})
        rank = (len(metadata.results) - 2) // 2
        sizes, strides = metadata.results[2 : 2 + rank], metadata.results[2 + rank :]
        gcds = known.get(SHAPE_GCD_ATTRIBUTE, (1,) * rank)
        for i, (size, divisor) in enumerate(zip(sizes, gcds, strict=True)):
            self._measure(memory, SHAPE_GCD_ATTRIBUTE, i, size, divisor)
        gcds = known.get(STRIDE_GCD_ATTRIBUTE, (1,) * rank)
        for i, (stride, divisor) in enumerate(zip(strides, gcds, strict=True)):
            self._measure(memory, STRIDE_GCD_ATTRIBUTE, i, stride, divisor)

    def learn_size(self, memory: SSAValue, dimension: int, size: SSAValue) -> None:
        """Records what is known of a size that was read from a memref.

        What is promised of a group are sizes of its memrefs, and not how many there are.
        """
        gcds: Sequence[int] | None = self._parameters.get(memory, {}).get(SHAPE_GCD_ATTRIBUTE)
        divisor = 1 if gcds is None or _is_group(memory.type) else gcds[dimension]
        self._measure(memory, SHAPE_GCD_ATTRIBUTE, dimension, size, divisor)

    # --- types ---

    def layout(self, type_: Attribute) -> VectorLayout:
        """How a matrix of this vector type is spread over the lanes."""
        rows, columns = matrix_shape(type_)
        most = _MOST_COMPONENTS * self.subgroup_size
        if rows * columns > most:
            raise self.error(
                f"a subgroup cannot hold a matrix of {rows} x {columns}: its {self.subgroup_size} "
                f"lanes take at most {most} components; use smaller matrices in a loop"
            )
        from xtile.layouts.intel import vector_layout

        return vector_layout(rows, columns, self.subgroup_size)

    def types(self, type_: Attribute) -> list[Attribute]:
        """The types of the values that a value of this type becomes."""
        vector = as_vector(type_)
        if vector is not None:
            element = carried_type(vector.element_type)
            return list(piece_types(self.layout(vector), element))
        return [carried_type(type_)]

    def type_(self, type_: Attribute) -> Attribute:
        """The type of the only value that a value of this type becomes."""
        (single,) = self.types(type_)
        return single

    # --- values that become several ---

    def fragment(self, old: SSAValue) -> Fragment:
        """The pieces of a matrix."""
        meaning = self.meaning(old)
        if not isinstance(meaning, Fragment):
            raise self.error(f"a value of type {old.type} cannot be spread over a subgroup's lanes")
        return meaning

    def flat(self, old: Sequence[SSAValue]) -> list[SSAValue]:
        """All values that these values have become, for control flow to carry."""
        result: list[SSAValue] = []
        for value in old:
            meaning = self.meaning(value)
            if isinstance(meaning, Fragment):
                result += meaning.values
            else:
                result.append(meaning)
        return result

    def define_flat(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        """Records the values that several values have become, one after the other."""
        remaining = list(new)
        for value in old:
            count = len(self.types(value.type))
            own, remaining = remaining[:count], remaining[count:]
            vector = as_vector(value.type)
            if vector is not None:
                self.define(value, of_values(self.layout(vector), own))
            else:
                self.define(value, own[0])

    @override
    def region(self, old: Region) -> Region:
        if old.blocks.first is None:
            return Region()
        block = self.open_block(old.blocks.first)
        return self.translate_into(old, block)

    def open_block(self, old: Block | None) -> Block:
        """A new block with what the arguments of `old` become."""
        arguments = () if old is None else old.args
        types = [t for argument in arguments for t in self.types(argument.type)]
        block = Block(arg_types=types)
        self.define_flat(list(arguments), list(block.args))
        return block

    # --- emitters ---

    def lane(self) -> SSAValue:
        """The number of the lane, from 0 to the subgroup's size - 1, as an index."""

        def emit() -> SSAValue:
            result = self.emit(LaneIdOp()).result
            result.name_hint = "lane"
            return result

        return self.shared("lane", (), emit)

    def constant(self, number: float, type_: Attribute) -> SSAValue:
        """A scalar constant, or a vector of equal ones; bf16 is given as the bits' type."""

        def emit() -> SSAValue:
            vector = as_vector(type_)
            if vector is not None:
                attribute = splat_constant(cast("VectorType[Any]", vector), number)
            elif type(type_) is IndexType or type(type_) is IntegerType:
                attribute = IntegerAttr(int(number), type_)
            else:
                attribute = FloatAttr(number, cast("Any", type_))
            return self.emit(made(arith.ConstantOp, (), (type_,), {"value": attribute})).result

        return self.shared(("constant", repr(number), type_), (), emit)

    def numbers(self, old: Iterable[SSAValue]) -> list[Index]:
        """What indices of the source have become; constants are numbers."""
        result: list[Index] = []
        for value in self.values(old):
            constant = constant_of(value)
            result.append(value if constant is None else constant)
        return result

    def is_below(self, a: Index, b: Index) -> SSAValue:
        """Whether 0 <= a < b; a negative index is a large unsigned one."""
        return self.compare("ult", a, b)

    def is_equal(self, a: Index, b: Index) -> SSAValue:
        """Whether two indices are equal."""
        return self.compare("eq", a, b)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere."""
        return self.emit(made(SelectOp, (condition, a, b), (a.type,))).result

    def as_i64(self, value: SSAValue) -> SSAValue:
        """An index as an i64."""
        return self.shared(
            ("i64", value),
            (value,),
            lambda: self.emit(made(arith.IndexCastOp, (value,), (i64,))).result,
        )

    def as_i32(self, value: SSAValue) -> SSAValue:
        """An index as an i32."""
        return self.shared(
            ("i32", value),
            (value,),
            lambda: self.emit(made(arith.IndexCastOp, (value,), (i32,))).result,
        )

    def true(self) -> SSAValue:
        """The condition that always holds."""
        return self.constant(1, i1)


def _is_group(type_: Attribute) -> bool:
    return isinstance(type_, MemRefType) and isinstance(
        cast("MemRefType[Attribute]", type_).element_type, MemRefType
    )


def matrix_shape(type_: Attribute) -> tuple[int, int]:
    """Rows and columns of a vector; a vector of one dimension is a column."""
    shape = cast("VectorType[Attribute]", type_).get_shape()
    return (shape[0], shape[1]) if len(shape) == 2 else (shape[0], 1)


_BYTES = (*NARROW_FLOATS, Float8E8M0FNUType)
"""The types whose numbers are held in bytes."""


_NARROW_WIDTHS = (2, 4)


def is_narrow_integer(type_: Attribute) -> bool:
    """Whether a type is i2 or i4, whose numbers are held in an i8 with their sign."""
    return type(type_) is IntegerType and type_.width.data in _NARROW_WIDTHS


def is_wide_integer(type_: Attribute) -> bool:
    """Whether a type is that of other integers, which are held as what they are."""
    return type(type_) is IntegerType and type_.width.data not in _NARROW_WIDTHS


def carried_type(type_: Attribute) -> Attribute:
    """The type that holds a number, a memref or a pointer.

    It is that of the bits for bf16 and floats of 4 to 8 bits, i8 for i2 and i4, f32 for tf32, and
    one in space 3 for local memory.
    """
    if isinstance(type_, BFloat16Type):
        return i16
    if isinstance(type_, _BYTES) or is_narrow_integer(type_):
        return i8
    if isinstance(type_, FloatTF32Type):
        return f32
    if isinstance(type_, PointerType):
        return PointerType(carried_type(type_.pointee_type), _carried_space(type_.memory_space))
    if not isinstance(type_, MemRefType):
        return type_
    memref = cast("MemRefType[Attribute]", type_)
    space = _carried_space(memref.memory_space)
    return MemRefType(carried_type(memref.element_type), memref.shape, memref.layout, space)


def _carried_space(space: Attribute) -> Attribute:
    if not isinstance(space, AddressSpaceAttr):
        return space
    return LOCAL_MEMORY_SPACE if space.data is AddressSpace.WORKGROUP else IntegerAttr(5, i64)
