"""CUDA Tile bytecode: what NVIDIA's assembler reads.

`docs/cuda-tile-bytecode.md` describes the format.
"""

from __future__ import annotations

from xtile.dialects.cuda_tile.bytecode.decoder import decode
from xtile.dialects.cuda_tile.bytecode.encoder import encode

__all__ = ["decode", "encode"]
