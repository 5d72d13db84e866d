"""Small tiles are read once: tileiras would read them again behind a write."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.seeds import fresh_generator
from tests.tile_tools import machine_code
from tests.transforms.distribute.kernels import arguments_of, printed, read
from tests.translate.core_to_cuda_tile.entries import entry_of, from_block_level, verify
from xtile.backends.nvidia.compilation import compile_program
from xtile.dialects.cuda_tile.bytecode import encode
from xtile.semantics.engine import launch
from xtile.transforms.read_once import is_read_again, read_once

MATRIX = "memref<8x8xi32>"

CHIPS = ("sm_80", "sm_90", "sm_100", "sm_120")


def overwriting(body: str, size: int = 8, ordering: str = "weak", type_: str = "i32") -> ModuleOp:
    """A kernel that reads a tile of %b, writes %b, and computes with what it has read."""
    tile, number = f"tile<{size}x{size}x{type_}>", "0x7f" if type_.startswith("f8") else "7"
    tensor = f"tensor_view<{size}x{size}x{type_}, strides=[{size},1]>"
    view = f"partition_view<tile=({size}x{size}), {tensor}>"
    if type_.startswith(("f", "bf", "tf")) and not type_.startswith("f8"):
        number = "7.0"
    seven = "true" if type_ == "i1" else number
    return read(f"""cuda_tile.module @m {{
entry @k(%a: tile<ptr<{type_}>>, %b: tile<ptr<{type_}>>) {{
  %c0 = constant <i64: 0> : tile<i64>
  %av = make_tensor_view %a, shape = [{size}, {size}], strides = [{size}, 1] : {tensor}
  %to = make_partition_view %av : {view}
  %bv = make_tensor_view %b, shape = [{size}, {size}], strides = [{size}, 1] : {tensor}
  %from = make_partition_view %bv : {view}
  %x, %t = load_view_tko {ordering} %from[%c0, %c0] : {view}, tile<i64> -> {tile}, token
  %seven = constant <{type_}: {seven}> : {tile}
  {body}
  %w = store_view_tko weak %seven, %from[%c0, %c0] token = %t : {tile}, {view}, tile<i64> -> token
  %e = store_view_tko weak %y, %to[%c0, %c0] token = %w : {tile}, {view}, tile<i64> -> token
  return
}}
}}""")


def product(size: int) -> str:
    """The product of %x and itself, as a reduction of a tile of rank 3."""
    tile, cube = f"tile<{size}x{size}xi32>", f"tile<{size}x{size}x{size}xi32>"
    return f"""
  %x1 = reshape %x : {tile} -> tile<{size}x{size}x1xi32>
  %x2 = broadcast %x1 : tile<{size}x{size}x1xi32> -> {cube}
  %x3 = reshape %x : {tile} -> tile<1x{size}x{size}xi32>
  %x4 = broadcast %x3 : tile<1x{size}x{size}xi32> -> {cube}
  %x5 = muli %x2, %x4 : {cube}
  %y = reduce %x5 dim=1 identities=[0 : i32] : {cube} -> {tile}
  (%p: tile<i32>, %q: tile<i32>) {{
    %s = addi %p, %q : tile<i32>
    yield %s : tile<i32>
  }}"""


def loads_behind_stores(bytecode: bytes, chip: str) -> int:
    """How many loads of global memory stand behind the first store in the machine code."""
    accesses = re.findall(r"\b(LDG|STG)\b", machine_code(bytecode, chip))
    return accesses[accesses.index("STG") :].count("LDG")


@pytest.mark.parametrize("chip", CHIPS)
def test_machine_code_reads_once(chip: str) -> None:
    module = overwriting(product(8))
    program = compile_program(module, chip)
    assert loads_behind_stores(encode(module), chip) == 4, "tileiras is right now: look again"
    assert loads_behind_stores(program.bytecode, chip) == 0
    assert not any("ori" in line for line in printed(module).splitlines()), "it was changed"


def test_larger_tiles_are_read_once_anyway() -> None:
    assert loads_behind_stores(encode(overwriting(product(16), size=16)), "sm_90") == 0


@pytest.mark.parametrize("ordering", ["weak", "relaxed device", "acquire device"])
def test_value_is_that_before_the_write(ordering: str) -> None:
    module = overwriting(product(8), ordering=ordering)
    read_once(module)
    verify(module)
    assert not is_read_again(module)
    generator = fresh_generator()
    b = generator.integers(-(2**31), 2**31, (8, 8)).astype(np.int32)
    a, before = np.zeros_like(b), b.copy()
    launch(entry_of(read(printed(module))), arguments_of([a, b]), (1, 1, 1))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(a, before @ before)
    np.testing.assert_array_equal(b, np.full_like(b, 7))


TYPES = ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"]


@pytest.mark.parametrize("type_", [*TYPES, "tf32"])
def test_every_type_of_element(type_: str) -> None:
    tile = f"tile<8x8x{type_}>"
    module = overwriting(f"%y = permute %x [1, 0] : {tile} -> {tile}", type_=type_)
    assert read_once(module)
    verify(module)
    assert printed(module).count(" ori ") == 1
    assert loads_behind_stores(encode(module), "sm_90") == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_bit_is_kept(dtype: type[np.floating]) -> None:
    name = f"f{np.dtype(dtype).itemsize * 8}"
    tile = f"tile<8x8x{name}>"
    module = overwriting(f"%y = permute %x [1, 0] : {tile} -> {tile}", type_=name)
    assert read_once(module)
    bits = np.dtype(f"i{np.dtype(dtype).itemsize}")
    numbers = fresh_generator().integers(
        np.iinfo(bits).min, np.iinfo(bits).max, (8, 8), dtype=bits, endpoint=True
    )
    a, b = np.zeros((8, 8), dtype), numbers.view(dtype).copy()
    launch(entry_of(module), arguments_of([a, b]), (1, 1, 1))
    np.testing.assert_array_equal(a.view(bits), numbers.T)


def test_what_is_computed_before_the_write_stays() -> None:
    """`C := A B + C` needs no help: what it writes is computed with what it has read."""
    module = overwriting("%y = addi %seven, %seven : tile<8x8xi32>")
    assert not is_read_again(module), "nothing is computed with what is read"
    updating = "core.gemm %one, %a, %a, %one, %c : i32, M, M, i32, M".replace("M", MATRIX)
    kernel = f"""gpu.module @m {{
gpu.func @k(%a: {MATRIX}, %c: {MATRIX} {{core.noalias}}) kernel attributes {{
    core.level = "block", known_block_size = array<i32: 32, 1, 1>}} {{
  %one = arith.constant 1 : i32
  {updating}
  gpu.return
}}
}}"""
    assert " ori " not in printed(from_block_level(kernel))


@pytest.mark.parametrize("size", [1, 32])
def test_one_element_and_many_stay(size: int) -> None:
    tile = f"tile<{size}x{size}xi32>"
    module = overwriting(f"%y = permute %x [1, 0] : {tile} -> {tile}", size=size)
    assert not read_once(module)


def test_reads_in_loops_and_branches() -> None:
    """What the next turn writes is behind this turn's read; what a branch writes, too."""
    tile, view = "tile<8xi32>", "partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>"
    load = f"load_view_tko weak %v[%c0] token = %s : {view}, tile<i64> -> {tile}, token"
    store = f"store_view_tko weak %old, %v[%c0] token = %t : {tile}, {view}, tile<i64> -> token"
    module = read(f"""cuda_tile.module @m {{
entry @k(%a: tile<ptr<i32>>, %n: tile<i64>, %c: tile<i1>) {{
  %c0 = constant <i64: 0> : tile<i64>
  %c1 = constant <i64: 1> : tile<i64>
  %zero = constant <i32: 0> : {tile}
  %start = make_token : token
  %m = make_tensor_view %a, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
  %v = make_partition_view %m : {view}
  %r:2 = for %i in (%c0 to %n, step %c1) : tile<i64>
      iter_values(%old = %zero, %s = %start) -> ({tile}, token) {{
    %x, %t = {load}
    %u = if %c -> (token) {{
      %w = {store}
      yield %w : token
    }} else {{
      yield %t : token
    }}
    continue %x, %u : {tile}, token
  }}
  return
}}
}}""")
    assert read_once(module)
    assert printed(module).count(" ori ") == 1
    assert not read_once(module), "it is done"
