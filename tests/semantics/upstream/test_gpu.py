"""Ids, barriers, exchanges between work-items, and printing."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import DTYPES, kernel, run
from xtile.semantics.errors import ExecutionError

IDS = [
    *(f"{name}  {dimension}" for name in ("thread_id", "block_id", "block_dim", "grid_dim",
                                          "global_id") for dimension in "xyz"),
    "lane_id", "subgroup_id : index", "num_subgroups : index", "subgroup_size : index",
]  # fmt: skip


@pytest.mark.parametrize(("block", "size"), [((4, 3, 2), 8), ((16, 2, 1), 16), ((7, 5, 1), 16)])
def test_ids(block: tuple[int, int, int], size: int) -> None:
    grid = (2, 3, 2)
    items, groups = int(np.prod(block)), int(np.prod(grid))
    out = np.full((groups * items, len(IDS)), -1)
    body = ["%gx = gpu.grid_dim  x", "%gy = gpu.grid_dim  y",
            "%bx = gpu.block_id  x", "%by = gpu.block_id  y", "%bz = gpu.block_id  z",
            "%tx = gpu.thread_id  x", "%ty = gpu.thread_id  y", "%tz = gpu.thread_id  z",
            "%dx = gpu.block_dim  x", "%dy = gpu.block_dim  y",
            f"%items = arith.constant {items} : index",
            "%b0 = arith.muli %bz, %gy : index", "%b1 = arith.addi %b0, %by : index",
            "%b2 = arith.muli %b1, %gx : index", "%b3 = arith.addi %b2, %bx : index",
            "%t0 = arith.muli %tz, %dy : index", "%t1 = arith.addi %t0, %ty : index",
            "%t2 = arith.muli %t1, %dx : index", "%t3 = arith.addi %t2, %tx : index",
            "%r0 = arith.muli %b3, %items : index",
            "%row = arith.addi %r0, %t3 : index"]  # fmt: skip
    type_ = f"memref<{len(out)}x{len(IDS)}xindex>"
    for number, name in enumerate(IDS):
        body += [
            f"%i{number} = arith.constant {number} : index",
            f"%v{number} = gpu.{name}",
            f"memref.store %v{number}, %out[%row, %i{number}] : {type_}",
        ]
    attributes = f"intel_reqd_sub_group_size = {size} : i32"
    run(kernel(f"%out: {type_}", "\n".join(body), attributes=attributes), out,
        grid=grid, block=block)  # fmt: skip
    for row in range(len(out)):
        group, item = divmod(row, items)
        b = [group % 2, group // 2 % 3, group // 6]
        t = [item % block[0], item // block[0] % block[1], item // (block[0] * block[1])]
        world = [x * y + z for x, y, z in zip(b, block, t, strict=True)]
        subgroup = [item % size, item // size, -(-items // size), size]
        assert out[row].tolist() == [*t, *b, *block, *grid, *world, *subgroup]


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ("", 16),
        ("subgroup_size = 32 : i32", 32),
        ("intel_reqd_sub_group_size = 8 : i32", 8),
        ("spirv.entry_point_abi = #spirv.entry_point_abi<subgroup_size = 4>", 4),
        ('passthrough = [["intel_reqd_sub_group_size", "2"]]', 2),
        ("VectorComputeFunctionINTEL", 1),
    ],
)
def test_where_the_subgroup_size_stands(attributes: str, size: int) -> None:
    out = np.zeros(1, np.int64)
    text = kernel(
        "%out: memref<1xindex>",
        """%c0 = arith.constant 0 : index
        %s = gpu.subgroup_size : index
        memref.store %s, %out[%c0] : memref<1xindex>""",
        attributes=attributes,
    )
    run(text, out, block=(32, 1, 1))
    assert out[0] == size


def exchanged(operation: str, values: Any, type: str, results: list[str], around: str = "") -> Any:
    """What an exchange of %v between 24 work-items in subgroups of 8 gives; %x is the id."""
    outs = [np.zeros(24, DTYPES[result]) for result in results]
    names = ", ".join(f"%r{i}" for i in range(len(results)))
    parameters = ", ".join(f"%o{i}: memref<24x{result}>" for i, result in enumerate(results))
    stores = "\n".join(
        f"memref.store %r{i}, %o{i}[%x] : memref<24x{result}>" for i, result in enumerate(results)
    )
    text = kernel(
        f"%in: memref<24x{type}>, {parameters}",
        f"""%x = gpu.thread_id x
        %lane = gpu.lane_id
        %lane32 = arith.index_cast %lane : index to i32
        %v = memref.load %in[%x] : memref<24x{type}>
        {around}
        {names} = {operation}
        {stores}""",
        attributes="subgroup_size = 8 : i32",
    )
    run(text, values, *outs, block=(24, 1, 1))
    return outs


@pytest.mark.parametrize("mode", ["xor", "up", "down", "idx"])
@pytest.mark.parametrize("width", [8, 4])
def test_shuffle(mode: str, width: int) -> None:
    values = fresh_generator().standard_normal(24).astype(np.float32)
    source = {
        "xor": lambda lane: lane ^ 3,
        "up": lambda lane: lane - 3,
        "down": lambda lane: lane + 3,
        "idx": lambda lane: 3,
    }[mode]
    result, valid = exchanged(
        f"gpu.shuffle {mode} %v, %offset, %width : f32", values, "f32", ["f32", "i1"],
        f"%offset = arith.constant 3 : i32\n%width = arith.constant {width} : i32",
    )  # fmt: skip
    for x in range(24):
        lane = x % 8
        is_valid = lane < width and 0 <= source(lane) < width
        assert valid[x] == is_valid
        if is_valid:
            assert result[x] == values[x - lane + source(lane)]


def test_shuffle_with_an_offset_of_each_work_item() -> None:
    values = fresh_generator().integers(0, 99, 24).astype(np.int32)
    result, valid = exchanged(
        "gpu.shuffle idx %v, %offset, %width : i32", values, "i32", ["i32", "i1"],
        """%seven = arith.constant 7 : i32
        %width = arith.constant 8 : i32
        %offset = arith.subi %seven, %lane32 : i32""",
    )  # fmt: skip
    assert valid.all()
    assert result.tolist() == values.reshape(3, 8)[:, ::-1].ravel().tolist()


def test_rotate() -> None:
    values = fresh_generator().standard_normal(24).astype(np.float32)
    result, valid = exchanged("gpu.rotate %v, 3, 4 : f32", values, "f32", ["f32", "i1"])
    for x in range(24):
        lane = x % 8
        assert valid[x] == (lane < 4)
        if lane < 4:
            assert result[x] == values[x - lane + (lane + 3) % 4]


REDUCTIONS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "minsi": min,
    "maxsi": max,
    "minui": lambda a, b: min(a, b, key=lambda v: int(v) % 2**32),
    "maxui": lambda a, b: max(a, b, key=lambda v: int(v) % 2**32),
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "minnumf": min,
    "maxnumf": max,
    "minimumf": min,
    "maximumf": max,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    type_ = "f32" if name.endswith("f") else "i32"
    values = fresh_generator().integers(-3, 4, 24).astype(DTYPES[type_])
    combine = REDUCTIONS[name]
    with np.errstate(all="ignore"):
        (whole,) = exchanged(f"gpu.all_reduce {name} %v {{}} : ({type_}) -> {type_}", values, type_,
                             [type_])  # fmt: skip
        (part,) = exchanged(f"gpu.subgroup_reduce {name} %v : ({type_}) -> {type_}", values, type_,
                            [type_])  # fmt: skip
        assert whole.tolist() == [reduce(combine, values)] * 24
        assert part.reshape(3, 8).tolist() == [[reduce(combine, row)] * 8
                                               for row in values.reshape(3, 8)]  # fmt: skip


def test_clusters() -> None:
    values = np.arange(24, dtype=np.int32)
    (near,) = exchanged("gpu.subgroup_reduce add %v cluster(size = 2) : (i32) -> i32", values,
                        "i32", ["i32"])  # fmt: skip
    assert near.tolist() == [4 * (x // 2) + 1 for x in range(24)]
    (far,) = exchanged("gpu.subgroup_reduce add %v cluster(size = 2, stride = 4) : (i32) -> i32",
                       values, "i32", ["i32"])  # fmt: skip
    assert far.tolist() == [2 * (x // 8 * 8 + x % 4) + 4 for x in range(24)]


def test_short_floats_are_added_in_f32() -> None:
    values = np.array([2048.0] + [1.0] * 7, np.float16).repeat(3).reshape(8, 3).T.ravel()
    (result,) = exchanged("gpu.subgroup_reduce add %v : (f16) -> f16", values, "f16", ["f16"])
    assert result.tolist() == [float(np.float16(2055))] * 24


def test_reduction_by_a_region() -> None:
    values = fresh_generator().integers(-9, 10, 24).astype(np.int32)
    (result,) = exchanged(
        """gpu.all_reduce %v {
        ^bb0(%a: i32, %b: i32):
          %s = arith.addi %a, %b : i32
          gpu.yield %s : i32
        } : (i32) -> i32""", values, "i32", ["i32"],
    )  # fmt: skip
    assert result.tolist() == [int(values.sum())] * 24


def test_only_active_work_items_take_part() -> None:
    values = fresh_generator().integers(1, 50, 24).astype(np.int32)
    out = np.zeros((24, 3), np.int32)
    text = kernel(
        "%in: memref<24xi32>, %out: memref<24x3xi32>",
        """%x = gpu.thread_id x
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %v = memref.load %in[%x] : memref<24xi32>
        %bit = arith.remui %x, %c2 : index
        %odd = arith.cmpi eq, %bit, %c1 : index
        scf.if %odd {
          %p = gpu.subgroup_reduce add %v : (i32) -> i32
          %q = gpu.all_reduce maxsi %v {} : (i32) -> i32
          %r = gpu.subgroup_broadcast %v, first_active_lane : i32
          memref.store %p, %out[%x, %c0] : memref<24x3xi32>
          memref.store %q, %out[%x, %c1] : memref<24x3xi32>
          memref.store %r, %out[%x, %c2] : memref<24x3xi32>
        }""",
        attributes="subgroup_size = 8 : i32",
    )
    run(text, values, out, block=(24, 1, 1))
    odd = values.reshape(3, 8)[:, 1::2]
    for x in range(24):
        expected = [odd[x // 8].sum(), odd.max(), odd[x // 8, 0]] if x % 2 else [0, 0, 0]
        assert out[x].tolist() == expected


def test_broadcast_of_a_lane() -> None:
    values = fresh_generator().standard_normal(24).astype(np.float32)
    lane = "%lane5 = arith.constant {} : i32"
    operation = "gpu.subgroup_broadcast %v, specific_lane %lane5 : f32"
    (result,) = exchanged(operation, values, "f32", ["f32"], lane.format(5))
    assert result.tolist() == np.repeat(values[5::8], 8).tolist()
    with pytest.raises(ExecutionError, match="lane must be from 0 to 7"):
        exchanged(operation, values, "f32", ["f32"], lane.format(8))


def test_printf(capsys: pytest.CaptureFixture[str]) -> None:
    text = kernel(
        "%n: i32, %f: f32",
        r"""%x = gpu.thread_id x
        %c1 = arith.constant 1 : index
        %c = arith.cmpi ugt, %x, %c1 : index
        scf.if %c {
          gpu.printf "%lld: %d %u %5.2f 100%%\0A", %x, %n, %n, %f : index, i32, i32, f32
        }""",
    )
    run(text, -1, 1.25, block=(4, 1, 1))
    assert capsys.readouterr().out == "".join(f"{x}: -1 4294967295  1.25 100%\n" for x in (2, 3))


def test_dynamic_shared_memory_needs_a_launch_that_gives_it() -> None:
    text = kernel(
        "",
        """%c0 = arith.constant 0 : index
        %m = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
        %v = memref.load %m[%c0] : memref<?xi8, #gpu.address_space<workgroup>>""",
    )
    with pytest.raises(ExecutionError, match="dynamic shared memory, which has 0 elements"):
        run(text)
