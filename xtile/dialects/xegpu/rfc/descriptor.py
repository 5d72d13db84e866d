"""Reads the types of descriptors in the RFC's form.

    tensor_desc<16x8xuint16, #scattered, memory_scope = slm>
    !xegpu.tensor_desc<8x16xbf16, #xegpu.tdesc_attr<array_length = 2>>
    tile<8x16xbf16, #xegpu.sg_map<wi_layout = [2, 8], wi_data = [1, 2]>>

Source: RFC, `create_nd_tdesc` and `create_tdesc`; the dialect of mlir-extensions of April 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, UnitAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.xegpu.attributes import (
    BlockTensorDescAttr,
    MemorySpace,
    MemorySpaceAttr,
    ScatterTensorDescAttr,
)
from xtile.dialects.xegpu.layout import LayoutAttr
from xtile.dialects.xegpu.rfc.names import MEMORY_SPACES
from xtile.dialects.xegpu.types import TensorDescType

if TYPE_CHECKING:
    from xtile.dialects.xegpu.rfc.parser import XeGPUParser

Facts = Mapping[str, Attribute]
"""What a text says about a descriptor, by the names of LLVM's parameters.

Beside these: `scattered`, `layout`, and `encoding` for an attribute of LLVM 22 that says it all.
"""

_FACTS = {
    "array_length": "array_length",
    "boundary_check": "boundary_check",
    "chunk_size": "chunk_size",
    "chunk_size_per_lane": "chunk_size",
    "map": "layout",
    "memory_scope": "memory_space",
    "memory_space": "memory_space",
    "scattered": "scattered",
    "sg": "layout",
}
"""The names under which the RFC's revisions give a fact."""

_SG_MAP = {"wi_layout": "lane_layout", "wi_data": "lane_data", "mma_block_size": "inst_data"}
"""What LLVM's layouts call the fields of a `sg_map`; the first kernels have the last one."""


@irdl_attr_definition
class TensorDescAttr(ParametrizedAttribute):
    """Facts about a descriptor in the RFC's form, before they become part of the descriptor's type.

    `#xegpu.tdesc_attr<memory_scope = "slm", scattered>`
    """

    name = "xegpu.tdesc_attr"

    facts: DictionaryAttr
    """The facts by the names of `Facts`."""

    @classmethod
    def scattered(cls) -> TensorDescAttr:
        """What the RFC writes `#scattered`."""
        return cls(DictionaryAttr({"scattered": UnitAttr()}))

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parser.parse_punctuation("<")
        facts = read_facts(parser, "xegpu.tdesc_attr")
        parser.parse_punctuation(">")
        return (DictionaryAttr(facts),)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.facts.data.items(), lambda fact: _print_fact(printer, *fact))


def _print_fact(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_string(name)
    if not isinstance(value, UnitAttr):
        printer.print_string(" = ")
        printer.print_attribute(value)


ATTRIBUTES: list[type[Attribute]] = [TensorDescAttr]
"""Every attribute of this module."""


def read_tensor_desc(parser: XeGPUParser) -> TensorDescType:
    """Reads a descriptor's type from its `<` on.

    Raises:
        ParseError: It is malformed, or no hardware has such a descriptor.
    """
    start = parser.pos
    parser.parse_punctuation("<")
    shape: list[int] = []
    while (size := parser.parse_optional_integer(allow_boolean=False)) is not None:
        shape.append(size)
        parser.parse_shape_delimiter()
    element_type = parser.parse_operation_type()
    facts: Facts = {}
    if parser.parse_optional_punctuation(",") is not None:
        facts = read_facts(parser, "tensor_desc")
    end = parser.pos + 1
    parser.parse_punctuation(">")
    try:
        return TensorDescType(
            shape, element_type, _encoding(shape, facts), _layout(facts.get("layout"), len(shape))
        )
    except VerifyException as error:
        parser.raise_error(str(error), start, end)


def read_facts(parser: AttrParser, owner: str) -> dict[str, Attribute]:
    """Reads facts about a descriptor up to `>`, which stays: `array_length = 2, #scattered`.

    Args:
        parser: Stands before the first fact.
        owner: What messages call the attribute or type around the facts.
    """
    facts: dict[str, Attribute] = {}
    while not _is_at(parser, ">"):
        start = parser.pos
        for name, value in _read_fact(parser, owner).items():
            if name in facts:
                message = f"the {name} of {owner} is given twice; it may be given once"
                parser.raise_error(message, start, parser.pos)
            facts[name] = value
        if parser.parse_optional_punctuation(",") is None:
            break
    return facts


def read_sg_map(parser: AttrParser) -> LayoutAttr:
    """Reads `<wi_layout = [2, 8], wi_data = [1, 2]>`, with or without braces inside, as a layout.

    Raises:
        ParseError: It is malformed.
    """
    parser.parse_punctuation("<")
    is_braced = parser.parse_optional_punctuation("{") is not None
    fields: dict[str, Sequence[int]] = {}

    def read_field() -> None:
        start = parser.pos
        name = parser.parse_identifier()
        if name not in _SG_MAP or name in fields:
            message = f"unexpected '{name}' in a sg_map, which has wi_layout and wi_data once each"
            parser.raise_error(message, start, start + len(name))
        parser.parse_punctuation("=")
        fields[name] = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_integer
        )

    start = parser.pos
    parser.parse_comma_separated_list(parser.Delimiter.NONE, read_field)
    if is_braced:
        parser.parse_punctuation("}")
    if "wi_layout" not in fields or "wi_data" not in fields:
        parser.raise_error("a sg_map needs both wi_layout and wi_data", start, parser.pos)
    parser.parse_punctuation(">")
    try:
        return LayoutAttr(**{_SG_MAP[name]: sizes for name, sizes in fields.items()})
    except VerifyException as error:
        parser.raise_error(str(error), start, parser.pos)


def _read_fact(parser: AttrParser, owner: str) -> Facts:
    """Reads `name = value`, `scattered`, or an attribute that holds several facts."""
    start = parser.pos
    if _is_at(parser, "#") or _is_at(parser, "xegpu."):
        attribute = parser.parse_attribute()
        facts = _facts_of(attribute)
        if facts is None:
            message = f"{owner} takes a sg_map or tdesc_attr, not {attribute}"
            parser.raise_error(message, start, parser.pos)
        return facts
    spelling = parser.parse_identifier(f" or an attribute, as a fact about {owner}")
    name = _FACTS.get(spelling)
    if name is None:
        message = f"{owner} has no '{spelling}'; it has {', '.join(_FACTS)}"
        parser.raise_error(message, start, start + len(spelling))
    if name == "scattered" and parser.parse_optional_punctuation("=") is None:
        return {name: UnitAttr()}
    if name != "scattered":
        parser.parse_punctuation("=")
    return _READERS[name](parser)


def _facts_of(attribute: Attribute) -> Facts | None:
    """The facts that an attribute holds; None if it says nothing about a descriptor."""
    match attribute:
        case TensorDescAttr():
            return attribute.facts.data
        case LayoutAttr():
            return {"layout": attribute}
        case BlockTensorDescAttr() | ScatterTensorDescAttr():
            return {"encoding": attribute}
        case _:
            return None


def _read_boolean(name: str) -> Callable[[AttrParser], Facts]:
    return lambda parser: {name: IntegerAttr.from_bool(parser.parse_boolean())}


def _read_integer(name: str) -> Callable[[AttrParser], Facts]:
    def read(parser: AttrParser) -> Facts:
        number = parser.parse_integer(allow_boolean=False)
        if parser.parse_optional_punctuation(":") is not None:
            parser.parse_type()
        return {name: IntegerAttr(number, i64)}

    return read


def _read_memory_space(parser: AttrParser) -> Facts:
    start = parser.pos
    if _is_at(parser, "#"):
        return {"memory_space": parser.parse_attribute()}
    name = parser.parse_identifier_or_str_literal()
    name = MEMORY_SPACES.get(name, name)
    if name not in list(MemorySpace):
        message = f"'{name}' is no memory space; expected one of {', '.join(MemorySpace)}"
        parser.raise_error(message, start, start + len(name))
    return {"memory_space": MemorySpaceAttr(MemorySpace(name))}


def _read_layout(parser: AttrParser) -> Facts:
    return {"layout": parser.parse_attribute()}


def _read_scattered(parser: AttrParser) -> Facts:
    return {"scattered": UnitAttr()} if parser.parse_boolean() else {}


_READERS: dict[str, Callable[[AttrParser], Facts]] = {
    "array_length": _read_integer("array_length"),
    "boundary_check": _read_boolean("boundary_check"),
    "chunk_size": _read_integer("chunk_size"),
    "layout": _read_layout,
    "memory_space": _read_memory_space,
    "scattered": _read_scattered,
}


def _encoding(shape: Sequence[int], facts: Facts) -> BlockTensorDescAttr | ScatterTensorDescAttr:
    """Returns what LLVM 22 says about how a descriptor's elements are accessed.

    Raises:
        VerifyException: The facts contradict each other.
    """
    encoding = facts.get("encoding")
    if isinstance(encoding, BlockTensorDescAttr | ScatterTensorDescAttr):
        others = [name for name in facts if name not in ("encoding", "layout")]
        if others:
            raise VerifyException(f"{encoding} says all; it excludes '{others[0]}'")
        return encoding
    space = facts.get("memory_space", MemorySpaceAttr(MemorySpace.GLOBAL))
    if not isinstance(space, MemorySpaceAttr):
        raise VerifyException(f"{space} is no memory space")
    if "scattered" in facts or "chunk_size" in facts:
        _exclude(facts, ("array_length", "boundary_check"), "a scattered descriptor")
        # The first revisions give the size on `create_tdesc`, and the type shows it in its shape.
        chunk = shape[-1] if len(shape) > 1 else 1
        return ScatterTensorDescAttr(space.data, _integer(facts, "chunk_size", chunk))
    is_checked = _integer(facts, "boundary_check", 1) != 0
    return BlockTensorDescAttr(space.data, _integer(facts, "array_length", 1), is_checked)


def _exclude(facts: Facts, names: Sequence[str], owner: str) -> None:
    for name in names:
        if name in facts:
            raise VerifyException(f"{owner} has no {name}")


def _integer(facts: Facts, name: str, default: int) -> int:
    value = facts.get(name)
    return value.value.data if isinstance(value, IntegerAttr) else default


def _layout(layout: Attribute | None, rank: int) -> LayoutAttr | None:
    """Returns the layout; the RFC gives a descriptor of rank 1 a `sg_map` of rank 2.

    Raises:
        VerifyException: It does not fit the rank.
    """
    if layout is None:
        return None
    if not isinstance(layout, LayoutAttr):
        raise VerifyException(f"{layout} is no sg_map")
    if rank != 1 or layout.rank != 2:
        return layout
    lanes, data = layout.effective_lane_layout, layout.effective_lane_data
    if (lanes[0], data[0]) != (1, 1):
        raise VerifyException(
            "the outer sizes of a sg_map are not 1; "
            "they must be 1 for a descriptor of one dimension"
        )
    return LayoutAttr(lane_layout=lanes[1:], lane_data=data[1:])


def _is_at(parser: AttrParser, text: str) -> bool:
    return parser.lexer.input.content.startswith(text, parser.pos)
