"""Kernels whose work-groups wait for each other keep what orders them in every language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.ports.test_port import ported
from tests.seeds import fresh_generator
from tests.transforms.distribute_tiles.distributed import distributed
from xtile.arguments.errors import SanitizerError

LOCK = """
module {{
  tt.func public @add_rows(%x: !tt.ptr<i32>, %sum: !tt.ptr<i32>, %lock: !tt.ptr<i32>) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %yes = arith.constant true
    %id = tt.get_program_id x : i32
    %first = arith.muli %id, %c16 : i32
    %range = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
    %xs = tt.addptr %x, %first : !tt.ptr<i32>, i32
    %xt = tt.splat %xs : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %xp = tt.addptr %xt, %range : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %row = tt.load %xp : tensor<16x!tt.ptr<i32>>
    scf.while : () -> () {{
      %was = {take}
      %busy = arith.cmpi eq, %was, %c1 : i32
      scf.condition(%busy)
    }} do {{
      scf.yield
    }}
    %st = tt.splat %sum : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %sp = tt.addptr %st, %range : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    %before = tt.load %sp : tensor<16x!tt.ptr<i32>>
    %after = arith.addi %before, %row : tensor<16xi32>
    tt.store %sp, %after : tensor<16x!tt.ptr<i32>>
    %freed = tt.atomic_rmw exch, release, gpu, %lock, %c0, %yes : (!tt.ptr<i32>, i32, i1) -> i32
    tt.return
  }}
}}
"""

SWAP = LOCK.format(
    take="tt.atomic_cas acquire, gpu, %lock, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32"
)
MAXIMUM = LOCK.format(
    take="tt.atomic_rmw max, acquire, gpu, %lock, %c1, %yes : (!tt.ptr<i32>, i32, i1) -> i32"
)
"""The tensor language and XeGPU of work-groups have no compare-and-swap."""

LAST = """
module {
  tt.func public @sums(%x: !tt.ptr<i32>, %parts: !tt.ptr<i32>, %count: !tt.ptr<i32>,
      %sum: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %yes = arith.constant true
    %id = tt.get_program_id x : i32
    %first = arith.muli %id, %c4 : i32
    %range = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %xs = tt.addptr %x, %first : !tt.ptr<i32>, i32
    %xt = tt.splat %xs : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
    %xp = tt.addptr %xt, %range : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
    %row = tt.load %xp : tensor<4x!tt.ptr<i32>>
    %part = "tt.reduce"(%row) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %ab = arith.addi %a, %b : i32
      tt.reduce.return %ab : i32
    }) : (tensor<4xi32>) -> i32
    %own = tt.addptr %parts, %id : !tt.ptr<i32>, i32
    tt.store %own, %part : !tt.ptr<i32>
    %before = tt.atomic_rmw add, ORDER, gpu, %count, %c1, %yes : (!tt.ptr<i32>, i32, i1) -> i32
    %is_last = arith.cmpi eq, %before, %c3 : i32
    scf.if %is_last {
      %pt = tt.splat %parts : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
      %pp = tt.addptr %pt, %range : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
      %all = tt.load %pp : tensor<4x!tt.ptr<i32>>
      %total = "tt.reduce"(%all) <{axis = 0 : i32}> ({
      ^bb0(%a: i32, %b: i32):
        %ab = arith.addi %a, %b : i32
        tt.reduce.return %ab : i32
      }) : (tensor<4xi32>) -> i32
      tt.store %sum, %total : !tt.ptr<i32>
    }
    tt.return
  }
}
"""
"""The last of four programs adds what all have added."""


def _lock_arguments() -> list[Any]:
    x = fresh_generator().integers(0, 100, 48).astype(np.int32)
    return [x, np.zeros(16, np.int32), np.zeros(1, np.int32)]


def _last_arguments() -> list[Any]:
    x = fresh_generator().integers(0, 100, 16).astype(np.int32)
    return [x, np.zeros(4, np.int32), *(np.zeros(1, np.int32) for _ in range(2))]


def _port(directory: Path, text: str, languages: list[str], names: str, grid: int) -> list[str]:
    """The verdicts on ports of a kernel, whose arguments begin as `_arguments` makes them."""
    arguments = _lock_arguments() if grid == 3 else _last_arguments()
    (directory / "kernel.ttir").write_text(text)
    given = dict(zip(names.split(), arguments, strict=True))
    np.savez(directory / "inputs.npz", allow_pickle=False, **given)
    targets = [word for language in languages for word in ("--to", language)]
    options = ("--inputs", str(directory / "inputs.npz"), "--grid", str(grid))
    _, report = ported(
        directory / "out",
        str(directory / "kernel.ttir"),
        *targets,
        *options,
        "--device",
        "reference",
    )
    return [port["verdict"] for port in report["ports"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "languages"),
    [(SWAP, ["spirv"]), (MAXIMUM, ["spirv", "xegpu", "tensorlang"])],
    ids=["swap", "maximum"],
)
def test_ports_of_a_lock_agree(tmp_path: Path, text: str, languages: list[str]) -> None:
    assert set(_port(tmp_path, text, languages, "x sum lock", 3)) == {"agrees"}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["spirv", "xegpu", "tensorlang"])
def test_ports_of_a_sum_by_the_last_agree(tmp_path: Path, language: str) -> None:
    text = LAST.replace("ORDER", "acq_rel")
    assert _port(tmp_path, text, [language], "x parts count sum", 4) == ["agrees"]


OF_ALL = """func @add_rows(%x: memref<i32x?>, %sum: memref<i32x?>, %lock: memref<i32x?>)
    attributes {subgroup_size=16, work_group_size=[32,1]} {
    %c0 = constant 0 : index
    %c16 = constant 16 : index
    %free = constant 0 : i32
    %taken = constant 1 : i32
    %group = group_id.x : index
    %first = mul %group, %c16 : index
    parallel {
        %lane = subgroup_local_id : i32
        %sg = subgroup_linear_id : i32
        %which = or %lane, %sg : i32
        %is_first = equal %which, %free : bool
        if %is_first { %was = atomic_max.device.acquire %taken, %lock[%c0] : i32 }
    }
    foreach (%i)=(%c0),(%c16) {
        %j = add %first, %i : index
        %a = load %x[%j] : i32
        %b = load %sum[%i] : i32
        %c = add %a, %b : i32
        store %c, %sum[%i]
    }
    parallel {
        %lane = subgroup_local_id : i32
        %sg = subgroup_linear_id : i32
        %which = or %lane, %sg : i32
        %is_first = equal %which, %free : bool
        if %is_first { atomic_store.device.release %free, %lock[%c0] }
    }
}"""
"""A lock of code for all work-items, between whose parts the language has barriers."""


def test_a_lock_around_code_for_all() -> None:
    """Both sides need a barrier, although the lock is no memory that the code in it accesses."""
    lanes = xtile.translate(xtile.parse(OF_ALL), "xegpu")
    arguments = _lock_arguments()
    text = xtile.to_text(lanes, "mlir")
    assert _reported(text, arguments, 3) == ""
    np.testing.assert_array_equal(arguments[1], arguments[0].reshape(3, 16).sum(axis=0))
    assert text.count("gpu.barrier") == 2
    relaxed = OF_ALL.replace(".acquire", ".relaxed").replace(".release", ".relaxed")
    unordered = xtile.to_text(xtile.translate(xtile.parse(relaxed), "xegpu"), "mlir")
    # Between the two updates of the lock.
    assert unordered.count("gpu.barrier") == 1


def _lanes(text: str) -> str:
    return xtile.to_text(distributed(text, "lane"), "mlir")


def _reported(text: str, arguments: list[Any], grid: int) -> str:
    """What the sanitizer says of a kernel; nothing, if all is well."""
    kernel = xtile.parse(text, language="mlir")
    try:
        xtile.run(kernel, arguments, grid=(grid,), device="reference", sanitize=True)
    except SanitizerError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("text", [SWAP, MAXIMUM], ids=["swap", "maximum"])
def test_a_lock_of_lanes(text: str) -> None:
    lanes, arguments = _lanes(text), _lock_arguments()
    assert '{core.memory_order = "acquire"}' in lanes
    assert '{core.memory_order = "release"}' in lanes
    assert _reported(lanes, arguments, 3) == ""
    x, total, lock = arguments
    np.testing.assert_array_equal(total, x.reshape(3, 16).sum(axis=0))
    assert lock[0] == 0


@pytest.mark.parametrize("order", ["acquire", "release"])
def test_a_relaxed_lock_of_lanes(order: str) -> None:
    said = f' {{core.memory_order = "{order}"}}'
    lanes = _lanes(SWAP)
    assert lanes.count(said) == 1
    for instead in ("", f' {{core.memory_order = "{order}", core.memory_scope = "block"}}'):
        found = _reported(lanes.replace(said, instead), _lock_arguments(), 3)
        assert "is accessed (read) while another work-item accesses it with store" in found


@pytest.mark.slow
@pytest.mark.parametrize("order", ["acquire", "release", "relaxed"])
def test_a_sum_by_the_last_too_early(order: str) -> None:
    right = _lanes(LAST.replace("ORDER", "acq_rel"))
    said = '{core.memory_order = "acq_rel"}'
    assert right.count(said) == 1
    arguments = _last_arguments()
    assert _reported(right, arguments, 4) == ""
    assert arguments[3][0] == arguments[0].sum()
    wrong = right.replace(said, f'{{core.memory_order = "{order}"}}')
    assert "is accessed (read) while another" in _reported(wrong, _last_arguments(), 4)


@pytest.mark.slow
def test_a_barrier_that_is_missing() -> None:
    """Work-items use what the one that has the lock has not told them yet."""
    lanes = _lanes(SWAP)
    start = lanes.index("memref.generic_atomic_rmw")
    # The result goes through local memory, whose barriers are those of all memory.
    head, tail = lanes[:start], lanes[start:]
    without = head + tail.replace("gpu.barrier\n", "\n", 3)
    assert without.count("gpu.barrier") == lanes.count("gpu.barrier") - 3
    found = _reported(without, _lock_arguments(), 3)
    assert "element [1] of memory %sum is accessed (read) while another work-item" in found


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["pvc", "bmg"])
def test_stock_tools_read_the_order(chip: str) -> None:
    module = xtile.translate(xtile.parse(MAXIMUM, language="mlir"), "xegpu", chip=chip)
    text = xtile.to_text(module, "mlir")
    assert text.count("core.memory_order") == 2
    read = run_mlir_opt(text)
    assert read.returncode == 0, read.stderr
    assert read.stdout.count("core.memory_order") == 2
