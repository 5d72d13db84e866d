"""What every reader and printer shares: sources, diagnostics, and the MLIR text."""

EXTENSION_TABLES: dict[str, str] = {}
"""The module with what LLVM says of xDSL's operations of each dialect (`extensions.py`).

The package of the dialects fills it.
"""
