"""Prints what XeGPU's operations consist of in the RFC's form: types, layouts, attributes.

Source: RFC, the examples of its types.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

from typing_extensions import override
from xdsl.dialects.builtin import IntegerType, Signedness, UnitAttr, VectorType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.xegpu.attributes import BlockTensorDescAttr, MemorySpace
from xtile.dialects.xegpu.layout import LayoutAttr
from xtile.dialects.xegpu.rfc.limits import is_sg_map
from xtile.dialects.xegpu.rfc.names import PREFIX, PRINTED_OPERATIONS
from xtile.dialects.xegpu.types import NbarrierType, TensorDescType
from xtile.text.mlir_printer import MlirPrinter

Entry: TypeAlias = "tuple[str, str | Attribute]"
"""An attribute in braces: its name, and a word or an attribute as its value."""


class TermPrinter(MlirPrinter):
    """Prints MLIR text in which the types of XeGPU have the RFC's form."""

    @override
    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, TensorDescType | NbarrierType):
            self.print_string(f"!{PREFIX}")
            self.print_rfc_type(attribute)
        elif isinstance(attribute, LayoutAttr) and is_sg_map(attribute):
            self.print_string(_sg_map(attribute))
        else:
            super().print_attribute(attribute)

    def print_rfc_type(self, type: Attribute) -> None:
        """Prints a type as the RFC does in operations: `tensor_desc<8x16xbf16>`, `uint64`."""
        if isinstance(type, TensorDescType):
            self._print_descriptor(type)
        elif isinstance(type, NbarrierType):
            self.print_string("nbarrier")
        elif _is_unsigned(type):
            self.print_string(str(type).replace("ui", "uint"))
        elif isinstance(type, VectorType):
            vector = cast("VectorType[Attribute]", type)
            self._print_shaped("vector", vector.get_shape(), vector.element_type)
            self.print_string(">")
        else:
            self.print_attribute(type)

    def print_operation_text(
        self,
        operands: Sequence[SSAValue],
        entries: Iterable[Entry],
        types: Sequence[Attribute],
        results: Sequence[Attribute] = (),
    ) -> None:
        """Prints ` %a, %b {name = value} : type, type into type`."""
        if operands:
            self.print_string(" ")
            self.print_list(operands, self.print_ssa_value)
        self.print_entries(entries)
        self.print_types(types, results)

    def print_entries(self, entries: Iterable[Entry]) -> None:
        """Prints ` {name = value}`; nothing if there are no entries."""
        known = list(entries)
        if known:
            self.print_string(" ")
            with self.in_braces():
                self.print_list(known, self._print_entry)

    def print_types(self, types: Sequence[Attribute], results: Sequence[Attribute] = ()) -> None:
        """Prints ` : type, type into type`; nothing if there are no types."""
        if types:
            self.print_string(" : ")
            self.print_list(types, self.print_rfc_type)
        if results:
            self.print_string(" into ")
            self.print_list(results, self.print_rfc_type)

    @override
    def _short_name(self, name: str) -> str:
        dialect, _, mnemonic = name.partition(".")
        if dialect != "xegpu":
            return super()._short_name(name)
        return PREFIX + PRINTED_OPERATIONS.get(mnemonic, mnemonic)

    def _print_entry(self, entry: Entry) -> None:
        name, value = entry
        self.print_string(name)
        if isinstance(value, str):
            self.print_string(f" = {value}")
        elif not isinstance(value, UnitAttr):
            self.print_string(" = ")
            self.print_attribute(value)

    def _print_descriptor(self, type: TensorDescType) -> None:
        """Prints `tensor_desc<16x8xf32, #scattered, memory_scope = slm>`."""
        self._print_shaped("tensor_desc", type.get_shape(), type.element_type)
        layout = type.layout_or_none
        facts = _facts(type) if layout is None else [*_facts(type), _sg_map(layout)]
        self.print_string("".join(f", {fact}" for fact in facts) + ">")

    def _print_shaped(self, name: str, shape: Sequence[int], element_type: Attribute) -> None:
        self.print_string(f"{name}<" + "".join(f"{size}x" for size in shape))
        self.print_rfc_type(element_type)


def _is_unsigned(type: Attribute) -> bool:
    return isinstance(type, IntegerType) and type == IntegerType(type.bitwidth, Signedness.UNSIGNED)


def _facts(type: TensorDescType) -> list[str]:
    """What a descriptor's type says beside its shape and layout."""
    facts: list[str] = []
    encoding = type.encoding
    if type.is_scattered:
        facts.append("#scattered")
        if type.rank > 1 and type.chunk_size == 1:
            facts.append("chunk_size_per_lane = 1")
    if type.memory_space is not MemorySpace.GLOBAL:
        facts.append(f"memory_scope = {type.memory_space.value}")
    if type.array_length != 1:
        facts.append(f"array_length = {type.array_length}")
    if isinstance(encoding, BlockTensorDescAttr) and not encoding.is_boundary_checked:
        facts.append("boundary_check = false")
    return facts


def _sg_map(layout: LayoutAttr) -> str:
    """A layout as the RFC writes it, with two dimensions at least."""
    lanes, data = layout.effective_lane_layout, layout.effective_lane_data
    padding = (1,) * (2 - len(lanes))
    fields = {"wi_layout": padding + lanes, "wi_data": padding + data}
    if layout.effective_inst_data:
        fields["mma_block_size"] = padding + layout.effective_inst_data
    text = ", ".join(f"{name} = {list(sizes)}" for name, sizes in fields.items())
    return f"#xegpu.sg_map<{text}>"
