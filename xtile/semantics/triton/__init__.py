"""The meaning of Triton's dialects `tt`, `ttg` and `amdg`.

A program of the grid acts as one: it is a work-group with one work-item, and values have no axes
for subgroups or lanes.

- A tensor is an array of exactly its shape, which may be read-only and may have strides of 0. How
  a layout spreads it over threads has no meaning, so a conversion of layouts does nothing.
- A scalar is a numpy scalar. In the region of a `tt.reduce` or a `tt.scan` all elements are
  combined at once: there, what stands for a scalar may be an array of any shape.
- Numbers are held as in upstream dialects (`upstream/numbers.py`), and computed by their handlers.
- A pointer is held as the address in the launch's `AddressSpace` in bytes, an int64.
- A memdesc of shared memory is a `MemDesc`, a descriptor a `Descriptor`, and a pointer to a block
  a `BlockPointer`.
- The accesses of a program are done in the order of its text. What an asynchronous copy writes is
  only known to be there after a wait: an observer learns of accesses that come before.
"""
