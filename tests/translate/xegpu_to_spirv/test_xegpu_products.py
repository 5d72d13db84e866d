"""Products of matrices by exchanges between lanes, on OpenCL's CPU and on the reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.xegpu.kernels import random_array, undefined
from tests.translate.xegpu_to_spirv.lane_kernels import Array, LaneKernel, LaneKernels, spirv_text
from xtile.text.diagnostics import DiagnosticError


@dataclass(frozen=True)
class Product:
    """A product whose operands each lane loads.

    Attributes:
        rows: The rows of A and C.
        factor: The type of the elements of A and B.
        sum: The type of the elements of C.
        lanes: Lanes of a subgroup, and columns of B and C.
        has_sum: Whether C is added.
    """

    rows: int
    factor: str
    sum: str
    lanes: int = 16
    has_sum: bool = True

    @property
    def depth(self) -> int:
        """The columns of A: as many as fill 8 registers of 32 bits."""
        return {"f32": 8, "f16": 16, "bf16": 16}.get(self.factor, 32)

    def kernel(self) -> LaneKernel:
        """The kernel; a lane's parts follow each other in memory."""
        left = self.rows * self.depth // self.lanes
        parts = {
            "a": (left, self.factor),
            "b": (self.depth, self.factor),
            "c": (self.rows, self.sum),
        }
        memory = {name: f"memref<{self.lanes}x{n}x{t}>" for name, (n, t) in parts.items()}
        vectors = {name: f"vector<{n}x{t}>" for name, (n, t) in parts.items()}
        loads = [
            f"%{name}v = vector.load %{name}[%lane, %c0] : {memory[name]}, {vectors[name]}"
            for name in parts
        ]
        operands = ", ".join(f"%{name}v" for name in self._operands)
        types = ", ".join(vectors[name] for name in self._operands)
        product = f"%d = xegpu.dpas {operands} : {types} -> {vectors['c']}"
        parameters = [f"%{name}: {memory[name]}" for name in parts]
        body = [
            "%lane = gpu.lane_id",
            "%c0 = arith.constant 0 : index",
            *loads,
            product,
            f"vector.store %d, %out[%lane, %c0] : {memory['c']}, {vectors['c']}",
        ]
        return LaneKernel(
            ", ".join([*parameters, f"%out: {memory['c']}"]),
            "\n".join(body),
            (self.lanes, 1, 1),
            self.lanes,
        )

    @property
    def _operands(self) -> str:
        return "abc" if self.has_sum else "ab"

    def arguments(self, rng: np.random.Generator) -> list[Array]:
        """Random operands, and memory for the result."""
        left = (self.lanes, self.rows * self.depth // self.lanes)
        # Memory holds the bits of bytes, whatever their sign.
        factor = self.factor.lstrip("su")
        return [
            random_array(rng, left, factor),
            random_array(rng, (self.lanes, self.depth), factor),
            random_array(rng, (self.lanes, self.rows), self.sum),
            undefined((self.lanes, self.rows), self.sum),
        ]


PRODUCTS = {
    **{f"{t}_{n}_rows": Product(n, t, "f32") for t in ("f16", "bf16") for n in (1, 2, 4, 8)},
    **{f"{t}_of_8_lanes": Product(8, t, "f32", lanes=8) for t in ("f16", "bf16")},
    **{f"{t}_without_a_sum": Product(8, t, "f32", has_sum=False) for t in ("f16", "bf16")},
    "f16_with_narrow_sums": Product(8, "f16", "f16"),
    "bf16_with_narrow_sums": Product(8, "bf16", "bf16"),
    "f32": Product(8, "f32", "f32"),
    "i8": Product(8, "i8", "i32"),
    "si8": Product(8, "si8", "i32"),
    "ui8": Product(8, "ui8", "i32"),
    "i8_of_8_lanes": Product(4, "i8", "i32", lanes=8),
    "many_rows": Product(32, "f16", "f32"),
}

_PRECISION = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
"""The distance of 1 to the next number."""


@pytest.fixture(scope="module")
def products() -> LaneKernels:
    """All products in one program."""
    return LaneKernels({name: product.kernel() for name, product in PRODUCTS.items()})


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, products: LaneKernels) -> None:
    product = PRODUCTS[name]
    a, b, c, out = product.arguments(np.random.default_rng(fresh_seed()))
    *_, (expected, found) = products.on_both(name, a, b, c, out)
    if product.sum == "i32":
        assert np.array_equal(expected, found)
        return
    wide, other = expected.astype(np.float64), found.astype(np.float64)
    # Both round each of depth + 1 sums in f32, and the result once in its own type. What is added
    # up is at most depth times the largest products.
    largest = (
        product.depth * np.abs(a.astype(np.float64)).max() * np.abs(b.astype(np.float64)).max()
    )
    largest += np.abs(c.astype(np.float64)).max()
    sums = 2 * (product.depth + 1) * _PRECISION["f32"] * largest
    rounding = 0.0 if product.sum == "f32" else _PRECISION[product.sum] * np.abs(wide)
    assert not np.isnan(wide).any()
    assert (np.abs(wide - other) <= sums + rounding).all()


def test_matrices_of_a_subgroup_are_refused() -> None:
    body = """%a = ub.poison : vector<8x16xf16>
    %b = ub.poison : vector<16x16xf16>
    %d = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf32>"""
    with pytest.raises(DiagnosticError) as raised:
        spirv_text(body, block=(16, 1, 1))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == (
        "8x16 times 16x16 are the matrices of a subgroup; only code of one lane can be translated "
        "to SPIR-V, whose parts of them are vectors of one dimension"
    )
    assert diagnostic.span is not None


def test_parts_that_do_not_belong_together() -> None:
    body = """%a = ub.poison : vector<4xf16>
    %b = ub.poison : vector<16xf16>
    %d = xegpu.dpas %a, %b : vector<4xf16>, vector<16xf16> -> vector<8xf32>"""
    with pytest.raises(DiagnosticError) as raised:
        spirv_text(body, block=(16, 1, 1))
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.message == (
        "lanes that hold 4, 16 and 8 elements do not make up matrices: in a subgroup of 16, whose "
        "product has as many columns, they are parts of 8x16 times 16x16"
    )
