"""Random linear algebra instructions on the memory of a random kernel."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from tests.generators.collective_kernels.memory import Shape, new_memref, new_parameter
from tests.generators.collective_kernels.numbers import elements, may_read, number
from tests.generators.collective_kernels.scope import Scope, View
from tests.generators.tensorlang.choices import NUMBERS
from xtile.dialects.tensorlang.types import is_promotable, promote

_LARGEST_OF_MANY = 7
"""The largest size of a mode of memory with more than two of them."""


def _types(scope: Scope, inputs: int) -> tuple[Attribute, list[Attribute], Attribute]:
    """The types of alpha, of the inputs and of the output."""
    output = scope.choice(scope.types)
    while True:
        types = [output] * inputs
        if scope.chance(0.3):
            smaller = [t for t in NUMBERS if is_promotable(t, output)]
            types = [scope.choice(smaller) for _ in range(inputs)]
        product = types[0] if inputs == 1 else promote(types[0], types[1])
        if product is None or not is_promotable(product, output):
            continue
        return smaller_type(scope, product), types, output


def smaller_type(scope: Scope, type: Attribute) -> Attribute:
    """A type that is promotable to another one, mostly the same."""
    if scope.chance(0.75):
        return type
    return scope.choice([t for t in NUMBERS if is_promotable(t, type)])


def size(scope: Scope) -> int:
    """The size of a mode."""
    return scope.choice(scope.sizes)


def readable(scope: Scope, element: Attribute, shape: Shape) -> View:
    """A memref that holds numbers."""
    views = [v for v in scope.all_views if v.element == element and v.shape == shape]
    views = [v for v in views if may_read(v)]
    view = scope.choice(views) if views and scope.chance(0.8) else None
    if view is None:
        view = new_memref(scope, element, shape, is_output=False)
    view.root.is_read = True
    return view


def writable(
    scope: Scope, element: Attribute, shape: Shape, inputs: Sequence[View], *, is_atomic: bool
) -> View:
    """A memref that may be an output."""
    views = [
        view
        for view in scope.all_views
        if view.element == element
        and view.shape == shape
        and _may_write(view, is_atomic)
        and not any(view.overlaps(i) and view is not i for i in inputs)
        and not (any(view is i for i in inputs) and scope.chance(0.7))
    ]
    if views and scope.chance(0.8):
        return scope.choice(views)
    return new_memref(scope, element, shape, is_output=True)


def _may_write(view: View, is_atomic: bool) -> bool:
    root = view.root
    return not root.is_shared or (is_atomic and not root.is_read and not root.is_updated)


def _update(
    scope: Scope,
    name: str,
    alpha: Attribute,
    inputs: Sequence[tuple[Attribute, Shape]],
    element: Attribute,
    shape: Shape,
    mode: str = "",
) -> None:
    """Appends one instruction."""
    memrefs = [readable(scope, *each) for each in inputs]
    is_atomic = scope.chance(0.2)
    output = writable(scope, element, shape, memrefs, is_atomic=is_atomic)
    # A number may be loaded from the output, as long as that holds numbers.
    scale = number(scope, alpha)
    beta_type = smaller_type(scope, element)
    root = output.root
    if root.is_shared:
        beta = scope.constant(beta_type, 1)
    elif not root.is_ready:
        beta = scope.constant(beta_type, 0)
        root.is_ready = elements(output) == root.size
    elif is_atomic:
        beta = scope.constant(beta_type, scope.choice((0, 1, 1)))
    else:
        beta = number(scope, beta_type)
    root.is_updated = True
    head, _, flags = name.partition(".")
    parts = [head, "atomic" if is_atomic else "", flags]
    operands = [scale, *(m.name for m in memrefs), mode, beta, output.name]
    text = ".".join(filter(None, parts))
    scope.lines.append(f"{text} {', '.join(filter(None, operands))}")


def axpby(scope: Scope) -> None:
    """Scales and adds."""
    alpha, (a,), b = _types(scope, 1)
    shape = tuple(size(scope) for _ in range(scope.choice((0, 1, 2, 2))))
    flag = scope.choice(("", ".n", ".t"))
    source = shape[::-1] if flag == ".t" else shape
    _update(scope, f"axpby{flag}", alpha, [(a, source)], b, shape)


def total(scope: Scope) -> None:
    """Sums."""
    alpha, (a,), b = _types(scope, 1)
    shape = tuple(size(scope) for _ in range(scope.choice((1, 2, 2))))
    flag = scope.choice(("", ".n", ".t"))
    source = shape[::-1] if flag == ".t" else shape
    _update(scope, f"sum{flag}", alpha, [(a, source)], b, shape[:-1])


def cumsum(scope: Scope) -> None:
    """Sums of all elements up to each."""
    alpha, (a,), b = _types(scope, 1)
    order = scope.choice((1, 2, 2, 3, 4))
    sizes = scope.sizes if order < 3 else [n for n in scope.sizes if n <= _LARGEST_OF_MANY] or [3]
    shape = tuple(scope.choice(sizes) for _ in range(order))
    mode = str(scope.random.randrange(order))
    _update(scope, "cumsum", alpha, [(a, shape)], b, shape, mode)


def gemm(scope: Scope) -> None:
    """Multiplies matrices."""
    alpha, (a, b), c = _types(scope, 2)
    m, n, k = (size(scope) for _ in range(3))
    first, second = scope.choice("nt"), scope.choice("nt")
    left = (k, m) if first == "t" else (m, k)
    right = (n, k) if second == "t" else (k, n)
    _update(scope, f"gemm.{first}.{second}", alpha, [(a, left), (b, right)], c, (m, n))


def gemv(scope: Scope) -> None:
    """Multiplies a matrix and a vector."""
    alpha, (a, b), c = _types(scope, 2)
    m, k = size(scope), size(scope)
    flag = scope.choice("nt")
    _update(
        scope, f"gemv.{flag}", alpha, [(a, (k, m) if flag == "t" else (m, k)), (b, (k,))], c, (m,)
    )


def ger(scope: Scope) -> None:
    """Multiplies all elements of two vectors."""
    alpha, (a, b), c = _types(scope, 2)
    m, n = size(scope), size(scope)
    _update(scope, "ger", alpha, [(a, (m,)), (b, (n,))], c, (m, n))


def hadamard(scope: Scope) -> None:
    """Multiplies element by element."""
    alpha, (a, b), c = _types(scope, 2)
    shape = tuple(size(scope) for _ in range(scope.choice((1, 2))))
    _update(scope, "hadamard", alpha, [(a, shape), (b, shape)], c, shape)


def show(scope: Scope, view: View) -> None:
    """Copies local memory to an output."""
    output = new_parameter(scope, view.element, view.shape, is_output=True)
    one, zero = (scope.constant(view.element, number) for number in (1, 0))
    scope.lines.append(f"axpby.n {one}, {view.name}, {zero}, {output.name}")
