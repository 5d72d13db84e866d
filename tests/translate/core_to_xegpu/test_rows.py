"""Matrices on dg2: rows at addresses that lanes share, and lanes that hold pairs of a row."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.mlir_opt import run_mlir_opt
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate

PRODUCT = """
func @product(%A: memref<{type}x{m}x64>{known}, %B: memref<{type}x64x32>, %C: memref<f32x{m}x32>) {{
    %zero = constant 0.0 : f32
    %one = constant 1.0 : {type}
    gemm %one, %A, %B, %zero, %C
}}
"""


def lanes(text: str, chip: str = "dg2", diagnostics: Diagnostics | None = None) -> ModuleOp:
    """A kernel as code of each lane, for the way to SPIR-V that is not LLVM's."""
    module = xtile.parse(text, language="tensorlang")
    return translate(module, "tensorlang-to-lane", Options(chip), diagnostics)


def rows_of(module: ModuleOp, kind: type[LoadNdOp | StoreNdOp]) -> list[tuple[int, ...]]:
    """The shapes of the blocks that a kernel's loads or stores access."""
    found = (operation for operation in module.walk() if isinstance(operation, kind))
    types = (operation.TensorDesc.type for operation in found)
    return [type.get_shape() for type in types if isinstance(type, TensorDescType)]


def test_lanes_hold_pairs() -> None:
    """A tile of 32 x 16: in each step 32 rows of A with 16 elements, and 16 rows of B with 16."""
    text = PRODUCT.format(type="f16", m=16, known="")
    module = lanes(text.replace(") {\n", ") attributes {work_group_size=[8,1]} {\n"))
    products = [operation for operation in module.walk() if isinstance(operation, DpasOp)]
    assert {str(product.lhs.type) for product in products} == {"vector<16xf16>"}
    assert {str(product.rhs.type) for product in products} == {"vector<16xf16>"}
    # Two tiles of 8 columns: the columns of the core form are the rows of the source.
    assert len(products) == 4 * 2
    assert rows_of(module, LoadNdOp) == [(16,)] * (32 + 16)
    assert rows_of(module, StoreNdOp) == [(16,)] * 32


def test_products_have_subgroups_of_8() -> None:
    module = lanes(PRODUCT.format(type="f16", m=16, known=""))
    (kernel,) = (operation for operation in module.walk() if operation.name == "gpu.func")
    assert str(kernel.attributes["intel_reqd_sub_group_size"]) == "8 : i32"


@pytest.mark.parametrize("type", ["f32", "i32"])
def test_other_products_have_subgroups_of_16(type: str) -> None:
    one = "1.0" if type == "f32" else "1"
    text = PRODUCT.format(type=type, m=16, known="").replace("constant 1.0", f"constant {one}")
    if type == "i32":
        text = text.replace("f32", "i32").replace("0.0", "0")
    (kernel,) = (op for op in lanes(text).walk() if op.name == "gpu.func")
    assert str(kernel.attributes["intel_reqd_sub_group_size"]) == "16 : i32"


@pytest.mark.parametrize(
    ("m", "known"),
    [
        # A row of A has 34 bytes.
        ("17", ""),
        ("?", ""),
        ("16", " {alignment=2}"),
    ],
)
def test_rows_need_proof(m: str, known: str) -> None:
    diagnostics = Diagnostics()
    module = lanes(PRODUCT.format(type="f16", m=m, known=known), diagnostics=diagnostics)
    assert "loads element by element: dg2 has no two-dimensional block accesses" in [
        diagnostic.message for diagnostic in diagnostics
    ]
    # Those of B are aligned, but it is A whose rows are rows of the core form's right operand.
    assert len(rows_of(module, LoadNdOp)) <= 32


def test_devices_with_blocks_have_no_rows() -> None:
    module = lanes(PRODUCT.format(type="f16", m=32, known=""), "pvc")
    assert {len(shape) for shape in rows_of(module, LoadNdOp)} == {2}


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_what_llvm_gets_has_no_rows(type: str) -> None:
    module = xtile.parse(PRODUCT.format(type=type, m=16, known=""), language="tensorlang")
    ported = translate(module, "tensorlang-to-xegpu", Options("dg2"))
    assert not any(operation.name.startswith("xegpu.") for operation in ported.walk())
    pipeline = "xegpu-op-level=lane zebin-chip=pvc binary-format=isa"
    text = xtile.to_text(ported, "mlir")
    result = run_mlir_opt(text, f"--gpu-lower-to-xevm-pipeline={pipeline}")
    assert (result.returncode, result.stderr) == (0, "")
