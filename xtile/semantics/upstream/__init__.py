"""The meaning of MLIR's upstream dialects: one module for each dialect, and what they share.

`numbers` says how numbers of each type are held, `integers` and `floats` what is computed with
them, `elementwise` makes handlers of such functions, and `access` reads and writes memory.
"""
