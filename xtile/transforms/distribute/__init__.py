"""Distributes block-level kernels in core form over the subgroups and lanes of a work-group.

Source and result are `gpu.func`s whose attribute `core.level` is "block" and "subgroup". The result
has no linear algebra of a work-group and no parallel regions: all of it is code that each work-item
executes, with the barriers that it needs. docs/core-form-levels.md says what becomes of what.

`distribution.py` has the pass. Others use `numbers.py`, which loads nothing else from here.
"""
