"""Kernels compute the same before and after mlir-opt has spread them over subgroups or lanes.

So what a lane holds is what upstream means by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.mlir_opt import run_mlir_opt
from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import run
from tests.semantics.xegpu.kernels import LANES, undefined

TO_SUBGROUPS = "builtin.module(gpu.module(xegpu-wg-to-sg-distribute,canonicalize,cse))"

TO_LANES = (
    "builtin.module(gpu.module(xegpu-propagate-layout{layout-kind=inst},xegpu-blocking,"
    "canonicalize,cse,xegpu-propagate-layout{layout-kind=lane},xegpu-subgroup-distribute,"
    "canonicalize,cse))"
)


@dataclass(frozen=True)
class Kernel:
    """A kernel whose arguments are memrefs, the last of which is the output.

    Attributes:
        passes: What spreads it.
        memory: The shape and the type of each argument.
        body: Its operations.
        grid: The number of work-groups.
        subgroups: The number of subgroups in one.
        aliases: What stands before the module.
    """

    passes: str
    memory: list[tuple[tuple[int, ...], str]]
    body: str
    grid: tuple[int, int, int] = (1, 1, 1)
    subgroups: int = 1
    aliases: str = field(default="")

    @property
    def text(self) -> str:
        """The module."""
        parameters = ", ".join(
            f"%{name}: memref<{'x'.join(map(str, shape))}x{type}>"
            for name, (shape, type) in zip("abcd", self.memory, strict=False)
        )
        return f"""{self.aliases}
        gpu.module @m [#xevm.target<chip = "pvc">] {{
          gpu.func @k({parameters}) kernel {{
            {self.body}
            gpu.return
          }}
        }}"""


PRODUCT = """%x = gpu.block_id x
  %y = gpu.block_id y
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant {m} : index
  %columns = arith.constant {n} : index
  %i = arith.muli %y, %rows : index
  %j = arith.muli %x, %columns : index
  %ta = xegpu.create_nd_tdesc %a : memref<64x64xf16> -> !xegpu.tensor_desc<{m}x16xf16{l}>
  %tb = xegpu.create_nd_tdesc %b : memref<64x64xf16> -> !xegpu.tensor_desc<16x{n}xf16{l}>
  %tc = xegpu.create_nd_tdesc %c : memref<64x64xf32> -> !xegpu.tensor_desc<{m}x{n}xf32{l}>
  %start = xegpu.load_nd %tc[%i, %j] {given}
    : !xegpu.tensor_desc<{m}x{n}xf32{l}> -> vector<{m}x{n}xf32>
  %d = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %start) -> (vector<{m}x{n}xf32>) {{
    %va = xegpu.load_nd %ta[%i, %k] : !xegpu.tensor_desc<{m}x16xf16{l}> -> vector<{m}x16xf16>
    %vb = xegpu.load_nd %tb[%k, %j] : !xegpu.tensor_desc<16x{n}xf16{l}> -> vector<16x{n}xf16>
    %e = xegpu.dpas %va, %vb, %s {layouts}
      : vector<{m}x16xf16>, vector<16x{n}xf16>, vector<{m}x{n}xf32> -> vector<{m}x{n}xf32>
    scf.yield %e : vector<{m}x{n}xf32>
  }}
  xegpu.store_nd %d, %tc[%i, %j] : vector<{m}x{n}xf32>, !xegpu.tensor_desc<{m}x{n}xf32{l}>"""

BYTES = """%ta = xegpu.create_nd_tdesc %a : memref<8x32xi8> -> !xegpu.tensor_desc<8x32xi8>
  %tb = xegpu.create_nd_tdesc %b : memref<32x16xi8> -> !xegpu.tensor_desc<32x16xi8>
  %tc = xegpu.create_nd_tdesc %c : memref<8x16xi32> -> !xegpu.tensor_desc<8x16xi32>
  %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x32xi8> -> vector<8x32xi8>
  %vb = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x16xi8> -> vector<32x16xi8>
  %d = xegpu.dpas %va, %vb : vector<8x32xi8>, vector<32x16xi8> -> vector<8x16xi32>
  xegpu.store_nd %d, %tc[0, 0] : vector<8x16xi32>, !xegpu.tensor_desc<8x16xi32>"""

TRANSPOSED = """%ta = xegpu.create_nd_tdesc %a : memref<8x16xf16> -> !xegpu.tensor_desc<8x16xf16>
  %tb = xegpu.create_nd_tdesc %b : memref<16x16xf16> -> !xegpu.tensor_desc<16x16xf16>
  %tc = xegpu.create_nd_tdesc %c : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  %va = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
  %vb = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
  %vt = vector.transpose %vb, [1, 0] : vector<16x16xf16> to vector<16x16xf16>
  %d = xegpu.dpas %va, %vt : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf32>
  xegpu.store_nd %d, %tc[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>"""

LINE = """%ta = xegpu.create_nd_tdesc %a : memref<256xf32> -> !xegpu.tensor_desc<64xf32>
  %tb = xegpu.create_nd_tdesc %b : memref<256xf32> -> !xegpu.tensor_desc<64xf32>
  %v = xegpu.load_nd %ta[16] : !xegpu.tensor_desc<64xf32> -> vector<64xf32>
  %w = arith.addf %v, %v : vector<64xf32>
  xegpu.store_nd %w, %tb[32] : vector<64xf32>, !xegpu.tensor_desc<64xf32>"""

CHUNKS = """%s = vector.step : vector<16xindex>
  %t = arith.constant dense<8> : vector<16xindex>
  %o = arith.muli %s, %t : vector<16xindex>
  %m = arith.constant dense<true> : vector<16xi1>
  %v = xegpu.load %a[%o], %m <{chunk_size = 8 : i64}>
    : memref<256xf32>, vector<16xindex>, vector<16xi1> -> vector<16x8xf32>
  xegpu.store %v, %b[%o], %m <{chunk_size = 8 : i64}>
    : vector<16x8xf32>, memref<256xf32>, vector<16xindex>, vector<16xi1>"""

PRODUCT_MEMORY = [((64, 64), "f16"), ((64, 64), "f16"), ((64, 64), "f32")]

KERNELS = {
    "a product for lanes": Kernel(
        TO_LANES, PRODUCT_MEMORY, PRODUCT.format(m=8, n=16, l="", given="", layouts=""), (4, 8, 1)
    ),
    "a product of several tiles for lanes": Kernel(
        TO_LANES, PRODUCT_MEMORY, PRODUCT.format(m=16, n=32, l="", given="", layouts=""), (2, 4, 1)
    ),
    "a product of bytes for lanes": Kernel(
        TO_LANES, [((8, 32), "i8"), ((32, 16), "i8"), ((8, 16), "i32")], BYTES
    ),
    "a transposed factor for lanes": Kernel(
        TO_LANES, [((8, 16), "f16"), ((16, 16), "f16"), ((8, 16), "f32")], TRANSPOSED
    ),
    "blocks of one dimension for lanes": Kernel(TO_LANES, [((256,), "f32"), ((256,), "f32")], LINE),
    "chunks for lanes": Kernel(TO_LANES, [((256,), "f32"), ((256,), "f32")], CHUNKS),
    "a product for subgroups": Kernel(
        TO_SUBGROUPS,
        PRODUCT_MEMORY,
        PRODUCT.format(
            m=32,
            n=32,
            l=", #l",
            given="<{layout = #l}>",
            layouts="{layout_a = #l, layout_b = #l, layout_cd = #l}",
        ),
        (2, 2, 1),
        4,
        "#l = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 16]>",
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_spreading_changes_nothing(name: str) -> None:
    kernel = KERNELS[name]
    rng = fresh_generator()
    dtypes: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}
    # Sums of small integers are exact in any order.
    arguments = [rng.integers(-8, 8, shape).astype(dtypes[type]) for shape, type in kernel.memory]
    if "dpas" not in kernel.body:
        arguments[-1] = undefined(*kernel.memory[-1])
    before = arguments[-1].copy()
    result = run_mlir_opt(kernel.text, f"--pass-pipeline={kernel.passes}")
    assert result.returncode == 0, result.stderr
    outputs: list[Any] = []
    for text in (kernel.text, result.stdout):
        output = before.copy()
        block = (kernel.subgroups * LANES, 1, 1)
        run(text, *arguments[:-1], output, grid=kernel.grid, block=block)
        outputs.append(output)
    np.testing.assert_array_equal(outputs[1], outputs[0])
    assert outputs[0].tobytes() != before.tobytes()
