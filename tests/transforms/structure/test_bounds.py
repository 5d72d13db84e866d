"""What launches check of numbers."""

from __future__ import annotations

from xtile.api import parse
from xtile.arguments.launch_checks import LaunchCheck
from xtile.rewrite.kernels import kernels_of
from xtile.transforms.structure.affine import Affine
from xtile.transforms.structure.bounds import Bounds
from xtile.transforms.structure.polynomials import Polynomial

_KERNEL = """\
gpu.module @kernels {
  gpu.func @kernel(%a: i32, %b: i32) kernel {
    gpu.return
  }
}
"""


def test_factors_are_told_in_one_order() -> None:
    """Polynomials have them in the order of their addresses, which differs from run to run."""
    (kernel,) = kernels_of(parse(_KERNEL, language="mlir"))
    a, b = kernel.body.block.args
    product = "mul", 64, ("argument", 0), ("argument", 1)
    for factors in ((a, b), (b, a)):
        needs = Bounds(may_wrap=False).require(Affine.of((), Polynomial({factors: 1})), 0, 9)
        assert needs == {LaunchCheck(product, 0, 9)}
