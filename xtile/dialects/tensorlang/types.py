"""The types of the tensor language.

Scalars are the builtin types every dialect shares; the table `SCALAR_TYPES` gives their tensor
language names. Memrefs, groups and cooperative matrices are types of this dialect.

Source: tensor language reference, section "Types".
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntAttr,
    IntegerType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.tensorlang.attributes import (
    AddressSpace,
    AddressSpaceAttr,
    MatrixUse,
    MatrixUseAttr,
)

DYNAMIC: int = DYNAMIC_INDEX
"""Stands for `?` in shapes, strides, group sizes and offsets."""

BOOL = IntegerType(1)
I8 = IntegerType(8)
I16 = IntegerType(16)
I32 = IntegerType(32)
I64 = IntegerType(64)
INDEX = IndexType()
BF16 = BFloat16Type()
F16 = Float16Type()
F32 = Float32Type()
F64 = Float64Type()
C32: ComplexType[AnyFloat] = ComplexType(F32)
C64: ComplexType[AnyFloat] = ComplexType(F64)

NUMBER_TYPES: dict[str, Attribute] = {
    "i8": I8,
    "i16": I16,
    "i32": I32,
    "i64": I64,
    "index": INDEX,
    "bf16": BF16,
    "f16": F16,
    "f32": F32,
    "f64": F64,
    "c32": C32,
    "c64": C64,
}
"""The number types by their tensor language name (reference: "Scalar types")."""

SCALAR_TYPES: dict[str, Attribute] = {"bool": BOOL, **NUMBER_TYPES}
"""Every type that one register can hold, by its tensor language name."""

SCALAR_NAMES: dict[Attribute, str] = {type: name for name, type in SCALAR_TYPES.items()}

_MOST_COMPONENTS = 1 << 24
"""Components of a cooperative matrix; no subgroup has registers or private memory for more."""

SIZE_IN_BYTES: dict[Attribute, int] = {
    I8: 1,
    I16: 2,
    I32: 4,
    I64: 8,
    INDEX: 8,
    BF16: 2,
    F16: 2,
    F32: 4,
    F64: 8,
    C32: 8,
    C64: 16,
}
"""Bytes per element; `index` is an i64 in the calling convention."""

INTEGER_TYPES = frozenset({I8, I16, I32, I64, INDEX})
FLOATING_TYPES = frozenset({BF16, F16, F32, F64})
COMPLEX_TYPES = frozenset({C32, C64})

_REAL_PART_TYPES: dict[Attribute, Attribute] = {C32: F32, C64: F64}

_PROMOTABLE: dict[Attribute, frozenset[Attribute]] = {
    I8: frozenset({I8, I16, I32, I64, INDEX, BF16, F16, F32, F64, C32, C64}),
    I16: frozenset({I16, I32, I64, INDEX, F32, F64, C32, C64}),
    I32: frozenset({I32, I64, INDEX, F64, C32, C64}),
    I64: frozenset({I64}),
    # The reference's matrix leaves `index` out. It is an i64 in the calling convention, and the
    # reference's compiler promotes the narrower integers to it.
    INDEX: frozenset({INDEX}),
    BF16: frozenset({BF16, F32, F64, C32, C64}),
    F16: frozenset({F16, F32, F64, C32, C64}),
    F32: frozenset({F32, F64, C32, C64}),
    F64: frozenset({F64, C64}),
    C32: frozenset({C32, C64}),
    C64: frozenset({C64}),
}
"""The partial order of the reference's section "Scalar types", row by row.

The row of i32 lists c32 although an f32 part cannot hold every i32, and the reference's compiler
refuses it; the matrix is the reference's, and is kept as it stands.
"""


def is_number(type: Attribute) -> bool:
    """Whether `type` is a number-type: an integer, floating or complex type, but not bool."""
    return type in SIZE_IN_BYTES


def is_scalar(type: Attribute) -> bool:
    """Whether `type` is bool or a number-type."""
    return type in SCALAR_NAMES


def is_promotable(source: Attribute, target: Attribute) -> bool:
    """Whether every value of `source` is a value of `target` (the reference's `⪯`)."""
    return target in _PROMOTABLE.get(source, ())


def promote(first: Attribute, second: Attribute) -> Attribute | None:
    """The larger of two types in the partial order, or None where neither is promotable."""
    if is_promotable(first, second):
        return second
    if is_promotable(second, first):
        return first
    return None


def is_cast_allowed(source: Attribute, target: Attribute) -> bool:
    """Whether `cast` converts `source` to `target`: all pairs but complex to non-complex."""
    return (
        is_number(source)
        and is_number(target)
        and (source not in COMPLEX_TYPES or target in COMPLEX_TYPES)
    )


def component_type(type: Attribute) -> Attribute:
    """The component type of a cooperative matrix; any other type is its own component."""
    return type.component_type if isinstance(type, CoopmatrixType) else type


def real_part_type(type: Attribute) -> Attribute:
    """f32 for c32, f64 for c64; any other type is its own real part."""
    return _REAL_PART_TYPES.get(type, type)


def canonical_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of the packed dense layout, in elements: S_1 = 1, S_i = S_{i-1} s_{i-1}.

    A stride is DYNAMIC from the first mode on that follows a dynamic one.
    """
    strides: list[int] = []
    stride = 1
    for size in shape:
        strides.append(stride)
        stride = DYNAMIC if DYNAMIC in (stride, size) else stride * size
    return tuple(strides)


def _int_array(values: Sequence[int]) -> ArrayAttr[IntAttr]:
    return ArrayAttr(IntAttr(value) for value in values)


def _dimension(value: int) -> str:
    return "?" if value == DYNAMIC else str(value)


def type_text(type: Attribute) -> str:
    """`type` as the tensor language writes it, e.g. `memref<f32x4x?,strided<1,8>,local>`."""
    if isinstance(type, MemrefType | GroupType | CoopmatrixType | VoidType):
        return type.text()
    return SCALAR_NAMES.get(type) or str(type)


@irdl_attr_definition
class VoidType(ParametrizedAttribute, TypeAttribute):
    """`!tensorlang.void`: the type of nothing; no value has it."""

    name = "tensorlang.void"

    def text(self) -> str:
        """`void`."""
        return "void"


@irdl_attr_definition
class PoisonType(ParametrizedAttribute, TypeAttribute):
    """The type of a value that a reader made up after an error it has reported.

    It lets reading and verification go on without reporting the same mistake again; no module
    without errors holds it.
    """

    name = "tensorlang.poison"


@irdl_attr_definition
class MemrefType(ParametrizedAttribute, TypeAttribute):
    """A view on memory: element type, shape, strides and address space.

    `!tensorlang.memref<4x?xf32, strided<1, 8>, local>` is the tensor language's
    `memref<f32x4x?,strided<1,8>,local>`. The strides are always stored, so the packed layout
    written out and the default layout are the same type. Modes and strides are counted in
    elements, the first mode is the contiguous one in the packed layout (column-major).

    Errors: a negative size, a stride list of another length than the shape, S_1 < 1, or
    S_i < S_{i-1} s_{i-1} (reference: "Strided layout").
    """

    name = "tensorlang.memref"

    shape_attr: ArrayAttr[IntAttr]
    element_type: Attribute
    strides_attr: ArrayAttr[IntAttr]
    address_space_attr: AddressSpaceAttr

    @staticmethod
    def get(
        element_type: Attribute,
        shape: Sequence[int] = (),
        strides: Sequence[int] | None = None,
        address_space: AddressSpace = AddressSpace.GLOBAL,
    ) -> MemrefType:
        """The memref of `shape` (sizes or DYNAMIC), packed where no `strides` are given."""
        return MemrefType(
            _int_array(shape),
            element_type,
            _int_array(canonical_strides(shape) if strides is None else strides),
            AddressSpaceAttr(address_space),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Mode sizes in elements; DYNAMIC where only known at run time."""
        return tuple(size.data for size in self.shape_attr)

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements; DYNAMIC where only known at run time."""
        return tuple(stride.data for stride in self.strides_attr)

    @property
    def order(self) -> int:
        """The number of modes."""
        return len(self.shape_attr.data)

    @property
    def address_space(self) -> AddressSpace:
        """Global or local."""
        return self.address_space_attr.data

    @property
    def is_packed(self) -> bool:
        """Whether the strides are those of the packed dense layout."""
        return self.strides == canonical_strides(self.shape)

    @property
    def has_static_shape(self) -> bool:
        """Whether no mode is dynamic."""
        return DYNAMIC not in self.shape

    @property
    def allocated_elements(self) -> int | None:
        """The elements that `alloca` reserves, or None where dynamic.

        The last mode's stride for each of its entries: also the last of these has its padding.
        """
        if DYNAMIC in self.shape or DYNAMIC in self.strides:
            return None
        if 0 in self.shape:
            return 0
        return self.shape[-1] * self.strides[-1] if self.shape else 1

    @override
    def verify(self) -> None:
        if not is_number(self.element_type):
            raise VerifyException(
                f"a memref holds numbers, but its element type is {type_text(self.element_type)}"
            )
        _check_layout(self.shape, self.strides)

    def text(self) -> str:
        """The type as the tensor language writes it."""
        modes = "".join(f"x{_dimension(size)}" for size in self.shape)
        layout = "" if self.is_packed else f",{self._strided_text(',')}"
        space = ",local" if self.address_space == AddressSpace.LOCAL else ""
        return f"memref<{type_text(self.element_type)}{modes}{layout}{space}>"

    def _strided_text(self, separator: str) -> str:
        return f"strided<{separator.join(map(_dimension, self.strides))}>"

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{_dimension(size)}x" for size in self.shape))
            printer.print_attribute(self.element_type)
            if not self.is_packed:
                printer.print_string(", " + self._strided_text(", "))
            if self.address_space == AddressSpace.LOCAL:
                printer.print_string(", local")

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            strides: Sequence[int] = canonical_strides(shape)
            space = AddressSpace.GLOBAL
            while parser.parse_optional_punctuation(","):
                if parser.parse_optional_keyword("strided"):
                    strides = parser.parse_comma_separated_list(
                        parser.Delimiter.ANGLE, lambda: _parse_dimension(parser)
                    )
                else:
                    space = parser.parse_str_enum(AddressSpace)
        return (_int_array(shape), element_type, _int_array(strides), AddressSpaceAttr(space))


def _check_layout(shape: Sequence[int], strides: Sequence[int]) -> None:
    if len(shape) != len(strides):
        raise VerifyException(
            f"the shape has {len(shape)} modes but {len(strides)} strides are given; "
            "write one stride for each mode"
        )
    for size in shape:
        if size < 0 and size != DYNAMIC:
            raise VerifyException(f"mode size {size} is negative; write a size or '?'")
    for i, stride in enumerate(strides):
        least = 1 if i == 0 else _least_stride(strides[i - 1], shape[i - 1])
        if stride != DYNAMIC and stride < least:
            bound = "1 <= S_1" if i == 0 else f"S_{i} s_{i} <= S_{i + 1}"
            raise VerifyException(
                f"stride S_{i + 1} is {stride} but must be at least {least} ({bound})"
            )


def _least_stride(previous_stride: int, previous_size: int) -> int:
    """The least stride that may follow; what is dynamic may be 1."""
    stride = 1 if previous_stride == DYNAMIC else previous_stride
    size = 1 if previous_size == DYNAMIC else previous_size
    return stride * size


def _parse_dimension(parser: AttrParser) -> int:
    if parser.parse_optional_punctuation("?"):
        return DYNAMIC
    return parser.parse_integer(allow_boolean=False)


@irdl_attr_definition
class GroupType(ParametrizedAttribute, TypeAttribute):
    """Unstructured pointers to memrefs: a pointer to pointers.

    `!tensorlang.group<!tensorlang.memref<16x16xf32> x ?, offset: 4>` is the tensor language's
    `group<memref<f32x16x16>x?, offset: 4>`. `size` counts pointers, `offset` counts elements
    added to each pointer (0 where not written).
    """

    name = "tensorlang.group"

    memref_type: Attribute
    size_attr: IntAttr
    offset_attr: IntAttr

    @staticmethod
    def get(memref_type: Attribute, size: int = DYNAMIC, offset: int = 0) -> GroupType:
        """The group of `size` pointers (or DYNAMIC) to memrefs of `memref_type`."""
        return GroupType(memref_type, IntAttr(size), IntAttr(offset))

    @property
    def size(self) -> int:
        """The number of pointers, or DYNAMIC."""
        return self.size_attr.data

    @property
    def offset(self) -> int:
        """Elements added to each pointer, or DYNAMIC."""
        return self.offset_attr.data

    @property
    def element(self) -> MemrefType:
        """The type of one entry."""
        assert isinstance(self.memref_type, MemrefType)
        return self.memref_type

    @override
    def verify(self) -> None:
        if not isinstance(self.memref_type, MemrefType):
            raise VerifyException(
                f"a group collects memrefs, but its entry is {type_text(self.memref_type)}"
            )
        if self.size < 0 and self.size != DYNAMIC:
            raise VerifyException(f"group size {self.size} is negative; write a size or '?'")
        if self.offset < 0 and self.offset != DYNAMIC:
            raise VerifyException(f"group offset {self.offset} is negative; write 0 or more")

    def text(self) -> str:
        """The type as the tensor language writes it."""
        offset = f", offset: {_dimension(self.offset)}" if self.offset else ""
        return f"group<{type_text(self.memref_type)}x{_dimension(self.size)}{offset}>"

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.memref_type)
            printer.print_string(f" x {_dimension(self.size)}")
            if self.offset:
                printer.print_string(f", offset: {_dimension(self.offset)}")

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        offset = 0
        with parser.in_angle_brackets():
            memref_type = parser.parse_type()
            parser.parse_keyword("x")
            size = _parse_dimension(parser)
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("offset")
                parser.parse_punctuation(":")
                offset = _parse_dimension(parser)
        return (memref_type, IntAttr(size), IntAttr(offset))


@irdl_attr_definition
class CoopmatrixType(ParametrizedAttribute, TypeAttribute):
    """A rows by columns matrix distributed across a subgroup.

    `!tensorlang.coopmatrix<8x16xf32, matrix_acc>` is the tensor language's
    `coopmatrix<f32x8x16,matrix_acc>`.
    """

    name = "tensorlang.coopmatrix"

    shape_attr: ArrayAttr[IntAttr]
    component_type: Attribute
    use_attr: MatrixUseAttr

    @staticmethod
    def get(component_type: Attribute, rows: int, columns: int, use: MatrixUse) -> CoopmatrixType:
        """The cooperative matrix of `rows` by `columns` components."""
        return CoopmatrixType(_int_array((rows, columns)), component_type, MatrixUseAttr(use))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.shape_attr
        return rows.data, columns.data

    @property
    def rows(self) -> int:
        """Size of the first mode."""
        return self.shape[0]

    @property
    def columns(self) -> int:
        """Size of the second mode."""
        return self.shape[1]

    @property
    def use(self) -> MatrixUse:
        """Position in a matrix multiplication."""
        return self.use_attr.data

    @override
    def verify(self) -> None:
        if not is_number(self.component_type):
            raise VerifyException(
                "a coopmatrix holds numbers, but its component type is "
                f"{type_text(self.component_type)}"
            )
        if len(self.shape_attr.data) != 2:
            raise VerifyException("a coopmatrix has two modes: rows and columns")
        if DYNAMIC in self.shape:
            raise VerifyException("a coopmatrix has no dynamic modes; write sizes in place of '?'")
        for size in self.shape:
            if size < 1:
                raise VerifyException(f"coopmatrix mode size {size} must be at least 1")
        if self.rows * self.columns > _MOST_COMPONENTS:
            raise VerifyException(
                f"a coopmatrix has at most {_MOST_COMPONENTS} components, but this one has "
                f"{self.rows * self.columns}"
            )

    def text(self) -> str:
        """The type as the tensor language writes it."""
        component = type_text(self.component_type)
        return f"coopmatrix<{component}x{self.rows}x{self.columns},{self.use.value}>"

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows}x{self.columns}x")
            printer.print_attribute(self.component_type)
            printer.print_string(f", {self.use.value}")

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, component = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            use = parser.parse_str_enum(MatrixUse)
        return (_int_array(shape), component, MatrixUseAttr(use))
