"""The instructions on cooperative matrices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tests.backends.intel.every_type.kernel import WORK_ITEM, Kernel
from xtile.dialects.tensorlang.ops import arithmetic
from xtile.dialects.tensorlang.types import (
    COMPLEX_TYPES,
    FLOATING_TYPES,
    INTEGER_TYPES,
    NUMBER_TYPES,
    is_cast_allowed,
    is_promotable,
    real_part_type,
    type_text,
)
from xtile.dialects.tensorlang.verifier.arithmetic import ALLOWED_TYPES, is_allowed

_REAL_RESULTS = frozenset({"abs", "im", "re"})
"""Functions of which the result is real."""


def _functions(name: str) -> tuple[str, ...]:
    """What matrices are reduced with, and what updates memory atomically."""
    return ("add",) if NUMBER_TYPES[name] in COMPLEX_TYPES else ("add", "max", "min")


def matrix_kernels(name: str) -> Iterator[Kernel]:
    """The instructions on cooperative matrices of a type."""
    for use in ("matrix_a", "matrix_b", "matrix_acc"):
        yield _accesses(name, use)
    yield _arithmetic(name)
    for target, target_type in NUMBER_TYPES.items():
        if is_promotable(NUMBER_TYPES[name], target_type):
            yield _mul_add(name, name, target)
            if target_type in COMPLEX_TYPES and name != target:
                yield _mul_add(name, target, target)
                yield _mul_add(target, name, target)
    yield _atomic_updates(name)


def _accesses(name: str, use: str) -> Kernel:
    """Loads and stores, of blocks that reach beyond the end where that is checked."""
    memref, matrix = f"memref<{name}x40x40>", f"coopmatrix<{name}x16x8,{use}>"
    kernel = Kernel(f"access_{name}_{use}", [f"%a: {memref}"])
    kernel.add("parallel {", *WORK_ITEM)
    kernel.add("%c2 = constant 2 : index", "%c8 = constant 8 : index")
    kernel.add("%skip = mul %subgroup, %c8 : index")
    kernel.add("%x = constant 3 : index", "%y = add %skip, %c2 : index")
    kernel.add("%beyond = constant 35 : index", "%before = constant -5 : index")
    checks = {
        "": ("%x, %y", "%y, %x"),
        ".rows_checked": ("%beyond, %y", "%y, %beyond"),
        ".cols_checked": ("%x, %before", "%before, %x"),
        ".both_checked": ("%before, %beyond", "%beyond, %before"),
    }
    for (check, positions), (t, position), atomic in product(
        checks.items(), enumerate(("n", "t")), ("", "atomic_")
    ):
        label = f"{atomic}{position}{check.replace('.', '_')}"
        modifiers = f".{position}{check}"
        kernel.add(
            f"%{label} = cooperative_matrix_{atomic}load{modifiers} %a[{positions[t]}] : {matrix}"
        )
        to = kernel.output(label, f"memref<{name}x16x32>")
        kernel.add(f"%zero_{label} = constant 0 : index")
        kernel.add(f"cooperative_matrix_store %{label}, {to}[%zero_{label},%skip]")
        if check or atomic:
            # Subgroups would write to one location.
            continue
        to = kernel.output(f"stored_{label}", f"memref<{name}x40x40>")
        kernel.add(f"cooperative_matrix_store{modifiers} %{label}, {to}[{positions[t]}]")
    kernel.add("}")
    return kernel


def _arithmetic(name: str) -> Kernel:
    """Arithmetic component by component, reductions, and what depends on the layout."""
    type_ = NUMBER_TYPES[name]
    matrix, memref = f"coopmatrix<{name}x16x8,matrix_acc>", f"memref<{name}x16x8>"
    inputs = [f"%a: {memref}", f"%b: {memref}", f"%x: {name}"]
    kernel = Kernel(f"matrix_{name}", inputs, "{subgroup_size=16, work_group_size=[16,1]}")
    kernel.add("parallel {", *WORK_ITEM, "%c0 = constant 0 : index")
    kernel.add(f"%A = cooperative_matrix_load %a[%c0,%c0] : {matrix}")
    kernel.add(f"%B = cooperative_matrix_load %b[%c0,%c0] : {matrix}")
    divisor = "%B"
    if type_ in INTEGER_TYPES:
        divisor = "%odd"
        kernel.add(f"%ones = constant 1 : {matrix}", f"%odd = or %B, %ones : {matrix}")
    for operation, allowed in ALLOWED_TYPES.items():
        mnemonic = operation.mnemonic()
        if not is_allowed(type_, allowed):
            continue
        if issubclass(operation, arithmetic.BinaryArithmeticOperation):
            second = divisor if mnemonic in ("div", "rem") else "%B"
            _store_matrix(kernel, mnemonic, f"{mnemonic} %A, {second}", name)
        elif issubclass(operation, arithmetic.UnaryArithmeticOperation):
            result = type_text(real_part_type(type_)) if mnemonic in _REAL_RESULTS else name
            _store_matrix(kernel, mnemonic, f"{mnemonic} %A", result)
    for target, target_type in NUMBER_TYPES.items():
        if is_cast_allowed(type_, target_type):
            _store_matrix(kernel, f"cast_{target}", "cast %A", target)
    constant = "[1.5, -2.25]" if type_ in COMPLEX_TYPES else "1"
    constant = "1.5" if type_ in FLOATING_TYPES else constant
    _store_matrix(kernel, "constant", f"constant {constant}", name)
    _store_matrix(kernel, "scale", "cooperative_matrix_scale %x, %A", name)
    kernel.add(f"%own = cast %lane : {name}", f"%factor = add %own, %x : {name}")
    _store_matrix(kernel, "scale_varying", "cooperative_matrix_scale %factor, %A", name)
    _store_matrix(kernel, "construct", "cooperative_matrix_construct %x", name)
    for function, (mode, shape) in product(_functions(name), (("row", "16x1"), ("column", "1x8"))):
        instruction = f"cooperative_matrix_reduce_{function}.{mode}"
        _store_matrix(kernel, f"{function}_{mode}", f"{instruction} %A", name, shape)
    kernel.add(f"%r = cooperative_matrix_apply (%i,%j,%v)=%A -> {matrix} {{")
    kernel.add("    %d = sub %i, %j : i32", "    %zero = constant 0 : i32")
    kernel.add("    %lower = greater_than %d, %zero : bool")
    kernel.add(f"    %w = if %lower -> ({name}) {{", f"        %t = add %v, %x : {name}")
    kernel.add(
        "        yield (%t)", "    } else {", "        yield (%v)", "    }", "    yield (%w)", "}"
    )
    kernel.add(f"%one = cooperative_matrix_extract %r[5] : {name}")
    kernel.store("extract", "%one", f"memref<{name}x16>", "%id")
    _store_matrix(kernel, "insert", "cooperative_matrix_insert %one, %r[2]", name)
    kernel.add("}")
    return kernel


def _store_matrix(
    kernel: Kernel, label: str, instruction: str, component: str, shape: str = "16x8"
) -> None:
    """Appends an instruction that gives a matrix, and the store of its result."""
    to = kernel.output(label, f"memref<{component}x{shape}>")
    kernel.add(f"%{label} = {instruction} : coopmatrix<{component}x{shape},matrix_acc>")
    kernel.add(f"cooperative_matrix_store %{label}, {to}[%c0,%c0]")


def _mul_add(name: str, right: str, accumulator: str) -> Kernel:
    """A product of matrices that is added to one of another type."""
    inputs = [
        f"%a: memref<{name}x16x12>",
        f"%b: memref<{right}x12x8>",
        f"%c: memref<{accumulator}x16x8>",
    ]
    attributes = "{subgroup_size=16, work_group_size=[16,1]}"
    kernel = Kernel(f"mul_add_{name}_{right}_{accumulator}", inputs, attributes)
    kernel.add("parallel {", "%c0 = constant 0 : index")
    for operand, shape, use, type in (
        ("a", "16x12", "matrix_a", name),
        ("b", "12x8", "matrix_b", right),
        ("c", "16x8", "matrix_acc", accumulator),
    ):
        matrix = f"coopmatrix<{type}x{shape},{use}>"
        kernel.add(f"%m{operand} = cooperative_matrix_load %{operand}[%c0,%c0] : {matrix}")
    _store_matrix(kernel, "d", "cooperative_matrix_mul_add %ma, %mb, %mc", accumulator)
    kernel.add("}")
    return kernel


def _atomic_updates(name: str) -> Kernel:
    """Atomic updates with matrices, on memory of each subgroup's own."""
    memref, matrix = f"memref<{name}x16x32>", f"coopmatrix<{name}x16x8,matrix_acc>"
    inputs = [f"%a: {memref}", *(f"%to_{f}: {memref}" for f in _functions(name))]
    kernel = Kernel(f"matrix_atomic_{name}", inputs)
    kernel.add("parallel {", *WORK_ITEM, "%c0 = constant 0 : index")
    kernel.add("%c8 = constant 8 : index", "%y = mul %subgroup, %c8 : index")
    kernel.add(f"%A = cooperative_matrix_load %a[%c0,%y] : {matrix}")
    for function in _functions(name):
        kernel.add(
            f"%{function} = cooperative_matrix_atomic_{function} %A, %to_{function}[%c0,%y] "
            f": {matrix}"
        )
        to = kernel.output(f"old_{function}", memref)
        kernel.add(f"cooperative_matrix_store %{function}, {to}[%c0,%y]")
    kernel.add(
        f"cooperative_matrix_atomic_store %A, {kernel.output('atomic_store', memref)}[%c0,%y]"
    )
    kernel.add("}")
    return kernel
