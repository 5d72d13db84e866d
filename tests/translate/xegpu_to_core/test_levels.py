"""At which level kernels of XeGPU are, and what is refused there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.xegpu.kernels import undefined
from tests.translate.xegpu_to_core.raised import check, kernel, printed, raised, results
from xtile.opt import main
from xtile.text.diagnostics import DiagnosticError

BLOCK = "!xegpu.tensor_desc<8x16xf32>"
DEALT = "!xegpu.tensor_desc<8x16xf32, #l>"
LAYOUT = "#l = #xegpu.layout<sg_layout = [1, 2]>"


def _copy(type: str, vector: str = "vector<8x16xf32>") -> str:
    return f"""%t = xegpu.create_nd_tdesc %x : memref<8x16xf32> -> {type}
    %v = xegpu.load_nd %t[0, 0] : {type} -> {vector}
    xegpu.store_nd %v, %t[0, 0] : {vector}, {type}"""


def _kernel(body: str, attributes: str = "") -> str:
    return kernel("%x: memref<8x16xf32>", body, aliases=LAYOUT, attributes=attributes)


VECTOR_COMPUTE = "VectorComputeFunctionINTEL"
LEVELS = {
    "whole blocks": (_copy(BLOCK), "", ('core.level = "subgroup"', "group_size = 16 : i32")),
    "a layout": (
        _copy(DEALT),
        "",
        ('core.level = "tile"', "known_block_size = array<i32: 1, 1, 1>"),
    ),
    "vector compute": (_copy(BLOCK), VECTOR_COMPUTE, ("group_size = 1 : i32",)),
    "a size": (_copy(BLOCK), "intel_reqd_sub_group_size = 32 : i32", ("group_size = 32 : i32",)),
    "blocks that follow each other": (
        f"cf.br ^bb1\n^bb1:\n{_copy(BLOCK)}",
        "",
        ('core.level = "subgroup"', "group_size = 16 : i32"),
    ),
    "said": (_copy(BLOCK), 'xegpu.level = "work-group"', ('core.level = "tile"',)),
}


@pytest.mark.parametrize("name", LEVELS)
def test_what_tells_the_level(name: str) -> None:
    body, attributes, expected = LEVELS[name]
    text = printed(raised(_kernel(body, attributes)))
    for each in expected:
        assert each in text
    assert "xegpu.level" not in text
    assert VECTOR_COMPUTE not in text


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("subgroup", "intel_reqd_sub_group_size = 16 : i32"),
        ("vc", "intel_reqd_sub_group_size = 1 : i32"),
        ("work-group", 'core.level = "tile"'),
    ],
)
def test_insisting_on_a_level(
    level: Literal["subgroup", "vc", "work-group"],
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = _kernel(_copy(BLOCK))
    module = xtile.parse(text)
    before = xtile.to_text(module, "mlir")
    core = printed(xtile.translate(module, "core", xegpu_level=level))
    assert expected in core
    assert xtile.to_text(module, "mlir") == before
    file = tmp_path / "k.mlir"
    file.write_text(text)
    assert main([str(file), "--translate", "xegpu-to-core", "--xegpu-level", level]) == 0
    assert capsys.readouterr().out.strip() == core.strip()


def test_where_nothing_is_insisted_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "k.mlir"
    file.write_text(_kernel(_copy(BLOCK)))
    with pytest.raises(SystemExit) as end:
        main([str(file), "--xegpu-level", "vc"])
    assert end.value.code == 2
    assert "argument --xegpu-level: is for kernels of XeGPU" in capsys.readouterr().err


BARRIER = """%n = arith.constant {count} : i8
    %one = arith.constant 1 : i8
    %b = xegpu.init_nbarrier %one, %n : i8, i8 -> !xegpu.nbarrier
    %id = gpu.subgroup_id : index
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %id, %c0 : index
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
    {wait}"""
WAIT = "xegpu.nbarrier_wait %b : !xegpu.nbarrier"
SIZE = "known_block_size = array<i32: 32, 1, 1>"

REFUSED = {
    "layout in vector compute": (
        _copy(DEALT),
        VECTOR_COMPUTE,
        (
            "has a layout with sg_layout, so that its vector belongs to the work-group, but "
            f"{VECTOR_COMPUTE} says that the vectors of this kernel belong to subgroups"
        ),
    ),
    "layout in a kernel of subgroups": (
        _copy(DEALT),
        'xegpu.level = "subgroup"',
        "but xegpu.level says that the vectors of this kernel belong to subgroups",
    ),
    "part of a lane": (
        (
            f"{_copy(BLOCK)}\n%w = xegpu.load_nd %t[0, 0] : {BLOCK} -> vector<8xf32>\n"
            f"xegpu.store_nd %w, %t[0, 0] : vector<8xf32>, {BLOCK}"
        ),
        "",
        "xegpu.load_nd moves the part of one lane, but the kernel is one of whole blocks",
    ),
    "work-items of a work-group": (
        f"{_copy(DEALT)}\n%i = gpu.thread_id x\nmemref.store %f, %x[%i, %i] : memref<8x16xf32>",
        "",
        "gpu.thread_id tells work-items apart, but with sg_layout the whole work-group executes",
    ),
    "barrier of some": (
        f"{_copy(BLOCK)}\n{BARRIER.format(count=3, wait=WAIT)}",
        SIZE,
        "3 subgroups wait for this barrier, but the work-group has 2 subgroups",
    ),
    "barrier of one each in a branch": (
        f"{_copy(BLOCK)}\n{BARRIER.format(count=1, wait=f'scf.if %first {{ {WAIT} }}')}",
        SIZE,
        "this barrier stands in scf.if, which not all subgroups may enter",
    ),
    "barrier in a branch": (
        f"{_copy(BLOCK)}\n{BARRIER.format(count=2, wait=f'scf.if %first {{ {WAIT} }}')}",
        SIZE,
        "this barrier stands in scf.if, which not all subgroups may enter",
    ),
    "barrier without a size": (
        f"{_copy(BLOCK)}\n{BARRIER.format(count=2, wait=WAIT)}",
        "",
        "the work-group has an unknown number of subgroups",
    ),
    "branches between blocks": (
        f"""%is = arith.constant true
        cf.cond_br %is, ^bb1, ^bb2
      ^bb1:
        cf.br ^bb2
      ^bb2:
        {_copy(BLOCK)}""",
        "",
        "branches between blocks have no counterpart in the core form; use scf.if or scf.while",
    ),
    "bits of local memory": (
        f"""{_copy(BLOCK)}
        %m = memref.alloca() : memref<1024xi8, 3>
        %d = xegpu.create_mem_desc %m : memref<1024xi8, 3> -> !xegpu.mem_desc<16x16xf32>
        %e = xegpu.create_mem_desc %m : memref<1024xi8, 3> -> !xegpu.mem_desc<16x32xf16>
        %w = xegpu.load_matrix %d[0, 0] : !xegpu.mem_desc<16x16xf32> -> vector<8x16xf32>
        %h = xegpu.load_matrix %e[0, 0] : !xegpu.mem_desc<16x32xf16> -> vector<8x16xf16>""",
        "",
        "the core form sees local memory as elements of one type",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    body, attributes, message = REFUSED[name]
    body = body if "%f" not in body else f"%f = arith.constant 0.0 : f32\n{body}"
    with pytest.raises(DiagnosticError) as error:
        raised(_kernel(body, attributes))
    (diagnostic,) = error.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.span is not None


def test_a_product_of_lanes_may_have_layouts() -> None:
    """They say of the whole what the parts show, too."""
    layouts = "layout_a = #a, layout_b = #b, layout_cd = #a"
    blocks = {n: f"!xegpu.tensor_desc<{n}x16xf16>" for n in (8, 16)}
    sums = "!xegpu.tensor_desc<8x16xf32>"
    text = kernel(
        "%x: memref<8x16xf16>, %y: memref<16x16xf16>, %z: memref<8x16xf32>",
        f"""%tx = xegpu.create_nd_tdesc %x : memref<8x16xf16> -> {blocks[8]}
        %ty = xegpu.create_nd_tdesc %y : memref<16x16xf16> -> {blocks[16]}
        %tz = xegpu.create_nd_tdesc %z : memref<8x16xf32> -> {sums}
        %a = xegpu.load_nd %tx[0, 0] : {blocks[8]} -> vector<8xf16>
        %b = xegpu.load_nd %ty[0, 0] <{{packed}}> : {blocks[16]} -> vector<16xf16>
        %c = xegpu.dpas %a, %b <{{{layouts}}}> : vector<8xf16>, vector<16xf16> -> vector<8xf32>
        xegpu.store_nd %c, %tz[0, 0] : vector<8xf32>, {sums}""",
        aliases="""#a = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>
        #b = #xegpu.layout<lane_layout = [1, 16], lane_data = [2, 1]>""",
    )
    rng = fresh_generator()
    x, y = (rng.integers(-8, 9, (n, 16)).astype(np.float16) for n in (8, 16))
    z = undefined((8, 16), "f32")
    check(text, [x, y, z], block=(16, 1, 1), on_opencl=True)
    for device in ("reference", "opencl"):
        *_, found = results(text, [x, y, z], block=(16, 1, 1), device=device)
        np.testing.assert_array_equal(found, x.astype(np.float32) @ y.astype(np.float32))


def test_work_items_that_are_subgroups_without_vectors() -> None:
    text = kernel(
        "%x: memref<6xf32>",
        """%i = gpu.thread_id x
        %v = memref.load %x[%i] : memref<6xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %x[%i] : memref<6xf32>""",
        attributes=VECTOR_COMPUTE,
    )
    x = fresh_generator().standard_normal(6).astype(np.float32)
    check(text, [x], block=(6, 1, 1), on_opencl=True)
    for device in ("reference", "opencl"):
        np.testing.assert_array_equal(results(text, [x], (1, 1, 1), (6, 1, 1), device)[0], x + x)


def test_barriers_in_branches_that_the_whole_work_group_takes() -> None:
    """Each subgroup hands a number on in every second step."""
    text = kernel(
        "%x: memref<4xf32>, %n: index",
        """%one = arith.constant 1 : i8
        %all = arith.constant 4 : i8
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c3 = arith.constant 3 : index
        %b = xegpu.init_nbarrier %one, %all : i8, i8 -> !xegpu.nbarrier
        %m = memref.alloca() : memref<4xf32, 3>
        %id = gpu.thread_id x
        %to = arith.addi %id, %c1 : index
        %next = arith.andi %to, %c3 : index
        scf.for %i = %c0 to %n step %c1 {
          %rest = arith.remui %i, %c2 : index
          %is_even = arith.cmpi eq, %rest, %c0 : index
          scf.if %is_even {
            %v = memref.load %x[%id] : memref<4xf32>
            memref.store %v, %m[%next] : memref<4xf32, 3>
            xegpu.nbarrier_arrive %b : !xegpu.nbarrier
            xegpu.nbarrier_wait %b : !xegpu.nbarrier
            %w = memref.load %m[%id] : memref<4xf32, 3>
            memref.store %w, %x[%id] : memref<4xf32>
            xegpu.nbarrier_arrive %b : !xegpu.nbarrier
            xegpu.nbarrier_wait %b : !xegpu.nbarrier
          }
        }""",
        attributes=f"{VECTOR_COMPUTE}, known_block_size = array<i32: 4, 1, 1>",
    )
    x = fresh_generator().standard_normal(4).astype(np.float32)
    core = check(text, [x, 5], block=(4, 1, 1), on_opencl=True)
    assert core.count("gpu.barrier") == 2
    (found, _) = results(text, [x, 5], (1, 1, 1), (4, 1, 1), "opencl")
    np.testing.assert_array_equal(found, np.roll(x, 3))
