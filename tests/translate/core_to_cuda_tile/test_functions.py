"""Entries: their arguments, what is promised of them, hints, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

import xtile
from tests.transforms.distribute.kernels import printed, read
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    body_of,
    entry_of,
    lowered,
    run_entry,
    tile_kernel,
)
from xtile.targets import NVIDIA
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.core_to_cuda_tile import translate_module


def _signature(parameters: str) -> list[str]:
    """The names and types of an entry's arguments."""
    entry = entry_of(lowered(tile_kernel(parameters, "")))
    return [f"{a.name_hint}: {a.type}" for a in entry.body.block.args]


def test_arguments_follow_the_calling_convention() -> None:
    tile = "!cuda_tile.tile<{}>".format
    assert _signature(
        "%x: f32, %n: index, %z: complex<f64>, %a: memref<?x4x?xbf16, strided<[?, ?, 1]>>, "
        "%c: memref<9xcomplex<f32>>"
    ) == [
        f"x: {tile('f32')}",
        f"n: {tile('i64')}",
        f"z: {tile('f64')}",
        f"z_im: {tile('f64')}",
        f"a: {tile('ptr<bf16>')}",
        f"a_size2: {tile('i64')}",
        f"a_size0: {tile('i64')}",
        f"a_stride1: {tile('i64')}",
        f"a_stride0: {tile('i64')}",
        f"c: {tile('ptr<f32>')}",
    ]


def test_groups_are_addresses_of_64_bits() -> None:
    group = "memref<?xmemref<?x3xf32>>"
    assert [line.rpartition("<")[2] for line in _signature(f"%g: {group}")] == [
        "i64>>",
        "i64>>",
        "i64>",
    ]


_PROMISED = """
    gpu.module @m {
      gpu.func @k(%a: memref<?x?xf16, strided<[?, 1]>> {core.alignment = 64 : i64,
          core.shape_gcd = array<i64: 4, 16>, core.stride_gcd = array<i64: 8, 1>}) kernel
          attributes {core.level = "tile", core.tile_hints = {occupancy = 2 : i32}} {
        %c0 = arith.constant 0 : index
        %v = vector.load %a[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>>, vector<4x16xf16>
        vector.store %v, %a[%c0, %c0] : memref<?x?xf16, strided<[?, 1]>>, vector<4x16xf16>
        gpu.return
      }
    }"""


def test_promises() -> None:
    lines = [line.partition(" = ")[2] for line in body_of(lowered(_PROMISED))]
    assumed = [line.removeprefix("assume ") for line in lines if line.startswith("assume")]
    bounds = [line.partition(",  %")[0] for line in assumed]
    assert sum("bounded<0, 2147483647>" in line for line in bounds) == 2
    assert sum("bounded<1, 137438953471>" in line for line in bounds) == 1
    divisors = sorted(int(n) for line in assumed for n in re.findall(r"div_by<(\d+)>", line))
    assert divisors == [4, 8, 16, 64]


@pytest.mark.parametrize("chip", ["sm_90", "sm_120"])
def test_hints_are_for_the_chip(chip: str) -> None:
    text = printed(translate_module(read(_PROMISED), NVIDIA.chips[chip]))
    assert f"optimization_hints=<{chip} = {{occupancy = 2}}>" in text


@pytest.mark.parametrize("given", ["", "occupancy = 2 : i32", "num_worker_warps_per_cta = 8 : i32"])
def test_an_entry_that_allocates_memory_has_one_warp(given: str) -> None:
    """tileiras 13.5 lets other warps overwrite the address before each of them has read it."""
    hints = f", core.tile_hints = {{{given}}}" if given else ""
    text = f"""
    gpu.module @m {{
      gpu.func @k(%x: memref<64xf32>) kernel attributes {{core.level = "tile"{hints}}} {{
        %c0 = arith.constant 0 : index
        %m = memref.alloca() : memref<64xf32>
        %v = memref.load %x[%c0] : memref<64xf32>
        memref.store %v, %m[%c0] : memref<64xf32>
        gpu.return
      }}
    }}"""
    entry = printed(translate_module(read(text), NVIDIA.chips["sm_90"]))
    found = re.findall(r"optimization_hints=<sm_90 = \{(.*)\}>", entry)
    others = ["occupancy = 2"] if "occupancy" in given else []
    assert found == [", ".join(["num_worker_warps_per_cta = 1", *others])]


def _products(columns: int, count: int, attributes: str) -> str:
    types = f"vector<128x64xf16>, vector<64x{columns}xf16>, vector<128x{columns}xf32>"
    a, b, c = types.split(", ")
    products = "\n".join(
        f"""%d{i} = vector.contract {{indexing_maps = [#a, #b, #c], iterator_types = ["parallel",
          "parallel", "reduction"], kind = #vector.kind<add>}} %a, %b, %c : {a}, {b} into {c}"""
        for i in range(count)
    )
    return f"""
    #a = affine_map<(i, j, k) -> (i, k)>
    #b = affine_map<(i, j, k) -> (k, j)>
    #c = affine_map<(i, j, k) -> (i, j)>
    gpu.module @m {{
      gpu.func @k(%x: f16) kernel attributes {{core.level = "tile"{attributes}}} {{
        %a = vector.broadcast %x : f16 to {a}
        %b = vector.broadcast %x : f16 to {b}
        %c = arith.constant dense<0.0> : {c}
        {products}
        gpu.return
      }}
    }}"""


_FROM_CUDA_TILE = """, core.signature = {language = "cuda_tile", parameters = [
    {becomes = ["value"], name = "x", type = "tile<f16>"}]}"""


@pytest.mark.parametrize(
    ("chip", "columns", "count", "attributes", "warps"),
    [
        ("sm_90", 256, 1, "", 8),
        # tileiras's own choice holds these, and those of Blackwell have memory of their own.
        ("sm_90", 128, 1, "", None),
        ("sm_100", 256, 1, "", None),
        ("sm_80", 128, 1, "", 8),
        ("sm_90", 128, 2, "", 8),
        ("sm_90", 256, 1, _FROM_CUDA_TILE, None),
    ],
)
def test_warps_for_large_products(
    chip: str, columns: int, count: int, attributes: str, warps: int | None
) -> None:
    module = read(_products(columns, count, attributes))
    text = printed(translate_module(module, NVIDIA.chips[chip]))
    found = re.findall(r"optimization_hints=<(\w+) = \{num_worker_warps_per_cta = (\d+)\}>", text)
    assert found == ([] if warps is None else [(chip, str(warps))])
    assert ("optimization_hints" in text) == (warps is not None)


def _attention(queries: int, keys: int, depth: int) -> str:
    """The products of attention, one of which becomes a factor of the other, and a branch."""
    scores, output = f"vector<{queries}x{keys}xf32>", f"vector<{queries}x{depth}xf32>"
    q, k, v = (f"vector<{a}x{b}xf16>" for a, b in ((queries, depth), (depth, keys), (keys, depth)))
    p = scores.replace("f32", "f16")
    maps = """{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}"""
    return f"""
    gpu.module @m {{
      gpu.func @k(%n: index) kernel attributes {{core.level = "tile"}} {{
        %zero = arith.constant 0 : index
        %is_zero = arith.cmpi eq, %n, %zero : index
        %q = ub.poison : {q}
        %k = ub.poison : {k}
        %v = ub.poison : {v}
        %s = arith.constant dense<0.0> : {scores}
        %o = arith.constant dense<0.0> : {output}
        %x = vector.contract {maps} %q, %k, %s : {q}, {k} into {scores}
        %y = scf.if %is_zero -> ({scores}) {{
          %e = math.exp2 %x : {scores}
          scf.yield %e : {scores}
        }} else {{
          scf.yield %x : {scores}
        }}
        %p = arith.truncf %y : {scores} to {p}
        %r = vector.contract {maps} %p, %v, %o : {p}, {v} into {output}
        gpu.return
      }}
    }}"""


@pytest.mark.parametrize(
    ("chip", "sizes", "hints"),
    [
        ("sm_90", (64, 32, 64), "num_worker_warps_per_cta = 4, occupancy = 4"),
        ("sm_90", (64, 64, 64), "num_worker_warps_per_cta = 4, occupancy = 4"),
        ("sm_90", (64, 128, 64), "num_worker_warps_per_cta = 4, occupancy = 2"),
        ("sm_90", (128, 64, 64), "num_worker_warps_per_cta = 8, occupancy = 2"),
        ("sm_90", (128, 128, 128), "num_worker_warps_per_cta = 8, occupancy = 2"),
        ("sm_90", (128, 256, 128), "num_worker_warps_per_cta = 8"),
        ("sm_80", (128, 128, 128), "num_worker_warps_per_cta = 8"),
        ("sm_80", (64, 64, 64), None),
    ],
)
def test_hints_for_products_of_products(
    chip: str, sizes: tuple[int, int, int], hints: str | None
) -> None:
    text = printed(translate_module(read(_attention(*sizes)), NVIDIA.chips[chip]))
    found = re.findall(r"optimization_hints=<(\w+) = \{(.*)\}>", text)
    assert found == ([] if hints is None else [(chip, hints)])


def test_several_kernels_and_modules_become_one_module() -> None:
    function = 'gpu.func @{} () kernel attributes {{core.level = "tile"}} {{ gpu.return }}'
    text = (
        f"gpu.module @m {{ {function.format('a')} {function.format('b')} }}\n"
        f"gpu.module @n {{ {function.format('c')} }}"
    )
    module = lowered(text)
    names = re.findall(r"entry @(\w+)", printed(module))
    assert names == ["a", "b", "c"]
    assemble_for_all(module)


def test_a_dynamic_offset_is_an_argument() -> None:
    parameters = "%a: memref<8xf32, strided<[2], offset: ?>>"
    body = """
        %c3 = arith.constant 3 : index
        %x = arith.constant 7.0 : f32
        memref.store %x, %a[%c3] : memref<8xf32, strided<[2], offset: ?>>"""
    text = tile_kernel(parameters, body)
    a = np.zeros(16, np.float32)
    run_entry(text, lowered(text), a[::2])
    assert a.nonzero()[0].tolist() == [6]


def test_numbers_of_the_grid() -> None:
    body = """
        %x = gpu.block_id x
        %y = gpu.block_id y
        %w = gpu.grid_dim x
        %row = arith.muli %y, %w : index
        %n = arith.addi %row, %x : index
        memref.store %n, %a[%n] : memref<6xindex>"""
    text = tile_kernel("%a: memref<6xindex>", body)
    a = np.full(6, 77, np.int64)
    run_entry(text, lowered(text), a, grid=(3, 2, 1))
    assert a.tolist() == [*range(6)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'gpu.func @k() attributes {core.level = "tile"} { gpu.return }',
            "@k is never launched: write 'kernel'",
        ),
        (
            'gpu.func @k(%x: i1) kernel attributes {core.level = "tile"} { gpu.return }',
            "a truth value cannot be passed to a kernel",
        ),
        (
            """gpu.func @k(%n: index) kernel attributes {core.level = "tile"} {
%a = memref.alloca(%n) : memref<?xf32>
gpu.return }""",
            r"2.1-\S+ error: memory of type memref<\?xf32> cannot be allocated in CUDA Tile IR",
        ),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        lowered(f"gpu.module @m {{ {text} }}")


def test_operations_without_a_rule_are_refused_where_they_stand() -> None:
    body = "memref.copy %A, %A : memref<4xf32> to memref<4xf32>"
    with pytest.raises(DiagnosticError, match=r"error: memref.copy cannot be translated") as caught:
        lowered(tile_kernel("%A: memref<4xf32>", body))
    assert body in str(caught.value)


def test_messages_of_the_host_and_of_lanes() -> None:
    from xtile.translate.tiles.refusals import RULES

    assert {"gpu.barrier", "gpu.lane_id", "gpu.alloc", "core.parallel"} <= set(RULES)


def test_prefetches_are_dropped() -> None:
    """They are no part of level tile, but nothing depends on them."""
    from xtile.translate.core_to_cuda_tile import RULES

    assert RULES.get("core.prefetch") is not None


ASSUMED = {
    "%a: memref<?x4xf32>": "relies on sizes from 0 to 2^31 - 1 of arguments",
    "%a: memref<4x4xf32, strided<[?, 1]>>": "relies on strides from 1 to 2^37 - 1 of arguments",
    "%g: memref<?xmemref<?x4xf32, strided<[?, 1]>>>": (
        "relies on sizes from 0 to 2^31 - 1 and strides from 1 to 2^37 - 1 of arguments"
    ),
    "%a: memref<4xf32>, %n: index, %g: memref<?xmemref<4xf32>>": None,
}
"""Arguments, and what a remark says is assumed of them."""


@pytest.mark.parametrize("parameters", ASSUMED)
def test_a_remark_names_what_a_launch_checks(parameters: str) -> None:
    remarks = Diagnostics()
    translate_module(read(tile_kernel(parameters, "")), NVIDIA.chips["sm_90"], remarks)
    expected = ASSUMED[parameters]
    found = [diagnostic.message for diagnostic in remarks]
    assert found == ([] if expected is None else [f"{expected}, which a launch checks"])


@pytest.mark.parametrize(("stride", "bits"), [(2**27, 32), (2**29, 64)])
def test_offsets_that_32_bits_do_not_hold(stride: int, bits: int) -> None:
    type = f"memref<8x8xf32, strided<[{stride}, 1]>>"
    body = f"""
        %c0 = arith.constant 0 : index
        %padding = arith.constant 1.5 : f32
        %v = vector.transfer_read %a[%i, %c0], %padding : {type}, vector<8x8xf32>
        vector.transfer_write %v, %b[%c0, %c0] {{in_bounds = [true, true]}}
            : vector<8x8xf32>, memref<8x8xf32>"""
    lines = body_of(lowered(tile_kernel(f"%a: {type}, %b: memref<8x8xf32>, %i: index", body)))
    offsets = [line for line in lines if " = offset " in line]
    assert any(f"tile<8x8xi{bits}>" in line for line in offsets)
    assert not any(f"tile<8x8xi{96 - bits}>" in line for line in offsets)


@pytest.mark.slow
def test_one_large_product_is_compiled_like_one_of_linear_algebra() -> None:
    """A tile of 256 x 256 takes the registers of two blocks."""
    text = """
        func @k(%A: memref<f16x4096x4096>, %B: memref<f16x4096x4096>, %C: memref<f32x4096x4096>)
                attributes {subgroup_size=16, work_group_size=[128,8]} {
            parallel {
                %c0 = constant 0 : index
                %c32 = constant 32 : index
                %x = subgroup_id.x : i32
                %y = subgroup_id.y : i32
                %xi = cast %x : index
                %yi = cast %y : index
                %i = mul %xi, %c32 : index
                %j = mul %yi, %c32 : index
                %z = constant 0.0 : coopmatrix<f32x32x32,matrix_acc>
                %a = cooperative_matrix_load.n %A[%i,%c0] : coopmatrix<f16x32x16,matrix_a>
                %b = cooperative_matrix_load.n %B[%c0,%j] : coopmatrix<f16x16x32,matrix_b>
                %c = cooperative_matrix_mul_add %a, %b, %z : coopmatrix<f32x32x32,matrix_acc>
                cooperative_matrix_store.n %c, %C[%i,%j]
            }
        }
    """
    lanes = xtile.translate(text, "xegpu", chip="pvc")
    for kernel in (text, lanes):
        made = xtile.to_text(xtile.translate(kernel, "cuda_tile", chip="sm_90"), "mlir")
        assert "sm_90 = {num_cta_in_cga = 2, num_worker_warps_per_cta = 8}" in made
