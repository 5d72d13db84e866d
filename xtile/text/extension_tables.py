"""Where the tables are that say what LLVM says of xDSL's operations; see `extensions.py`."""

TABLES: dict[str, str] = {}
"""The module with the table of each dialect; the package of the dialects fills it."""
