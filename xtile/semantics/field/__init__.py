"""A second meaning of floats: exact numbers modulo primes, in which equal formulas are equal.

`docs/field.md` says what that proves. `algebra.py` has the primes, `literals.py` what literals are
in them, `numbers.py` and `functions.py` the arithmetic; `arrays.py` makes numpy compute with it,
with `moves.py` and `bits.py` for what moves elements and bytes; `launch.py` hands it to the engine.
"""
