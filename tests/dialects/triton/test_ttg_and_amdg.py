"""The text of each operation of `ttg` and `amdg`: as it is documented, and in each release."""

from __future__ import annotations

import re

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from xtile.dialects.registry import make_context
from xtile.dialects.triton.amdg.dialect import OPERATIONS as OF_AMDG
from xtile.dialects.triton.operation import TritonOperation
from xtile.dialects.triton.parser import TritonParser
from xtile.dialects.triton.printer import TritonPrinter
from xtile.dialects.triton.ttg.dialect import OPERATIONS as OF_TTG
from xtile.dialects.triton.versions import NEWEST, RELEASES, Release, parse_release
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source

_BLOCKED = "sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]"
ALIASES = f"""
#blocked = #ttg.blocked<{{{_BLOCKED}}}>
#line = #ttg.blocked<{{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}}>
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#smem = #ttg.shared_memory
#dot = #ttg.dot_op<{{opIdx = 0, parent = #blocked}}>
"""
MEMORY = "!ttg.memdesc<64x64xf16, #shared, #smem, mutable>"
TENSOR = "tensor<64x64xf16, #blocked>"
OFFSETS = "tensor<1024xi32, #line>"
FLOATS = "tensor<1024xf32, #line>"
POINTER = "!tt.ptr<f32>"


def read(text: str) -> ModuleOp:
    source = Source("text", ALIASES + text)
    return TritonParser(make_context(), source).parse_module()


def operation(text: str, values: dict[str, str]) -> Operation:
    """The operation that a text has, in a function whose arguments have these names and types."""
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in values.items())
    module = read(f"tt.func @f({arguments}) {{\n{text}\ntt.return\n}}")
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    return next(op for op in module.walk() if op.name.startswith(("ttg.", "amdg.")))


def problem(text: str, values: dict[str, str]) -> str:
    """What verifying finds in an operation."""
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in values.items())
    module = read(f"tt.func @f({arguments}) {{\n{text}\ntt.return\n}}")
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    return diagnostics.render()


def written(op: Operation, release: Release = NEWEST) -> str:
    """The line of an operation as a release writes it, with layouts by their aliases."""
    module = op
    while (parent := module.parent_op()) is not None:
        module = parent
    text = "".join(TritonPrinter(release=release).print_top_level(module))
    for line in ALIASES.strip().splitlines():
        alias, _, layout = line.partition(" = ")
        text = text.replace(layout, alias)
    found = [
        line.strip() for line in text.splitlines() if re.search(r"(ttg|amdg|amdgpu)\.\w", line)
    ]
    return next(line for line in found if "tt.func" not in line and not line.startswith("#"))


SPELLINGS: list[tuple[dict[str, str], dict[str, str]]] = [
    (
        {"p": POINTER, "o": OFFSETS, "m": "tensor<1024xi1, #line>", "x": FLOATS, "s": "i32"},
        {
            "3.4": "%0 = amdgpu.buffer_load %p[%o], %m, %x cacheModifier = cg stride = %s : "
            f"{FLOATS}",
            "3.6": "%0 = amdg.buffer_load %p[%o], %m, %x cacheModifier = cg stride = %s : "
            f"{FLOATS}",
            "3.9": "%0 = amdg.buffer_load %p[%o], %m, %x stride = %s {cachePolicy = "
            "#tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : "
            f"{POINTER} -> {FLOATS}",
        },
    ),
    (
        {"x": FLOATS, "p": POINTER, "o": OFFSETS},
        {
            "3.7": f"amdg.buffer_store %x, %p[%o] {{contiguity = 4 : i32}} : {FLOATS}",
            "3.9": f"amdg.buffer_store %x, %p[%o] {{contiguity = 4 : i32}} : {POINTER} -> {FLOATS}",
        },
    ),
    (
        {"x": FLOATS, "p": POINTER, "o": OFFSETS, "m": "tensor<1024xi1, #line>"},
        {
            "3.4": f"%0 = amdgpu.buffer_atomic_rmw fadd, acq_rel, gpu, %x, %p[%o], %m : {FLOATS}",
            "3.6": f"%0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %x, %p[%o], %m : {FLOATS}",
            "3.9": "%0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %x, %p[%o], %m : "
            f"{POINTER} -> {FLOATS}",
        },
    ),
    (
        {"c": OFFSETS, "v": OFFSETS, "p": "!tt.ptr<i32>", "o": OFFSETS},
        {
            "3.6": f"%0 = amdg.buffer_atomic_cas acq_rel, gpu, %c, %v, %p[%o] : {OFFSETS}",
            "3.9": "%0 = amdg.buffer_atomic_cas acq_rel, gpu, %c, %v, %p[%o] : "
            f"!tt.ptr<i32> -> {OFFSETS}",
        },
    ),
    (
        {"p": "!tt.ptr<f16>", "o": "tensor<64x64xi32, #blocked>", "m": MEMORY},
        {
            "3.4": "%0 = amdgpu.buffer_load_to_local %p[%o] into %m : "
            "<f16>[tensor<64x64xi32, #blocked>]  -> <64x64xf16, #shared, #smem, mutable>",
            "3.6": "%0 = amdg.buffer_load_to_local %p[%o] into %m : "
            "<f16>[tensor<64x64xi32, #blocked>]  -> <64x64xf16, #shared, #smem, mutable>",
            "3.9": "%0 = amdg.buffer_load_to_local %p[%o] into %m : "
            "!tt.ptr<f16>[tensor<64x64xi32, #blocked>]  -> <64x64xf16, #shared, #smem, mutable>",
        },
    ),
    (
        {"t": "!ttg.async.token"},
        {
            "3.4": "%0 = ttg.async_commit_group %t",
            "3.6": "%0 = ttg.async_commit_group tokens %t",
        },
    ),
    ({"t": "!ttg.async.token"}, {"3.4": "%0 = ttg.async_wait %t {num = 1 : i32}"}),
    (
        {"m": "!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>", "i": "i32"},
        {
            "3.5": "%0 = ttg.memdesc_index %m[%i] : "
            f"!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> {MEMORY}",
        },
    ),
    (
        {"m": MEMORY},
        {
            "3.5": f"%0 = ttg.memdesc_subslice %m[0, 32] : {MEMORY} -> "
            "!ttg.memdesc<64x32xf16, #shared, #smem, mutable, 64x64>",
        },
    ),
    ({"x": TENSOR}, {"3.4": f"%0 = ttg.local_alloc %x : ({TENSOR}) -> {MEMORY}"}),
    ({"m": MEMORY}, {"3.4": f"%0 = ttg.local_load %m : {MEMORY} -> {TENSOR}"}),
    ({"x": TENSOR, "m": MEMORY}, {"3.4": f"ttg.local_store %x, %m : {TENSOR} -> {MEMORY}"}),
    ({"m": MEMORY}, {"3.4": f"ttg.local_dealloc %m : {MEMORY}"}),
    (
        {"p": "tensor<64x64x!tt.ptr<f16>, #blocked>", "m": MEMORY},
        {
            "3.4": "%0 = ttg.async_copy_global_to_local %p, %m cacheModifier = cg : "
            "tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>",
            "3.9": "%0 = ttg.async_copy_global_to_local %p, %m {cachePolicy = "
            "#tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : "
            "tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>",
        },
    ),
    ({"p": "i1"}, {"3.4": "amdgpu.cond_barrier %p", "3.6": "amdg.cond_barrier %p"}),
    ({}, {"3.7": "ttg.barrier local|global_read"}),
    ({}, {"3.6": "ttg.local_barrier", "3.7": "ttg.barrier local"}),
    ({}, {"3.6": "%0 = ttg.warp_id"}),
    (
        {"x": "tensor<64x64xi8, #dot>", "s": "tensor<64x2xi8, #blocked>"},
        {
            "3.4": "%0 = amdgpu.upcast_mxfp %x, %s fp_type = e4m3 {fastMath = true} : "
            "tensor<64x64xi8, #dot>, tensor<64x2xi8, #blocked> -> tensor<64x64xf16, #dot>",
            "3.6": "%0 = amdg.upcast_mxfp %x, %s fp_type = e4m3 {fastMath = true} : "
            "tensor<64x64xi8, #dot>, tensor<64x2xi8, #blocked> -> tensor<64x64xf16, #dot>",
        },
    ),
]
"""The types of values, and how an operation is written from a release on."""


@pytest.mark.parametrize(("values", "texts"), SPELLINGS)
def test_each_release_has_its_spelling(values: dict[str, str], texts: dict[str, str]) -> None:
    text = None
    for release in RELEASES:
        text = texts.get(str(release), text)
        if text is None:
            continue
        for each in texts.values():
            assert written(operation(each, values), release) == text


@pytest.mark.parametrize("kind", [*OF_TTG, *OF_AMDG])
def test_each_operation_says_what_it_is(kind: type[Operation]) -> None:
    assert issubclass(kind, TritonOperation)
    assert kind.name.startswith(("ttg.", "amdg."))
    assert (kind.UNTIL or NEWEST) >= kind.SINCE
    assert kind.__doc__
    if "```" in kind.__doc__:
        assert kind.name in kind.__doc__


def test_the_letter_that_was_missing_until_3_8() -> None:
    memory, tensor = "!ttg.memdesc<16x64xi8, #shared, #smem>", "tensor<32x32xi8, #blocked>"
    old = f"%0 = amdg.local_load_packed_tranposed %m : {memory} -> {tensor}"
    read_ = operation(old, {"m": memory})
    assert written(read_, parse_release("3.8")) == old
    assert written(read_) == old.replace("tranposed", "transposed")


def test_mlirs_barrier_orders_all_memory() -> None:
    module = read("tt.func @f() {\ngpu.barrier\ntt.return\n}")
    old = "".join(TritonPrinter(release=parse_release("3.6")).print_top_level(module))
    new = "".join(TritonPrinter().print_top_level(module))
    assert "    gpu.barrier\n" in old
    assert "    ttg.barrier all\n" in new


LINEAR = (
    "#ttg.linear<{register = [[1, 0], [2, 0], [0, 1], [0, 2], [0, 64]], lane = [[0, 4], [0, 8], "
    "[0, 16], [0, 32], [4, 0], [8, 0]], warp = [[16, 0], [32, 0]], block = []}>"
)
SQUARES = (
    "#ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], "
    "order = [1, 0]}>"
)


def test_threads_transpose_their_registers() -> None:
    source = f"tensor<64x128xf16, {SQUARES}>"
    text = f"%0 = amdg.in_thread_transpose %x : {source} -> tensor<64x128xf16, {LINEAR}>"
    operation(text, {"x": source})
    wrong = LINEAR.replace("[[1, 0], [2, 0], [0, 1], [0, 2]", "[[0, 1], [0, 2], [1, 0], [2, 0]")
    assert "transposed in each thread they hold" in problem(
        text.replace(LINEAR, wrong), {"x": source}
    )


def test_tiles_of_warps_are_joined_and_cut() -> None:
    small, large = "tensor<16x64xf32, #blocked>", "tensor<32x64xf32, #blocked>"
    joined = "%0 = amdg.concat %a, %b : {0}, {0} -> {1}"
    operation(joined.format(small, large), {"a": small, "b": small})
    cut = "%0 = amdg.extract_slice %a [16, 0] : {1} to {0}"
    operation(cut.format(small, large), {"a": large})


CASES: list[tuple[str, dict[str, str], str]] = [
    (
        (
            "%0 = amdg.concat %a, %b : tensor<8x64xf32, #blocked>, tensor<8x64xf32, #blocked> -> "
            "tensor<16x64xf32, #blocked>"
        ),
        {"a": "tensor<8x64xf32, #blocked>", "b": "tensor<8x64xf32, #blocked>"},
        "hold other elements of the result",
    ),
    (
        "%0 = amdg.concat %a : tensor<16x64xf32, #blocked> -> tensor<32x64xf32, #blocked>",
        {"a": "tensor<16x64xf32, #blocked>"},
        "there are 1 sources, but 2 make up the result",
    ),
    (
        (
            "%0 = amdg.extract_slice %a [8, 0] : tensor<32x64xf32, #blocked> to "
            "tensor<16x64xf32, #blocked>"
        ),
        {"a": "tensor<32x64xf32, #blocked>"},
        "it is a multiple of 16 from 0 to 16",
    ),
    (
        (
            f"%0 = amdg.in_thread_transpose %x : tensor<64x128xf16, {LINEAR}> -> "
            f"tensor<64x128xf16, {LINEAR}>"
        ),
        {"x": f"tensor<64x128xf16, {LINEAR}>"},
        "its layout must be #ttg.blocked",
    ),
    (
        f"%0 = amdg.buffer_load %p[%o] {{contiguity = 3 : i32}} : {FLOATS}",
        {"p": POINTER, "o": OFFSETS},
        "contiguity is 3; it must be a power of two",
    ),
    (
        f"%0 = amdg.buffer_load %p[%o] {{contiguity = 8 : i32}} : {FLOATS}",
        {"p": POINTER, "o": OFFSETS},
        "a thread holds 4 elements in a row",
    ),
    (
        f"%o = arith.constant dense<-4> : {OFFSETS}\n%0 = amdg.buffer_load %p[%o] : {FLOATS}",
        {"p": POINTER},
        "an offset is -4; offsets of buffers are not negative",
    ),
    (
        (
            f"%o = arith.constant dense<536870912> : {OFFSETS}\n"
            f"%0 = amdg.buffer_load %p[%o] : {FLOATS}"
        ),
        {"p": POINTER},
        "a buffer has less than 2^31 bytes",
    ),
    (
        (
            f"%o = arith.constant dense<0> : {OFFSETS}\n"
            f"%0 = amdg.buffer_load %p[%o] {{contiguity = 4 : i32}} : {FLOATS}"
        ),
        {"p": POINTER},
        "but all offsets are 0",
    ),
    (
        f"%0 = amdg.buffer_atomic_rmw add, acq_rel, gpu, %x, %p[%o] : {FLOATS}",
        {"x": FLOATS, "p": POINTER, "o": OFFSETS},
        "add is for integers, but the elements are f32",
    ),
    (
        f"%0 = amdg.buffer_atomic_rmw fadd, acq_rel, sys, %x, %p[%o] : {FLOATS}",
        {"x": FLOATS, "p": POINTER, "o": OFFSETS},
        "scope is sys",
    ),
    (
        f"ttg.local_store %x, %m : {TENSOR} -> !ttg.memdesc<64x64xf16, #shared, #smem>",
        {"x": TENSOR, "m": "!ttg.memdesc<64x64xf16, #shared, #smem>"},
        "only mutable memory can",
    ),
    (
        "%0 = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem>",
        {},
        "holds a tensor from the beginning",
    ),
    (
        f"%0 = ttg.local_load %m : {MEMORY} -> tensor<64x64xf32, #blocked>",
        {"m": MEMORY},
        "the same shape and the same elements",
    ),
    (
        (
            f"%0 = ttg.memdesc_subslice %m[0, 16] : {MEMORY} -> "
            "!ttg.memdesc<64x32xf16, #shared, #smem, mutable, 64x64>"
        ),
        {"m": MEMORY},
        "it is a multiple of 32 up to 32",
    ),
    (
        f"%0 = ttg.convert_layout %x : {TENSOR} -> tensor<64x64xf32, #blocked>",
        {"x": TENSOR},
        "only the layout may be another one",
    ),
    (
        (
            "%0 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x64xi8, #blocked> -> "
            "tensor<64x64xbf16, #blocked>"
        ),
        {"x": "tensor<64x64xi8, #blocked>"},
        "has two floats in each element along axis 1",
    ),
    (
        (
            "%0 = amdg.upcast_mxfp %x, %s fp_type = e4m3 {fastMath = true} : "
            "tensor<64x64xi8, #dot>, tensor<64x2xi8, #blocked> -> tensor<64x64xf32, #dot>"
        ),
        {"x": "tensor<64x64xi8, #dot>", "s": "tensor<64x2xi8, #blocked>"},
        "its elements are f16 or bf16",
    ),
    (
        (
            "%0 = amdg.upcast_mxfp %x, %s fp_type = e4m3 {fastMath = true} : "
            "tensor<64x64xi8, #blocked>, tensor<64x2xi8, #blocked> -> tensor<64x64xf16, #blocked>"
        ),
        {"x": "tensor<64x64xi8, #blocked>", "s": "tensor<64x2xi8, #blocked>"},
        "its layout must be #ttg.dot_op",
    ),
    (
        (
            "%0 = amdg.upcast_mxfp %x, %s fp_type = e4m3 {fastMath = true} : "
            "tensor<64x64xi8, #dot>, tensor<64x1xi8, #blocked> -> tensor<64x64xf16, #dot>"
        ),
        {"x": "tensor<64x64xi8, #dot>", "s": "tensor<64x1xi8, #blocked>"},
        "it must have the shape [64, 2], one scale for 32 numbers along K",
    ),
]


@pytest.mark.parametrize(("text", "values", "message"), CASES)
def test_what_is_refused(text: str, values: dict[str, str], message: str) -> None:
    assert message in problem(text, values)


def test_a_barrier_of_no_memory_that_there_is() -> None:
    with pytest.raises(ParseError, match="expected one of none, local"):
        read("tt.func @f() {\nttg.barrier local|here\ntt.return\n}")


def test_a_barrier_says_what_it_orders() -> None:
    """As `ttg.local_barrier` of 3.6, which orders local memory, does not."""
    with pytest.raises(ParseError, match="none"):
        read("tt.func @f() {\nttg.barrier\ntt.return\n}")
    read("tt.func @f() {\nttg.local_barrier\nttg.barrier none\ntt.return\n}")


def test_warps_have_regions_of_their_own() -> None:
    text = """%0 = ttg.warp_specialize(%a)
    default {
      ttg.warp_yield %a : i32
    }
    partition0(%b: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> i32"""
    made = operation(text, {"a": "i32"})
    module = made
    while (parent := module.parent_op()) is not None:
        module = parent
    again = "".join(TritonPrinter().print_top_level(module))
    assert "partition0(%b: i32) num_warps(4) {" in again
    assert "} : (i32) -> i32" in again
