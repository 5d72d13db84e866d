"""Instructions on scalars: arithmetic, exchanges between work-items, and atomic ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tests.backends.intel.every_type.kernel import WORK_ITEM, Kernel
from xtile.dialects.tensorlang.ops import arithmetic
from xtile.dialects.tensorlang.types import (
    BOOL,
    COMPLEX_TYPES,
    FLOATING_TYPES,
    NUMBER_TYPES,
    is_cast_allowed,
    real_part_type,
    type_text,
)
from xtile.dialects.tensorlang.verifier.arithmetic import ALLOWED_TYPES, is_allowed

SIZE = 1024
"""Elements of the inputs of arithmetic."""

_WORK_ITEMS = 64


LOOPS = {
    "work_items": ["foreach (%i)=(%first),(%size) {"],
    "work_group": ["for %i=%first,%size {"],
    "lanes": ["parallel {", *WORK_ITEM, "for %i=%id,%size,%work_items {"],
}
"""Who computes: each work-item with its own numbers, the work-group with the same ones, or the
lanes of a subgroup, which a CPU computes with one vector instruction."""


def arithmetic_kernels(who: str) -> Iterator[Kernel]:
    """For each type the arithmetic, comparisons, functions and casts of its numbers."""
    for name, type_ in NUMBER_TYPES.items():
        kernel = _over_elements(name, name, who)
        for operation, allowed in ALLOWED_TYPES.items():
            if not is_allowed(type_, allowed):
                continue
            mnemonic = operation.mnemonic()
            if issubclass(operation, arithmetic.ComparisonOperation):
                kernel.add(f"%{mnemonic} = {mnemonic} %x, %y : bool")
                kernel.store_bool(mnemonic, f"%{mnemonic}", f"memref<i8x{SIZE}>", "%i")
                continue
            is_binary = issubclass(operation, arithmetic.BinaryArithmeticOperation)
            is_part = operation in (arithmetic.AbsOp, arithmetic.ImOp, arithmetic.ReOp)
            result = type_text(real_part_type(type_) if is_part else type_)
            kernel.add(f"%{mnemonic} = {mnemonic} {'%x, %y' if is_binary else '%x'} : {result}")
            kernel.store(mnemonic, f"%{mnemonic}", f"memref<{result}x{SIZE}>", "%i")
        for target, target_type in NUMBER_TYPES.items():
            if is_cast_allowed(type_, target_type):
                kernel.add(f"%cast_{target} = cast %x : {target}")
                kernel.store(f"cast_{target}", f"%cast_{target}", f"memref<{target}x{SIZE}>", "%i")
        if type_ in FLOATING_TYPES:
            # Nothing is fused between instructions.
            kernel.add(f"%mul_then_add = add %mul, %x : {name}")
            kernel.store("mul_then_add", "%mul_then_add", f"memref<{name}x{SIZE}>", "%i")
        yield _closed(kernel, who)
    yield _bool_kernel(who)


def _bool_kernel(who: str) -> Kernel:
    kernel = _over_elements("bool", "i8", who)
    kernel.add("%p = less_than %x, %y : bool", "%q = less_than %x, %no : bool")
    for operation, allowed in ALLOWED_TYPES.items():
        if is_allowed(BOOL, allowed):
            mnemonic = operation.mnemonic()
            is_binary = issubclass(operation, arithmetic.BinaryArithmeticOperation)
            kernel.add(f"%{mnemonic} = {mnemonic} {'%p, %q' if is_binary else '%p'} : bool")
            kernel.store_bool(mnemonic, f"%{mnemonic}", f"memref<i8x{SIZE}>", "%i")
    return _closed(kernel, who)


def _closed(kernel: Kernel, who: str) -> Kernel:
    kernel.add(*["}" for line in LOOPS[who] if line.endswith("{")])
    return kernel


def _over_elements(name: str, type: str, who: str) -> Kernel:
    """The beginning of a kernel in which x and y are the numbers of two arrays."""
    inputs = [f"%a: memref<{type}x{SIZE}>", f"%b: memref<{type}x{SIZE}>"]
    attributes = f"{{subgroup_size=32, work_group_size=[{_WORK_ITEMS // 2},2]}}"
    kernel = Kernel(f"{who}_{name}", inputs, attributes)
    kernel.add(
        "%first = constant 0 : index",
        f"%size = constant {SIZE} : index",
        f"%work_items = constant {_WORK_ITEMS} : index",
        *LOOPS[who],
        "%yes = constant 1 : i8",
        "%no = constant 0 : i8",
        f"%x = load %a[%i] : {type}",
        f"%y = load %b[%i] : {type}",
    )
    return kernel


def exchange_kernels(name: str) -> Iterator[Kernel]:
    """The instructions in which work-items of a subgroup exchange numbers, in each of its sizes."""
    for size in (8, 16, 32):
        attributes = f"{{subgroup_size={size}, work_group_size=[{2 * size},2]}}"
        memref = f"memref<{name}x{4 * size}>"
        kernel = Kernel(f"subgroup_{name}_{size}", [f"%a: {memref}"], attributes)
        kernel.add("parallel {", *WORK_ITEM, f"%x = load %a[%id] : {name}")
        kernel.add("%three = constant 3 : i32", "%last = sub %lanes, %three : i32")
        for index in ("three", "last", "group"):
            kernel.add(f"%from_{index} = subgroup_broadcast %x, %{index} : {name}")
            kernel.store(f"subgroup_broadcast_{index}", f"%from_{index}", memref, "%id")
        functions = ("add",) if NUMBER_TYPES[name] in COMPLEX_TYPES else ("add", "max", "min")
        for kind, function in product(("reduce", "exclusive_scan", "inclusive_scan"), functions):
            mnemonic = f"subgroup_{kind}_{function}"
            kernel.add(f"%{mnemonic} = {mnemonic} %x : {name}")
            kernel.store(mnemonic, f"%{mnemonic}", memref, "%id")
        kernel.add("}")
        yield kernel


def atomic_kernels(name: str) -> Iterator[Kernel]:
    """The atomic instructions, on an element for each work-item and on one for all."""
    memref, one = f"memref<{name}x32>", f"memref<{name}x4>"
    kernel = Kernel(
        f"atomic_{name}",
        [f"%a: {memref}", *(f"%own_{i}: {memref}" for i in range(4)), f"%shared: {one}"],
    )
    kernel.add("parallel {", *WORK_ITEM, f"%x = load %a[%id] : {name}")
    kernel.add(f"%loaded = atomic_load %own_0[%id] : {name}")
    kernel.store("atomic_load", "%loaded", memref, "%id")
    kernel.add("atomic_store %x, %own_0[%id]")
    functions = ("add",) if NUMBER_TYPES[name] in COMPLEX_TYPES else ("add", "max", "min")
    for i, function in enumerate(functions, 1):
        kernel.add(f"%{function} = atomic_{function} %x, %own_{i}[%id] : {name}")
        kernel.store(f"atomic_{function}", f"%{function}", memref, "%id")
        kernel.add(
            f"%at_{function} = constant {i} : index",
            f"%all_{function} = atomic_{function} %x, %shared[%at_{function}] : {name}",
        )
    kernel.add("}")
    yield kernel
