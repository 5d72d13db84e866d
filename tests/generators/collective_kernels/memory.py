"""Memory of random kernels: parameters, entries of groups, local memory, and views of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Attribute

from tests.generators.collective_kernels.kernel import Parameter
from tests.generators.collective_kernels.scope import Root, Scope, View
from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.types import DYNAMIC, INDEX, GroupType, MemrefType

Shape = tuple[int, ...]

_LARGEST_LOCAL = 4096
"""Elements of local memory."""


def new_memref(scope: Scope, element: Attribute, shape: Shape, *, is_output: bool) -> View:
    """A memref of new memory."""
    if is_output and math.prod(shape) <= _LARGEST_LOCAL and scope.chance(0.5):
        return _local(scope, element, shape)
    return new_parameter(scope, element, shape, is_output=is_output)


def new_parameter(scope: Scope, element: Attribute, shape: Shape, *, is_output: bool) -> View:
    """A memref of a new parameter."""
    is_filled = not (is_output and scope.chance(0.5))
    type_, strides = _layout(scope, element, shape)
    kinds = [_batched, _entry] if scope.groups > 1 and is_output else [_plain, _batched, _entry]
    return scope.choice(kinds)(scope, type_, shape, strides, is_filled)


def _local(scope: Scope, element: Attribute, shape: Shape) -> View:
    type_, strides = _static_layout(scope, element, shape)
    name = scope.emit("alloca", type_, "t")
    root = Root(math.prod(shape), is_local=True, is_ready=False)
    return scope.see(View(name, type_, shape, strides, root))


def _static_layout(scope: Scope, element: Attribute, shape: Shape) -> tuple[MemrefType, Shape]:
    strides = _padded(scope, shape)
    return MemrefType.get(element, shape, strides, AddressSpace.LOCAL), strides


def _padded(scope: Scope, shape: Shape) -> Shape:
    """Strides of memory, with gaps or without."""
    has_gaps = scope.chance(0.25)
    strides: list[int] = []
    stride = scope.choice((1, 2, 3)) if has_gaps and scope.chance(0.3) else 1
    for size in shape:
        strides.append(stride)
        stride = stride * size + (scope.choice((0, 1, 8)) if has_gaps else 0)
    return tuple(strides)


def _layout(scope: Scope, element: Attribute, shape: Shape) -> tuple[MemrefType, Shape]:
    strides = _padded(scope, shape)
    sizes = [DYNAMIC if scope.chance(scope.dynamic) else n for n in shape]
    # The strides after a dynamic size are unknown, unless the type says what they are.
    if scope.chance(0.5) and strides == _packed(shape):
        type_ = MemrefType.get(element, sizes)
        if DYNAMIC not in type_.strides or strides[:1] == (1,):
            return type_, strides
    written: list[int] = []
    least = 1
    for size, stride in zip(sizes, strides, strict=True):
        is_unknown = stride < least or scope.chance(scope.dynamic)
        written.append(DYNAMIC if is_unknown else stride)
        least = (least if is_unknown else stride) * (1 if size == DYNAMIC else size)
    return MemrefType.get(element, sizes, written), strides


def _packed(shape: Shape) -> Shape:
    return tuple(math.prod(shape[:mode]) for mode in range(len(shape)))


def _root(scope: Scope, shape: Shape, is_filled: bool, *, is_shared: bool = False) -> Root:
    return Root(math.prod(shape), is_ready=is_filled, is_shared=is_shared and scope.groups > 1)


def _plain(scope: Scope, type_: MemrefType, shape: Shape, strides: Shape, is_filled: bool) -> View:
    name = scope.parameter(Parameter(type_, shape, strides, is_filled), "A")
    root = _root(scope, shape, is_filled, is_shared=True)
    return scope.see_everywhere(View(name, type_, shape, strides, root))


def _batched(
    scope: Scope, type_: MemrefType, shape: Shape, strides: Shape, is_filled: bool
) -> View:
    """The part of a larger memref that is a work-group's own."""
    last = strides[-1] * shape[-1] if shape else 1
    last += scope.choice((0, 0, 5))
    whole = MemrefType.get(type_.element_type, [*type_.shape, DYNAMIC], [*type_.strides, DYNAMIC])
    parameter = Parameter(whole, (*shape, scope.groups), (*strides, last), is_filled)
    name = scope.parameter(parameter, "B")
    slices = [f"0:{size_of(scope, name, type_, mode)}" for mode in range(len(shape))]
    view = scope.emit(f"subview {name}[{', '.join([*slices, scope.group_id])}]", type_, "m")
    return scope.see(View(view, type_, shape, strides, _root(scope, shape, is_filled)))


def size_of(scope: Scope, name: str, type_: MemrefType, mode: int) -> str:
    """The size of a mode as text: a number, or a value if the type does not tell."""
    size = type_.shape[mode]
    return str(size) if size != DYNAMIC else scope.emit(f"size {name}[{mode}]", INDEX)


def _entry(scope: Scope, type_: MemrefType, shape: Shape, strides: Shape, is_filled: bool) -> View:
    """An entry of a group."""
    count, offset = scope.groups + scope.choice((0, 2)), scope.choice((0, 0, 4, 7))
    static = scope.chance(0.3)
    group = GroupType.get(
        type_,
        count if scope.chance(0.2) else DYNAMIC,
        offset if static or not offset else DYNAMIC,
    )
    parameter = Parameter(group, shape, strides, is_filled, count=count, offset=offset)
    name = scope.parameter(parameter, "G")
    view = scope.emit(f"load {name}[{scope.group_id}]", type_, "m")
    return scope.see(View(view, type_, shape, strides, _root(scope, shape, is_filled)))


# --- views ---


def subview(scope: Scope, source: View) -> View | None:
    """A block of a memref; modes may go away."""
    if not source.shape:
        return None
    slices: list[str] = []
    shape: list[tuple[int, int]] = []
    strides: list[tuple[int, int]] = []
    offset = source.offset
    for mode, size in enumerate(source.shape):
        first, position, largest = _first(scope, size)
        stride = source.strides[mode]
        offset = None if offset is None or position is None else offset + position * stride
        if scope.chance(0.25):
            slices.append(first)
            continue
        count = largest if scope.chance(0.6) else scope.random.randint(1, largest)
        is_static = scope.chance(1 - scope.dynamic / 2)
        slices.append(f"{first}:{count if is_static else scope.index(count)}")
        shape.append((count if is_static else DYNAMIC, count))
        strides.append((source.type.strides[mode], stride))
    return scope.view(f"subview {source.name}[{', '.join(slices)}]", source, shape, strides, offset)


def _first(scope: Scope, size: int) -> tuple[str, int | None, int]:
    """Where a block starts, where that is if it is always there, and its largest size."""
    fitting = [(name, turns) for name, turns in scope.counters if turns <= size]
    if fitting and scope.chance(0.5):
        name, turns = scope.choice(fitting)
        return name, None, size - turns + 1
    position = 0 if scope.chance(0.5) else scope.random.randrange(size)
    return (
        (str(position) if scope.chance(0.5) else scope.index(position)),
        position,
        size - position,
    )


def halves(scope: Scope, source: View) -> list[View]:
    """Two parts of a memref that do not overlap."""
    modes = [mode for mode, size in enumerate(source.shape) if size > 1 and size % 2 == 0]
    if not modes:
        return []
    split = scope.choice(modes)
    views: list[View] = []
    half = source.shape[split] // 2
    for first in (0, half):
        slices = [
            f"{first}:{half}" if mode == split else f"0:{size}"
            for mode, size in enumerate(source.shape)
        ]
        sizes = [half if mode == split else n for mode, n in enumerate(source.shape)]
        offset = None if source.offset is None else source.offset + first * source.strides[split]
        text = f"subview {source.name}[{', '.join(slices)}]"
        strides = list(zip(source.type.strides, source.strides, strict=True))
        views.append(scope.view(text, source, [(n, n) for n in sizes], strides, offset))
    return views


def expand(scope: Scope, source: View) -> View | None:
    """A view in which one mode is two."""
    modes = [mode for mode, size in enumerate(source.shape) if size > 1]
    if not modes or len(source.shape) > 3:
        return None
    mode = scope.choice(modes)
    size = source.shape[mode]
    factor = scope.choice([f for f in range(1, size + 1) if size % f == 0])
    factors = [factor, size // factor]
    known = [True, True]
    if source.type.shape[mode] == DYNAMIC or scope.chance(0.3):
        known[scope.random.randrange(2)] = False
    written = [str(n) if k else scope.index(n) for n, k in zip(factors, known, strict=True)]
    shape = list(zip(source.type.shape, source.shape, strict=True))
    strides = list(zip(source.type.strides, source.strides, strict=True))
    stride, real = strides[mode]
    outer = stride * factor if known[0] and stride != DYNAMIC else DYNAMIC
    shape[mode : mode + 1] = [(n if k else DYNAMIC, n) for n, k in zip(factors, known, strict=True)]
    strides[mode : mode + 1] = [(stride, real), (outer, real * factor)]
    text = f"expand {source.name}[{mode} -> {' x '.join(written)}]"
    return scope.view(text, source, shape, strides, source.offset)


def fuse(scope: Scope, source: View) -> View | None:
    """A view in which modes without gaps between them are one."""
    modes = [
        mode
        for mode in range(len(source.shape) - 1)
        if source.shape[mode] * source.strides[mode] == source.strides[mode + 1]
    ]
    if not modes:
        return None
    mode = scope.choice(modes)
    shape = list(zip(source.type.shape, source.shape, strict=True))
    strides = list(zip(source.type.strides, source.strides, strict=True))
    known = [n for n, _ in shape[mode : mode + 2]]
    size = math.prod(source.shape[mode : mode + 2])
    shape[mode : mode + 2] = [(DYNAMIC if DYNAMIC in known else size, size)]
    del strides[mode + 1]
    return scope.view(
        f"fuse {source.name}[{mode},{mode + 1}]", source, shape, strides, source.offset
    )


def derived(scope: Scope) -> Sequence[View]:
    """New views of a memref in reach."""
    if not scope.all_views:
        return []
    source = scope.choice(scope.all_views)
    if scope.chance(0.2):
        return halves(scope, source)
    made = scope.choice((subview, subview, expand, fuse))(scope, source)
    return [made] if made else []
