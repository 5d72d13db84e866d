"""What stock `xdsl-opt` prints after passes of ours, it reads again without options."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.xdsl_opt_main import xDSLOptMain

import xtile
from xtile.text.mlir_printer import MlirPrinter
from xtile.universe import XTILE_UNIVERSE

EXAMPLES = Path(__file__).parents[1] / "examples"

ROUTES = Path(__file__).parent / "filetests" / "routes"
KERNELS = ("axpby", "fused_kernel", "reductions")
LACKING = {
    # The tensor language has no addresses in memory, which groups are in CUDA Tile IR.
    ("cuda_tile-to-tensorlang", "fused_kernel"),
    # xDSL's gpu.func has no memory of the work-group beside its parameters.
    ("subgroup-to-xegpu-subgroup", "fused_kernel"),
    # XeGPU has no scans of a subgroup.
    ("subgroup-to-xegpu-subgroup", "reductions"),
    # vector.scan of cumulative sums.
    ("core-distribute-tiles", "reductions"),
}
"""The kernels that a pass refuses."""

LINALG = """
gpu.module @kernels {
  gpu.func @k(%a: memref<8x16xf32>, %b: memref<16x8xf32>, %c: memref<8x8xf32>) kernel {
    linalg.matmul ins(%a, %b : memref<8x16xf32>, memref<16x8xf32>) outs(%c : memref<8x8xf32>)
    affine.for %i = 0 to 8 {
      %x = affine.load %c[%i, 0] : memref<8x8xf32>
      affine.store %x, %c[0, %i] : memref<8x8xf32>
    }
    gpu.return
  }
}
"""
FIRST = {
    "block": ("tensorlang-to-core",),
    "core": ("tensorlang-to-core",),
    "cuda_tile": ("tensorlang-to-cuda_tile",),
    "lane": ("tensorlang-to-lane",),
    "linalg": (),
    "subgroup": ("tensorlang-to-subgroup",),
    "tensorlang": (),
    "tile": ("tensorlang-to-tile",),
    "triton": (),
    "xegpu": ("tensorlang-to-xegpu",),
    "xegpu-rfc": (),
    "xegpu-subgroup": (),
    "xegpu-work-group": (),
}
"""By the language or level that a pass takes, the pass that leads there."""


OF_SUBGROUPS = (
    "xegpu-subgroup-to-core",
    "xegpu-to-lane",
    "xegpu-to-subgroup",
    "xegpu-to-xegpu",
)
"""The passes that are tried on XeGPU at level subgroup."""

OF_WORK_GROUPS = (
    "xegpu-to-core",
    "xegpu-to-amdg",
    "xegpu-to-cuda_tile",
    "xegpu-to-tensorlang",
    "xegpu-to-tile",
    "xegpu-to-triton",
    "xegpu-work-group-to-core",
)
"""The passes that are tried on XeGPU at level work-group."""

FORGOTTEN = "core.begins_inside"
"""What xDSL 0.74 does not read of a transfer: a promise that only makes code faster."""


def xdsl_opt(*arguments: str) -> str:
    """What stock xdsl-opt prints."""
    output = StringIO()
    with redirect_stdout(output):
        xDSLOptMain(args=list(arguments)).run()
    return output.getvalue()


def source(kernel: str, directory: Path) -> str:
    """The path of an example as MLIR text."""
    path = directory / f"{kernel}.mlir"
    path.write_text(xtile.to_text(xtile.parse(EXAMPLES / f"{kernel}.ir"), "mlir"))
    return str(path)


RESULTS = {
    "core-cleanup": "block",
    "core-distribute": "subgroup",
    "core-distribute-tiles": "subgroup",
    "core-lift": "tile",
    "core-structure": "tile",
    "core-tile-linalg": "tile",
    "cuda_tile": "cuda_tile.entry",
    "triton": "tt.func",
    "lane": "lane",
    "llvm22": "lane",
    "spirv": "spirv.func",
    "subgroup": "subgroup",
    "tensorlang": "tensorlang.func",
    "tensorlang-verify": "tensorlang.func",
    "tile": "tile",
    "triton-to-core": "tile",
    "cuda_tile-to-core": "tile",
    "xegpu": "lane",
    "xegpu-subgroup": "lane",
    "xegpu-subgroup-to-core": "subgroup",
    "xegpu-to-core": "tile",
    "xegpu-work-group-to-core": "tile",
}
"""What functions a pass leaves, or at which level; "block" where nothing is said.

XeGPU says no level of its kernels, like kernels of lanes.
"""


def found_in(text: str) -> str:
    """What functions there are, or at which level kernels are; those of lanes have no level."""
    kinds = ("cuda_tile.entry", "spirv.func", "tensorlang.func", "tt.func")
    levels = re.findall(r'core.level = "(\w+)"', text)
    return next((kind for kind in kinds if kind in text), levels[0] if levels else "lane")


def inputs(taken: str, directory: Path) -> list[str]:
    """Kernels that a pass takes; what xDSL has no custom form for is in the generic one."""
    if taken == "linalg":
        kernels = [xtile.parse(LINALG, language="mlir")]
    elif taken == "xegpu-rfc":
        kernels = [xtile.parse(EXAMPLES / "xegpu" / "rfc_product.mlir")]
    elif taken == "triton":
        kernels = [xtile.parse(ROUTES / "triton-to-cuda_tile.mlir")]
    elif taken in ("xegpu-subgroup", "xegpu-work-group"):
        kernel = xtile.parse(ROUTES / f"{taken}.mlir")
        # A pass leaves kernels of xDSL's own class, whose text stock xDSL reads.
        XTILE_UNIVERSE.all_passes["core-cleanup"]()().apply(Context(), kernel)
        kernels = [kernel]
    else:
        return [source(kernel, directory) for kernel in KERNELS]
    paths: list[str] = []
    for number, kernel in enumerate(kernels):
        path = directory / f"input{number}.mlir"
        path.write_text(MlirPrinter(print_generic_format=True).print_top_level(kernel)[0])
        paths.append(str(path))
    return paths


def test_every_pass_has_inputs() -> None:
    assert {taken_by(name) for name in XTILE_UNIVERSE.all_passes} == FIRST.keys()


def taken_by(name: str) -> str:
    """The language or level that a pass takes."""
    if name in ("core-distribute-tiles", "core-structure"):
        return "tile"
    if name == "core-lift":
        return "subgroup"
    if name in OF_SUBGROUPS:
        return "xegpu-subgroup"
    if name in OF_WORK_GROUPS:
        return "xegpu-work-group"
    return "xegpu-rfc" if name.startswith("xegpu-rfc-") else name.split("-")[0]


STOCK = [
    name
    for name in XTILE_UNIVERSE.all_passes
    if not name.endswith("-to-amdg") and name != "triton-to-triton"
]
"""The passes without layouts: stock xDSL 0.74's `arith` refuses tensors that have one."""


@pytest.mark.slow
@pytest.mark.parametrize("name", STOCK)
def test_what_passes_print_is_read_again(name: str, tmp_path: Path) -> None:
    for number, kernel in enumerate(inputs(taken_by(name), tmp_path)):
        if (name, Path(kernel).stem) in LACKING:
            continue
        path = tmp_path / f"{number}-taken.mlir"
        path.write_text(after(FIRST[taken_by(name)], Path(kernel).read_text()))
        printed = xdsl_opt(str(path), "-p", name)
        path.write_text(printed)
        again = xdsl_opt(str(path))
        if FORGOTTEN in printed:
            printed = again
            path.write_text(printed)
            again = xdsl_opt(str(path))
        assert again == printed
        result = RESULTS.get(name, RESULTS.get(name.rpartition("-to-")[2], "block"))
        assert found_in(printed) == result, name


@cache
def after(passes: tuple[str, ...], text: str) -> str:
    """What stock xdsl-opt prints of a kernel after passes."""
    if not passes:
        return text
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        return xdsl_opt(file.name, "-p", ",".join(passes))


def test_one_process_reads_what_another_prints(tmp_path: Path) -> None:
    command = str(Path(sys.executable).with_name("xdsl-opt"))
    lowering = subprocess.run(
        [command, source("reductions", tmp_path), "-p", "tensorlang-to-tile"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "arith.select" in lowering.stdout
    assert "vector<1024xi1>" in lowering.stdout
    path = tmp_path / "tile.mlir"
    path.write_text(lowering.stdout)
    again = subprocess.run(
        [command, str(path)], capture_output=True, text=True, check=True, timeout=120
    )
    assert again.stdout == lowering.stdout
