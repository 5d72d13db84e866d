"""The types and the attributes of the dialect.

Source: Triton 3.9, `TritonTypes.td`, `TritonTypeEnums.td`, `TritonAttrDefs.td` and
`lib/Dialect/Triton/IR/Types.cpp`; for what was otherwise, the releases 3.4 to 3.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr as _ArrayAttr
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntAttr,
    IntegerType,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.triton.operation import as_tensor, width_of
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.tt.enumerations import CacheModifier, EvictionPolicy, keyword, keywords
from xtile.dialects.triton.versions import V3_8, V3_9

FLOATS = (
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2Type,
    Float8E5M2FNUZType,
    Float16Type,
    BFloat16Type,
    Float32Type,
    Float64Type,
)
"""The floats of tensors."""

INTEGER_WIDTHS = (1, 4, 8, 16, 32, 64)
"""The widths in bits of the integers of tensors."""

GLOBAL = 1
"""The address space of global memory, which the text does not name."""

_ADDRESS_SPACES = {"global": GLOBAL, "descriptor": 0, "constant": 4}
"""The address spaces that 3.9 names; releases before write numbers."""


def is_float(type_: Attribute) -> bool:
    """Whether a type is one of the floats of tensors."""
    return type_.__class__ in FLOATS


def is_integer(type_: Attribute) -> bool:
    """Whether a type is one of the integers of tensors."""
    return width_of(type_) in INTEGER_WIDTHS


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """A pointer to numbers, or until 3.7 to blocks of them.

    ```
    !tt.ptr<f32>
    ```
    """

    name = "tt.ptr"

    pointee: Attribute
    address_space: IntAttr

    def __init__(self, pointee: Attribute, address_space: int = GLOBAL) -> None:
        super().__init__(pointee, IntAttr(address_space))

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            pointee = parser.parse_type()
            space = GLOBAL
            if parser.parse_optional_punctuation(",") is not None:
                space = _parse_address_space(parser)
        return pointee, IntAttr(space)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.pointee)
            space = self.address_space.data
            if space == GLOBAL:
                return
            names = {number: name for name, number in _ADDRESS_SPACES.items()}
            is_named = release_of(printer) >= V3_9 and space in names
            printer.print_string(f', "{names[space]}"' if is_named else f", {space}")

    @property
    def is_block(self) -> bool:
        """Whether it points to a block of a tensor in memory, which `tt.make_tensor_ptr` makes."""
        return isinstance(self.pointee, TensorType)


def _parse_address_space(parser: AttrParser) -> int:
    start = parser.pos
    name = parser.parse_optional_str_literal()
    if name is None:
        return parser.parse_integer(allow_boolean=False, allow_negative=False)
    if name not in _ADDRESS_SPACES:
        known = ", ".join(f'"{each}"' for each in _ADDRESS_SPACES)
        parser.raise_error(f'there is no address space "{name}"; there are {known}', start)
    return _ADDRESS_SPACES[name]


@irdl_attr_definition
class TensorDescType(ParametrizedAttribute, TypeAttribute):
    """A descriptor of a tensor in memory, which blocks are loaded from and stored to.

    ```
    !tt.tensordesc<128x64xf16>
    ```
    """

    name = "tt.tensordesc"

    shape: _ArrayAttr[IntAttr]
    element_type: Attribute
    shared_layout: Attribute

    def __init__(
        self, shape: Sequence[int], element_type: Attribute, shared_layout: Attribute | None = None
    ) -> None:
        sizes = _ArrayAttr([IntAttr(size) for size in shape])
        super().__init__(sizes, element_type, shared_layout or NoneAttr())

    def get_shape(self) -> tuple[int, ...]:
        """The sizes of a block."""
        return tuple(size.data for size in self.shape)

    @property
    def block_type(self) -> TensorType[Attribute]:
        """What a load gives; integers are signless there."""
        element = self.element_type
        if isa(element, IntegerType):
            element = IntegerType(element.width.data)
        return TensorType(element, self.get_shape())

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            block = parser.parse_optional_type()
            if block is None:
                return _parse_shaped(parser)
            tensor = as_tensor(block)
            if tensor is None:
                parser.raise_error("expected a block such as 128x64xf16")
        sizes = _ArrayAttr([IntAttr(size) for size in tensor.get_shape()])
        return sizes, tensor.element_type, tensor.encoding

    @override
    def print_parameters(self, printer: Printer) -> None:
        is_nested = release_of(printer) < V3_8
        printer.print_string("<tensor<" if is_nested else "<")
        for size in self.get_shape():
            printer.print_string(f"{size}x")
        printer.print_attribute(self.element_type)
        if not isinstance(self.shared_layout, NoneAttr):
            printer.print_string(", ")
            printer.print_attribute(self.shared_layout)
        printer.print_string(">>" if is_nested else ">")

    @override
    def verify(self) -> None:
        if not self.shape.data:
            raise VerifyException("a descriptor's blocks have at least one dimension")


def _parse_shaped(parser: AttrParser) -> Sequence[Attribute]:
    """Reads `128x64xf16` and the layout that may follow."""
    shape, element = parser.parse_ranked_shape()
    layout: Attribute = NoneAttr()
    if parser.parse_optional_punctuation(",") is not None:
        layout = parser.parse_attribute()
    return _ArrayAttr([IntAttr(size) for size in shape]), element, layout


@irdl_attr_definition
class CachePolicyAttr(ParametrizedAttribute):
    """How an access uses the caches, from 3.9 on.

    ```
    #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>
    ```
    """

    name = "tt.cache_policy"

    modifier_number: IntAttr
    eviction_number: IntAttr

    def __init__(
        self,
        modifier: CacheModifier = CacheModifier.NONE,
        eviction: EvictionPolicy = EvictionPolicy.EVICT_NORMAL,
    ) -> None:
        super().__init__(IntAttr(int(modifier)), IntAttr(int(eviction)))

    @property
    def modifier(self) -> CacheModifier:
        """Which caches."""
        return CacheModifier(self.modifier_number.data)

    @property
    def eviction(self) -> EvictionPolicy:
        """How long in them."""
        return EvictionPolicy(self.eviction_number.data)

    @property
    def is_default(self) -> bool:
        """Whether it says nothing."""
        return (
            self.modifier_number.data == CacheModifier.NONE
            and self.eviction_number.data == EvictionPolicy.EVICT_NORMAL
        )

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parser.parse_keyword("cache_modifier")
            parser.parse_punctuation("=")
            modifier = _parse_keyword(parser, keywords(CacheModifier))
            parser.parse_punctuation(",")
            parser.parse_keyword("eviction_policy")
            parser.parse_punctuation("=")
            eviction = _parse_keyword(parser, keywords(EvictionPolicy))
        return IntAttr(modifier), IntAttr(eviction)

    @override
    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(
            f"<cache_modifier = {keyword(self.modifier)}, "
            f"eviction_policy = {keyword(self.eviction)}>"
        )


def _parse_keyword(parser: AttrParser, members: Mapping[str, int]) -> int:
    start = parser.pos
    word = parser.parse_identifier()
    if word not in members:
        parser.raise_error(f"expected one of {', '.join(members)}", start, start + len(word))
    return int(members[word])


TYPES: list[type[TypeAttribute]] = [PointerType, TensorDescType]
"""Every type of the dialect."""

ATTRIBUTES: list[type[Attribute]] = [CachePolicyAttr]
"""Every attribute of the dialect."""
