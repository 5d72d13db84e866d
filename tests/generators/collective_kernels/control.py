"""Loops, conditions and regions of random kernels."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Attribute

from tests.generators.collective_kernels.linear_algebra import readable, size, writable
from tests.generators.collective_kernels.numbers import (
    condition,
    elements,
    may_read,
    number,
    position,
)
from tests.generators.collective_kernels.scope import Scope, View
from tests.generators.tensorlang.choices import INTEGERS
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, INDEX, type_text

_ROWS = 32
"""The rows of tiles, which every size of subgroups divides."""


def loop(scope: Scope, body: Callable[[], None]) -> None:
    """A loop, which may carry a number."""
    type_ = scope.choice((INDEX, INDEX, *INTEGERS[1:]))
    turns = scope.choice((0, 1, 2, 3, 3))
    step = scope.choice((None, 1, 2))
    last = turns if step is None else turns * step
    bound = scope.index(last) if type_ == INDEX else scope.constant(type_, last)
    variable = scope.name("i")
    head = f"for {variable}={scope.constant(type_, 0)},{bound}"
    if step is not None:
        head += f",{scope.constant(type_, step)}"
    carried = scope.choice(scope.types) if scope.chance(0.4) else None
    if carried is None:
        scope.lines.append(f"{head} {{")
        result = inner = ""
    else:
        result, inner, first = scope.name("r"), scope.name("x"), number(scope, carried)
        scope.lines.append(f"{result} = {head} init({inner}={first}) -> ({type_text(carried)}) {{")
    with scope.region():
        index = variable if type_ == INDEX else scope.emit(f"cast {variable}", INDEX)
        scope.counters.append((index, max(last, 1)))
        if carried is not None:
            scope.numbers.setdefault(carried, []).append(inner)
        body()
        if carried is not None:
            next_ = scope.emit(f"add {inner}, {number(scope, carried)}", carried)
            scope.lines.append(f"yield ({next_})")
    scope.lines.append("}")
    if carried is not None:
        scope.numbers.setdefault(carried, []).append(result)


def branch(scope: Scope, body: Callable[[], None]) -> None:
    """A condition, which may give a number."""
    test = condition(scope)
    given = scope.choice(scope.types) if scope.chance(0.3) else None
    if given is None:
        scope.lines.append(f"if {test} {{")
        result = ""
    else:
        result = scope.name("r")
        scope.lines.append(f"{result} = if {test} -> ({type_text(given)}) {{")
    _side(scope, body, given)
    if given is not None or scope.chance(0.5):
        scope.lines.append("} else {")
        _side(scope, body, given)
    scope.lines.append("}")
    if given is not None:
        scope.numbers.setdefault(given, []).append(result)


def _side(scope: Scope, body: Callable[[], None], given: Attribute | None) -> None:
    with scope.region():
        body()
        if given is not None:
            scope.lines.append(f"yield ({number(scope, given)})")


def store(scope: Scope) -> None:
    """Stores one element."""
    views = [view for view in scope.all_views if not view.root.is_shared and may_read(view)]
    if not views:
        return
    view = scope.choice(views)
    value = number(scope, view.element)
    view.root.is_updated = True
    scope.lines.append(f"store {value}, {view.name}[{', '.join(position(scope, view))}]")


def foreach(scope: Scope) -> None:
    """Computes element by element."""
    type_ = scope.choice(scope.types)
    shape = tuple(size(scope) for _ in range(scope.choice((1, 2))))
    source = readable(scope, type_, shape)
    output = writable(scope, type_, shape, [source], is_atomic=False)
    scale = number(scope, type_)
    names = [scope.name("i") for _ in shape]
    lower = ",".join(scope.index(0) for _ in shape)
    upper = ",".join(scope.index(n) for n in shape)
    scope.lines.append(f"foreach ({','.join(names)})=({lower}),({upper}) {{")
    position_ = ",".join(names)
    value = scope.emit(f"load {source.name}[{position_}]", type_)
    for _ in range(scope.random.randint(1, 3)):
        # What is taken away again leaves only rounding errors, which may be any.
        value = scope.emit(f"{scope.choice(('add', 'mul'))} {value}, {scale}", type_)
    scope.lines += [f"store {value}, {output.name}[{position_}]", "}"]
    _written(output)


def foreach_tile(scope: Scope) -> None:
    """Computes tile by tile."""
    types = [type for type in scope.types if type not in COMPLEX_TYPES]
    if not types:
        return
    type_ = scope.choice(types)
    shape = size(scope), size(scope)
    source = readable(scope, type_, shape)
    output = writable(scope, type_, shape, [source], is_atomic=False)
    if source.root is output.root:
        return
    scale = number(scope, type_)
    i, j, rows, columns = (scope.name("i") for _ in range(4))
    zero, width = scope.index(0), scope.choice((1, 3, 8))
    upper = f"{scope.index(shape[0])},{scope.index(shape[1])}"
    head = f"foreach_tile ({i},{j})=({zero},{zero}),({upper})"
    scope.lines.append(f"{head} as ({rows},{columns})<=({_ROWS},{width}) {{")
    matrix = f"coopmatrix<{type_text(type_)}x{_ROWS}x{width},matrix_acc>"
    tile, scaled = scope.name("t"), scope.name("t")
    scope.lines += [
        f"{tile} = cooperative_matrix_load.n.both_checked {source.name}[{i},{j}] : {matrix}",
        f"{scaled} = cooperative_matrix_scale {scale}, {tile} : {matrix}",
        f"cooperative_matrix_store.n.both_checked {scaled}, {output.name}[{i},{j}]",
        "}",
    ]
    _written(output)


def _written(output: View) -> None:
    root = output.root
    root.is_updated = True
    root.is_ready = root.is_ready or elements(output) == root.size
