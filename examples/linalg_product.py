"""Builds a product on memrefs with xDSL's builders: as linear algebra, and as loops."""

import numpy as np
from checking import compare, exit_status, leave, product_tolerance, random_generator
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import affine, arith, gpu
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, SymbolRefAttr, f32
from xdsl.dialects.linalg.ops import MatmulOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import PassPipeline
from xdsl.rewriter import InsertPoint

import xtile
from xtile.translate.passes import pass_named

M, N, K = 12, 20, 24


def linear_algebra(builder: Builder, a: SSAValue, b: SSAValue, c: SSAValue) -> None:
    """C += A B in one operation."""
    builder.insert(MatmulOp((a, b), (c,)))


def loops(builder: Builder, a: SSAValue, b: SSAValue, c: SSAValue) -> None:
    """C += A B, element by element."""
    indices: list[SSAValue] = []
    for size in (M, N, K):
        body = Block([affine.YieldOp.get()], arg_types=[IndexType()])
        builder.insert(affine.ForOp.from_region([], [], [], [], 0, size, Region(body)))
        builder = Builder(InsertPoint.at_start(body))
        indices.append(body.args[0])
    i, j, k = indices
    x, y = (builder.insert(affine.LoadOp(m, at)).result for m, at in ((a, (i, k)), (b, (k, j))))
    z = builder.insert(affine.LoadOp(c, (i, j))).result
    product = builder.insert(arith.MulfOp(x, y)).result
    builder.insert(affine.StoreOp(builder.insert(arith.AddfOp(z, product)).result, c, (i, j)))


def main() -> int:
    """Returns 0 if the results are right."""
    generator, checks = random_generator(), list[bool]()
    for build in (linear_algebra, loops):
        for route in ("xegpu", "spirv", "cuda_tile", "core"):
            types = [MemRefType(f32, shape) for shape in ((M, K), (K, N), (M, N))]
            body = Block([gpu.ReturnOp([])], arg_types=types)
            build(Builder(InsertPoint.at_start(body)), *body.args)
            kernel = gpu.FuncOp("product", (types, []), Region(body), kernel=True)
            module = ModuleOp([gpu.ModuleOp(SymbolRefAttr("m"), Region(Block([kernel])))])
            PassPipeline((pass_named(f"linalg-to-{route}")(),)).apply(Context(), module)
        for device in ("reference", "opencl"):
            a, b, c = (generator.standard_normal(s, np.float32) for s in ((M, K), (K, N), (M, N)))
            expected, tolerance = c + a.astype(float) @ b, product_tolerance(a, b) + 1e-6
            xtile.run(module, [a, b, c], device=device)
            checks.append(compare(f"{build.__name__} on {device}", c, expected, tolerance))
    return exit_status(*checks)


if __name__ == "__main__":
    leave(main())
