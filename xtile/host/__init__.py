"""Host code: a `func.func` that allocates memory, launches kernels and looks at the results.

It runs on the same engine as kernels, as one work-item, with the meanings of its own operations
(`compiler.HANDLERS`) and the functions of MLIR's and IMEX's runtime libraries (`runtime`).
"""
