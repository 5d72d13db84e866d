"""The dialects of xtile. Import the one you need; importing this package loads none."""

from xtile.text import EXTENSION_TABLES

EXTENSION_TABLES.update(
    {
        "arith": "xtile.dialects.arith.extensions",
        "cf": "xtile.dialects.cf",
        "func": "xtile.dialects.func",
        "gpu": "xtile.dialects.gpu.extensions",
        "llvm": "xtile.dialects.llvm",
        "memref": "xtile.dialects.memref.ops",
        "scf": "xtile.dialects.scf.ops",
        "ub": "xtile.dialects.ub",
        "vector": "xtile.dialects.vector.ops",
    }
)
