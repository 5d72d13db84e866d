"""Adds to layouts of MFMA what some releases of Triton leave out.

Until 3.5 that is K of the instruction, and in all but 3.5 that elements are integers. It follows
from the products whose results have the layout, as Triton 3.5 itself chose it where it compiled
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerType
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.rewriter import Rewriter

from xtile.dialects.triton.encodings.matrix_units import AMDMfmaEncodingAttr
from xtile.dialects.triton.matrix_instructions import depth_of, scaled_depth
from xtile.dialects.triton.operation import element_of, encoding_of
from xtile.dialects.triton.tt.ops.products import DotOp, DotScaledOp


def complete_depths(module: Operation) -> None:
    """Completes the layouts of a module in place; one that no product tells stays as it is."""
    found: dict[Attribute, set[int]] = {}
    for operation in module.walk():
        if isinstance(operation, DotOp | DotScaledOp):
            layout = encoding_of(operation.d.type)
            if isinstance(layout, AMDMfmaEncodingAttr) and len(layout.instr_shape.data) == 2:
                is_scaled = isinstance(operation, DotScaledOp)
                depth = scaled_depth(layout) if is_scaled else depth_of(operation)
                found.setdefault(layout, set()).update([] if depth is None else [depth])
    changes = {
        layout: _with_depth(cast(AMDMfmaEncodingAttr, layout), *depths)
        for layout, depths in found.items()
        if len(depths) == 1
    }
    if changes:
        _Changes(changes).apply(module)


def name_integers(module: Operation) -> None:
    """Lets layouts of a module say, as those of 3.5 do, that their elements are integers."""
    found: dict[AMDMfmaEncodingAttr, set[bool]] = {}
    for operation in module.walk():
        if isinstance(operation, DotOp):
            layout = encoding_of(operation.d.type)
            if isinstance(layout, AMDMfmaEncodingAttr):
                is_integer = isinstance(element_of(operation.d.type), IntegerType)
                found.setdefault(layout, set()).add(is_integer)
    changes: dict[Attribute, Attribute] = {
        layout: _with_depth(layout, *layout.instr_shape.data[2:], is_of_integers=True)
        for layout, kinds in found.items()
        if kinds == {True}
    }
    if changes:
        _Changes(changes).apply(module)


def _with_depth(
    layout: AMDMfmaEncodingAttr, *depth: int, is_of_integers: bool = False
) -> AMDMfmaEncodingAttr:
    return AMDMfmaEncodingAttr(
        layout.version.data,
        layout.warps_per_cta.data,
        (*layout.result_shape, *depth),
        bool(layout.is_transposed.value.data),
        tiles_per_warp=layout.tiles_per_warp.data,
        element_bit_width=layout.element_bit_width.data,
        blocks=layout.blocks.data,
        is_of_integers=is_of_integers,
    )


class _Changes:
    """Layouts that become others, in all types and attributes of a module."""

    def __init__(self, changes: Mapping[Attribute, Attribute]) -> None:
        self._known = dict(changes)

    def apply(self, module: Operation) -> None:
        for operation in module.walk():
            for attributes in (operation.attributes, operation.properties):
                attributes.update({name: self._of(each) for name, each in attributes.items()})
            arguments = [
                argument
                for region in operation.regions
                for block in region.blocks
                for argument in block.args
            ]
            for value in (*operation.results, *arguments):
                changed = self._of(value.type)
                if changed is not value.type:
                    Rewriter.replace_value_with_new_type(value, changed)

    def _of(self, attribute: Attribute) -> Attribute:
        known = self._known.get(attribute)
        if known is None:
            known = self._known[attribute] = self._changed(attribute)
        return known

    def _changed(self, attribute: Attribute) -> Attribute:
        if isinstance(attribute, ArrayAttr):
            elements = cast("ArrayAttr[Attribute]", attribute)
            changed = self._all(elements.data)
            return elements if changed is None else ArrayAttr(changed)
        if isinstance(attribute, DictionaryAttr):
            changed = self._all(attribute.data.values())
            if changed is None:
                return attribute
            return DictionaryAttr(dict(zip(attribute.data, changed, strict=True)))
        if isinstance(attribute, ParametrizedAttribute):
            changed = self._all(attribute.parameters)
            return attribute if changed is None else type(attribute).new(changed)
        return attribute

    def _all(self, attributes: Iterable[Attribute]) -> list[Attribute] | None:
        """The attributes with the changes; None where there are none."""
        before = list(attributes)
        after = [self._of(each) for each in before]
        return after if any(a is not b for a, b in zip(after, before, strict=True)) else None
