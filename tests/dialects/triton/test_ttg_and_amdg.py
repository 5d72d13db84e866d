"""The text of each operation of `ttg` and `amdg`: as it is documented, and in each release."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from tests.dialects.triton.modules import (
    LAYOUTS,
    example,
    module_text,
    printed_for,
    undefined,
    without_names,
)
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import judge
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

MEMORY = "!ttg.memdesc<64x64xf16, #shared, #smem, mutable>"
TENSOR = "tensor<64x64xf16, #blocked>"
OFFSETS = "tensor<1024xi32, #line>"
FLOATS = "tensor<1024xf32, #line>"
POINTER = "!tt.ptr<f32>"


def read(text: str, values: Mapping[str, str] | None = None) -> ModuleOp:
    """A module of one kernel."""
    return TritonParser(make_context(), Source("text", _text(text, values or {}))).parse_module()


def _text(text: str, values: Mapping[str, str]) -> str:
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in values.items())
    blocks = 2 if "cluster_barrier" in text else 1
    return module_text(text, arguments, layouts=LAYOUTS, blocks=blocks)


def operation(text: str, values: Mapping[str, str]) -> TritonOperation:
    """The operation that a text has, in a function whose arguments have these names and types."""
    module = read(text, values)
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    found = (each for each in module.walk() if isinstance(each, TritonOperation))
    return next(each for each in found if each.name.startswith(("ttg.", "amdg.")))


def written(op: Operation, release: Release = NEWEST) -> str:
    """The line of an operation as a release writes it, with layouts by their aliases."""
    module = op
    while (parent := module.parent_op()) is not None:
        module = parent
    text = "".join(TritonPrinter(release=release, has_aliases=False).print_top_level(module))
    for line in LAYOUTS.strip().splitlines():
        alias, _, layout = line.partition(" = ")
        text = text.replace(layout, alias)
    found = [
        line.strip() for line in text.splitlines() if re.search(r"(ttg|amdg|amdgpu)\.\w", line)
    ]
    return next(
        line for line in found if "tt.func" not in line and not line.startswith(("#", "module"))
    )


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
            "3.5": "%0 = ttg.async_commit_group tokens %t",
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


@pytest.mark.slow
@pytest.mark.parametrize(("values", "texts"), SPELLINGS)
def test_each_release_has_its_spelling(values: dict[str, str], texts: dict[str, str]) -> None:
    text = None
    for release in RELEASES:
        text = texts.get(str(release), text)
        if text is None:
            continue
        for each in texts.values():
            assert written(operation(each, values), release) == text


@pytest.mark.parametrize("release", releases())
@pytest.mark.parametrize(("values", "texts"), SPELLINGS)
def test_tritons_read_each_spelling(
    values: dict[str, str], texts: dict[str, str], release: str
) -> None:
    version = parse_release(release)
    text = next(iter(texts.values()))
    if operation(text, values).lost_in(version) is None:
        text = printed_for(read(text, values), version)
        verdict = judge(release, text)
        assert verdict.accepted, (verdict.said, text)
        assert without_names(text) == without_names(verdict.text)


KINDS: list[type[TritonOperation]] = [
    kind for kind in (*OF_TTG, *OF_AMDG) if issubclass(kind, TritonOperation)
]


def test_every_operation_knows_its_releases() -> None:
    assert len(KINDS) == len(OF_TTG) + len(OF_AMDG)
    for kind in KINDS:
        assert kind.name.startswith(("ttg.", "amdg."))
        assert (kind.UNTIL or NEWEST) >= kind.SINCE


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_example_in_the_docstring(kind: type[TritonOperation]) -> None:
    text = example(kind)
    module = read(text, undefined(text))
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    assert any(isinstance(each, kind) for each in module.walk())
    for release in RELEASES:
        if _is_in(module, kind, release):
            again = printed_for(module, release)
            source = Source("again", again)
            made = TritonParser(make_context(), source).parse_module()
            assert printed_for(made, release) == again


def _is_in(module: ModuleOp, kind: type[TritonOperation], release: Release) -> bool:
    """Whether a release has the operation of a class that is in a module."""
    (found, *_) = (each for each in module.walk() if isinstance(each, kind))
    return found.lost_in(release) is None


@pytest.mark.parametrize("release", releases())
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_tritons_read_the_example(kind: type[TritonOperation], release: str) -> None:
    text, version = example(kind), parse_release(release)
    module = read(text, undefined(text))
    is_known = _is_in(module, kind, version)
    text = printed_for(module, version) if is_known else _text(text, undefined(text))
    verdict = judge(release, text)
    assert verdict.accepted == is_known, (verdict.said, text)
    if is_known:
        assert without_names(text) == without_names(verdict.text)


def test_the_letter_that_was_missing_until_3_8() -> None:
    memory, tensor = "!ttg.memdesc<16x64xi8, #shared1, #smem>", "tensor<32x32xi8, #packed>"
    old = f"%0 = amdg.local_load_packed_tranposed %m : {memory} -> {tensor}"
    read_ = operation(old, {"m": memory})
    assert written(read_, parse_release("3.8")) == old
    assert written(read_) == old.replace("tranposed", "transposed")


def test_mlirs_barrier_orders_all_memory() -> None:
    module = read("gpu.barrier")
    old = "".join(TritonPrinter(release=parse_release("3.6")).print_top_level(module))
    new = "".join(TritonPrinter().print_top_level(module))
    assert "    gpu.barrier\n" in old
    assert "    ttg.barrier all\n" in new


def test_a_barrier_of_no_memory_that_there_is() -> None:
    with pytest.raises(ParseError, match="expected one of none, local"):
        read("ttg.barrier local|here")


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
