"""Numbers of random kernels: constants, parameters, elements of memory, and sums of them."""

from __future__ import annotations

import math

from xdsl.ir import Attribute

from tests.generators.collective_kernels.kernel import Parameter
from tests.generators.collective_kernels.scope import Scope, View
from tests.generators.tensorlang.choices import NUMBERS
from xtile.dialects.tensorlang.types import (
    COMPLEX_TYPES,
    FLOATING_TYPES,
    INDEX,
    is_promotable,
)


def number(scope: Scope, type: Attribute) -> str:
    """A number of a type."""
    known = scope.numbers.setdefault(type, [])
    if known and scope.chance(0.5):
        return scope.choice(known)
    kind = scope.random.random()
    if kind < 0.45:
        return scope.constant(type, scope.choice((0, 1, 1, 1, 2, 3)))
    if kind < 0.5 and type in FLOATING_TYPES:
        return scope.constant(type, scope.choice(("-1.0", "0.5", "nan", "0x1p-2")))
    if kind < 0.75:
        return scope.parameter(Parameter(type), "s")
    made = _loaded(scope, type) or _computed(scope, type)
    known.append(made)
    return made


def _loaded(scope: Scope, type: Attribute) -> str | None:
    views = [view for view in scope.all_views if view.element == type and may_read(view)]
    if not views:
        return None
    view = scope.choice(views)
    view.root.is_read = True
    return scope.emit(f"load {view.name}[{', '.join(position(scope, view))}]", type)


def position(scope: Scope, view: View) -> list[str]:
    """The indices of an element."""
    indices: list[str] = []
    for size in view.shape:
        fitting = [name for name, turns in scope.counters if turns <= size]
        if fitting and scope.chance(0.6):
            indices.append(scope.choice(fitting))
        else:
            indices.append(scope.index(scope.random.randrange(size)))
    return indices


def _computed(scope: Scope, type: Attribute) -> str:
    names = ["add", "sub", "mul"]
    if type not in COMPLEX_TYPES:
        names += ["max", "min"]
    smaller = [t for t in NUMBERS if t != type and t != INDEX and is_promotable(t, type)]
    if smaller and scope.chance(0.3):
        source = scope.choice(smaller)
        return scope.emit(f"cast {scope.parameter(Parameter(source), 's')}", type)
    operands = [scope.parameter(Parameter(type), "s"), number(scope, type)]
    return scope.emit(f"{scope.choice(names)} {', '.join(operands)}", type)


def condition(scope: Scope) -> str:
    """A condition that is known only at run time, or not even that."""
    type = scope.choice(NUMBERS[:-2])
    name = scope.choice(("equal", "not_equal", "less_than", "greater_than", "less_than_equal"))
    made = scope.name("b")
    first, second = scope.parameter(Parameter(type), "s"), number(scope, type)
    scope.lines.append(f"{made} = {name} {first}, {second} : bool")
    return made


def may_read(view: View) -> bool:
    """Whether a memref holds numbers that no other work-group changes."""
    return view.root.is_ready and not (view.root.is_shared and view.root.is_updated)


def elements(view: View) -> int:
    """How many elements a memref has."""
    return math.prod(view.shape)
