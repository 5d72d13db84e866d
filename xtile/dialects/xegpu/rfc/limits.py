"""What the RFC's form cannot say: a kernel with it can be printed in LLVM 22's form only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from xdsl.dialects.builtin import ModuleOp, NoneAttr
from xdsl.ir import Attribute, Operation

from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.layout import LayoutAttr
from xtile.dialects.xegpu.ops.block import LoadNdOp, PrefetchNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, PrefetchOp, StoreScatterOp
from xtile.dialects.xegpu.rfc.names import OPERATIONS
from xtile.dialects.xegpu.rfc.verifier import is_only_rfc
from xtile.dialects.xegpu.types import TensorDescType
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of, span_of

_FORM = "cannot be said in the RFC's form of XeGPU"


def check_rfc(module: ModuleOp) -> None:
    """Checks that a module can be printed in the RFC's form.

    Raises:
        DiagnosticError: It cannot; there is one error for each operation in the way.
    """
    source = source_of(module)
    diagnostics = Diagnostics()
    for operation in module.walk():
        reason = next(_reasons(operation), None)
        if reason is not None:
            diagnostics.error(source, span_of(operation, source), f"{reason}, which {_FORM}")
    diagnostics.raise_if_errors()


def is_sg_map(layout: LayoutAttr) -> bool:
    """Whether a layout says no more than the RFC's `sg_map` can, or the first kernels' could."""
    has_lanes = bool(layout.effective_lane_layout) and bool(layout.effective_lane_data)
    fields = layout.fields
    others = (fields["sg_layout"], fields["sg_data"], fields["order"])
    return has_lanes and all(not _is_given(field) for field in others)


def _reasons(operation: Operation) -> Iterator[str]:
    """Yields what the RFC's form has no words for in an operation."""
    name = operation.name
    if operation.dialect_name() == "xegpu":
        if name.removeprefix("xegpu.") not in OPERATIONS.values():
            yield f"'{name}' is an operation of LLVM 22"
            return
        if "layout" in operation.properties:
            yield f"'{name}' has a layout of its own"
        check = _CHECKS.get(name)
        if check is not None and not is_only_rfc(operation):
            yield from check(operation)
    yield from _reasons_of_layouts(operation)


def _reasons_of_layouts(operation: Operation) -> Iterator[str]:
    """Yields the layouts of an operation that are more than a `sg_map`."""
    arguments = [
        argument.type
        for region in operation.regions
        for block in region.blocks
        for argument in block.args
    ]
    values = (*operation.attributes.values(), *operation.properties.values())
    for attribute in (*operation.result_types, *arguments, *values):
        layout = attribute.layout if isinstance(attribute, TensorDescType) else attribute
        is_layout = isinstance(layout, DistributeLayoutAttr)
        if is_layout and not (isinstance(layout, LayoutAttr) and is_sg_map(layout)):
            yield f"'{operation.name}' has {layout}"


def _reasons_of_create_nd_tdesc(operation: Operation) -> Iterator[str]:
    if not cast("CreateNdDescOp", operation).mixed_offsets:
        yield f"'{operation.name}' has no offsets, and gets them where it is used"


def _reasons_of_block(operation: Operation) -> Iterator[str]:
    access = cast("LoadNdOp | StoreNdOp | PrefetchNdOp", operation)
    if access.mixed_offsets:
        yield f"'{operation.name}' has offsets of its own"


def _reasons_of_points(operation: Operation) -> Iterator[str]:
    access = cast("LoadGatherOp | StoreScatterOp | PrefetchOp", operation)
    if access.offsets is not None:
        yield f"'{operation.name}' has a base and offsets instead of a tensor_desc"
    elif "chunk_size" in operation.properties:
        yield f"'{operation.name}' has a chunk_size of its own"


_CHECKS: dict[str, Callable[[Operation], Iterator[str]]] = {
    "xegpu.create_nd_tdesc": _reasons_of_create_nd_tdesc,
    "xegpu.load": _reasons_of_points,
    "xegpu.load_nd": _reasons_of_block,
    "xegpu.prefetch": _reasons_of_points,
    "xegpu.prefetch_nd": _reasons_of_block,
    "xegpu.store": _reasons_of_points,
    "xegpu.store_nd": _reasons_of_block,
}
"""What finds the reasons of an operation, by its name."""


def _is_given(field: Attribute) -> bool:
    return not isinstance(field, NoneAttr)
