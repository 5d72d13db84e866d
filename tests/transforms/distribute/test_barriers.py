"""A barrier stands where a work-item may see what another has written, and nowhere else."""

from __future__ import annotations

import pytest

from tests.transforms.distribute.kernels import body_of, kernel

LOCAL = "memref<8x8xf32, #gpu.address_space<workgroup>>"
GLOBAL = "memref<8x8xf32>"

PARAMETERS = (
    f"%alpha: f32, %n: index, %condition: i1, %a: {GLOBAL}, %b: {GLOBAL}, %c: {GLOBAL}, "
    f"%v: memref<8xf32>, %s: memref<f32>"
)

BEGIN = f"""
%zero = arith.constant 0.0 : f32
%one = arith.constant 1.0 : f32
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%l = memref.alloca() : {LOCAL}
%m = memref.alloca() : {LOCAL}
%o = memref.alloca() : {LOCAL}
"""

LOCALS = ("%l", "%m", "%o", "%view")


def axpby(source: str, target: str, flags: str = "", beta: str = "%zero") -> str:
    types = [LOCAL if name in LOCALS else GLOBAL for name in (source, target)]
    return (
        f"core.axpby {flags} %alpha, {source}, {beta}, {target} : f32, {types[0]}, f32, {types[1]}"
    )


def gemm(a: str, b: str, c: str, beta: str = "%zero") -> str:
    types = [LOCAL if name in LOCALS else GLOBAL for name in (a, b, c)]
    return f"core.gemm %alpha, {a}, {b}, {beta}, {c} : f32, {types[0]}, {types[1]}, f32, {types[2]}"


def loop(*body: str) -> str:
    return "\n".join(["scf.for %i = %c0 to %n step %c1 {", *body, "}"])


def choice(first: list[str], second: list[str]) -> str:
    return "\n".join(["scf.if %condition {", *first, "} else {", *second, "}"])


def parallel(*body: str) -> str:
    return "\n".join(["core.parallel {", *body, "}"])


STORE_LOCAL = f"memref.store %alpha, %l[%c0, %c0] : {LOCAL}"
LOAD_LOCAL = f"%x = memref.load %l[%c0, %c0] : {LOCAL}"
ATOMIC_ADD = f"%old = memref.atomic_rmw addf %alpha, %l[%c0, %c0] : (f32, {LOCAL}) -> f32"

KERNELS: dict[str, tuple[list[str], int]] = {
    "nothing": ([], 0),
    "one operation": ([axpby("%a", "%b")], 0),
    "the inputs of both are only read": ([axpby("%a", "%l"), axpby("%a", "%m")], 0),
    "different local buffers": ([axpby("%l", "%m"), axpby("%a", "%o")], 0),
    "an output may overlap an earlier input": ([axpby("%a", "%l"), axpby("%m", "%b")], 1),
    "local and global memory": ([axpby("%l", "%b"), axpby("%m", "%l")], 1),
    "arguments may overlap": ([axpby("%a", "%b"), axpby("%c", "%l")], 1),
    "read after write": ([gemm("%a", "%b", "%l"), gemm("%l", "%a", "%c")], 1),
    "read after write, twice": (
        [axpby("%a", "%l"), axpby("%a", "%m"), gemm("%l", "%m", "%c"), gemm("%l", "%m", "%c")],
        2,
    ),
    "write after read": ([gemm("%l", "%m", "%a"), axpby("%b", "%l")], 1),
    "write after write": ([axpby("%a", "%l"), axpby("%a", "%l")], 1),
    "a beta that is not known reads": ([axpby("%a", "%l"), axpby("%a", "%l", beta="%alpha")], 1),
    "atomic additions": (
        [axpby("%a", "%l", "atomic", "%one"), axpby("%a", "%l", "atomic", "%one")],
        0,
    ),
    "an atomic addition after a write": (
        [axpby("%a", "%l"), axpby("%a", "%l", "atomic", "%one")],
        1,
    ),
    "an atomic replacement after an addition": (
        [axpby("%a", "%l", "atomic", "%one"), axpby("%a", "%l", "atomic", "%zero")],
        1,
    ),
    "a loop that reads and writes": ([loop(axpby("%a", "%l"), gemm("%l", "%l", "%c"))], 2),
    "a loop over different buffers": ([loop(axpby("%a", "%l"), axpby("%a", "%m"))], 1),
    "a loop that overwrites what it wrote": (
        [axpby("%a", "%l"), loop(gemm("%l", "%l", "%m"))],
        1,
    ),
    "a loop that only reads": ([axpby("%a", "%l"), loop(LOAD_LOCAL)], 1),
    "a loop that waits once for each write": (
        [loop(axpby("%a", "%l"), axpby("%l", "%m"), axpby("%m", "%l"))],
        3,
    ),
    "after a loop that may not run": (
        [axpby("%a", "%l"), loop(axpby("%a", "%m")), axpby("%l", "%c")],
        2,
    ),
    "both branches write": (
        [choice([axpby("%a", "%l")], [axpby("%b", "%l")]), axpby("%l", "%c")],
        1,
    ),
    "one branch writes": (
        [choice([axpby("%a", "%l")], [axpby("%b", "%m")]), axpby("%l", "%c")],
        1,
    ),
    "only one branch reads": (
        [axpby("%a", "%l"), choice([axpby("%l", "%m")], [axpby("%o", "%m")])],
        1,
    ),
    "a view is its buffer": (
        [
            axpby("%a", "%l"),
            f"%view = memref.cast %l : {LOCAL} to {LOCAL}",
            axpby("%view", "%c"),
        ],
        1,
    ),
    "a store is seen": ([STORE_LOCAL, LOAD_LOCAL], 1),
    "work-item 0 stores twice": ([STORE_LOCAL, STORE_LOCAL], 0),
    "a load before a store": ([LOAD_LOCAL, STORE_LOCAL], 1),
    "loads": ([LOAD_LOCAL, LOAD_LOCAL.replace("%x", "%y")], 0),
    "a parallel region reads": ([axpby("%a", "%l"), parallel(LOAD_LOCAL)], 1),
    "a parallel region writes": ([parallel(STORE_LOCAL), axpby("%l", "%a")], 1),
    "a parallel region orders itself": ([parallel(STORE_LOCAL, LOAD_LOCAL)], 0),
    "parallel regions on different memory": (
        [parallel(LOAD_LOCAL), parallel(STORE_LOCAL.replace("%l", "%m"))],
        0,
    ),
    "a parallel region with nested writes": (
        [parallel(loop(STORE_LOCAL)), parallel(LOAD_LOCAL)],
        1,
    ),
    "a parallel region that waits": (
        [parallel(STORE_LOCAL, "gpu.barrier"), parallel(LOAD_LOCAL)],
        1,
    ),
    "a parallel region that waits before it writes": (
        [axpby("%a", "%m"), parallel("gpu.barrier", STORE_LOCAL), axpby("%l", "%c")],
        2,
    ),
    "a parallel region that waits before it reads": (
        [axpby("%a", "%l"), parallel("gpu.barrier", LOAD_LOCAL)],
        1,
    ),
    "parallel atomic additions": (
        [parallel(ATOMIC_ADD), parallel(ATOMIC_ADD.replace("%old", "%other"))],
        0,
    ),
    "an atomic result that is used": (
        [
            parallel(ATOMIC_ADD, STORE_LOCAL.replace("%alpha", "%old").replace("%l[", "%m[")),
            parallel(ATOMIC_ADD),
        ],
        1,
    ),
    "private memory": (
        [
            "%p = memref.alloca() : memref<f32>",
            "memref.store %alpha, %p[] : memref<f32>",
            "%x = memref.load %p[] : memref<f32>",
        ],
        0,
    ),
    "sizes and prefetches": (
        [
            axpby("%a", "%b"),
            f"%size = memref.dim %b, %c0 : {GLOBAL}",
            f"core.prefetch %b[%c0, %c0] block [8, 8] level 1 : {GLOBAL}",
        ],
        0,
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_number_of_barriers(name: str) -> None:
    operations, expected = KERNELS[name]
    lines = body_of(kernel(PARAMETERS, "\n".join([BEGIN, *operations])))
    assert lines.count("gpu.barrier") == expected, "\n".join(lines)


ENTRY = (
    "%g: memref<2xmemref<8x8xf32>>",
    "%e = memref.load %g[%c0] : memref<2xmemref<8x8xf32>>",
)
"""A group, and an entry of it."""

DISJOINT: dict[str, tuple[list[str], str, int]] = {
    "neither": ([axpby("%a", "%b"), axpby("%c", "%l")], "", 1),
    "what is written": ([axpby("%a", "%b"), axpby("%c", "%l")], "b", 0),
    "what is read": ([axpby("%a", "%b"), axpby("%c", "%l")], "c", 0),
    "the same argument": ([axpby("%a", "%b"), axpby("%b", "%l")], "ab", 1),
    "two others may overlap": ([axpby("%a", "%b"), axpby("%c", "%l")], "a", 1),
    "a view": (
        [
            axpby("%a", "%b"),
            f"%view = memref.cast %b : {GLOBAL} to {GLOBAL}",
            axpby("%view", "%l").replace(LOCAL, GLOBAL, 1),
        ],
        "b",
        1,
    ),
    "an entry of a group and an argument": (
        [ENTRY[1], axpby("%e", "%b"), axpby("%c", "%l")],
        "b",
        0,
    ),
    "entries of a group": ([ENTRY[1], axpby("%a", "%e"), axpby("%e", "%l")], "g", 1),
    "an entry of a group that overlaps nothing": (
        [ENTRY[1], axpby("%a", "%e"), axpby("%c", "%l")],
        "g",
        0,
    ),
    "what may be any argument": (
        [
            f"%any = arith.select %condition, %a, %c : {GLOBAL}",
            axpby("%any", "%b"),
            axpby("%b", "%any"),
        ],
        "abc",
        1,
    ),
    "any argument and one": (
        [
            f"%any = arith.select %condition, %a, %c : {GLOBAL}",
            axpby("%b", "%any"),
            axpby("%a", "%l"),
        ],
        "abc",
        1,
    ),
}
"""Operations, the arguments that overlap no other, and the number of barriers."""


@pytest.mark.parametrize("name", DISJOINT)
def test_arguments_that_overlap_no_other(name: str) -> None:
    operations, alone, expected = DISJOINT[name]
    parameters = f"{PARAMETERS}, {ENTRY[0]}"
    for letter in alone:
        type = GLOBAL if letter in "abc" else f"memref<2x{GLOBAL}>"
        parameters = parameters.replace(f"%{letter}: {type}", f"%{letter}: {type} {{core.noalias}}")
    assert parameters.count("core.noalias") == len(alone)
    lines = body_of(kernel(parameters, "\n".join([BEGIN, *operations])))
    assert lines.count("gpu.barrier") == expected, "\n".join(lines)


def test_place_in_a_loop() -> None:
    operations = loop(
        f"memref.store %alpha, %l[%c0, %c0] : {LOCAL}",
        f"%x = memref.load %l[%c1, %c1] : {LOCAL}",
        "memref.store %x, %s[] : memref<f32>",
    )
    lines = body_of(kernel(PARAMETERS, BEGIN + operations))
    start = next(i for i, line in enumerate(lines) if line.startswith("scf.for"))
    kinds = [
        line
        if line == "gpu.barrier"
        else "if"
        if line.startswith("scf.if")
        else "load"
        if "memref.load" in line
        else ""
        for line in lines[start:]
    ]
    assert [kind for kind in kinds if kind] == ["gpu.barrier", "if", "gpu.barrier", "load", "if"]


def test_a_loop_waits_before_it_starts_for_what_was_before() -> None:
    lines = body_of(kernel(PARAMETERS, BEGIN + axpby("%a", "%l") + "\n" + loop(LOAD_LOCAL)))
    start = next(i for i, line in enumerate(lines) if line.startswith("scf.for %i"))
    assert "gpu.barrier" in lines[:start]
    assert "gpu.barrier" not in lines[start:]


def test_deep_nesting_takes_no_exponential_time() -> None:
    body = axpby("%a", "%l")
    for depth in range(24):
        body = loop(body.replace("%i", f"%i{depth}"), LOAD_LOCAL.replace("%x", f"%x{depth}"))
    lines = body_of(kernel(PARAMETERS, BEGIN + body))
    assert lines.count("gpu.barrier") == 2
