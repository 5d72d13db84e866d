"""Strides of modes with fewer than two elements, which no element's position depends on.

Libraries leave them arbitrary: numpy gives 0 to the new mode of `a[:, None, :]`. A kernel may still
compute with them, as `fuse` does, and take one for the distance of rows.
"""

from __future__ import annotations

from collections.abc import Sequence


def settled_strides(
    shape: Sequence[int],
    strides: Sequence[int],
    *,
    is_row_major: bool,
    divisors: Sequence[int] = (),
) -> tuple[int, ...]:
    """Strides in which every mode with fewer than two elements has what packing asks for.

    That is the stride of the mode outside of it, so that it can be one with that mode, and at least
    what the elements inside of it take. Where a divisor is promised, it is the next multiple.

    Args:
        shape: Mode sizes in elements.
        strides: Strides in elements.
        is_row_major: Whether the mode inside of another one is the next one, not the previous one.
        divisors: What a kernel promises that strides are multiples of; 0 or nothing promises
            nothing.
    """
    order = range(len(shape))[::-1] if is_row_major else range(len(shape))
    promised = [*divisors, *[0] * (len(shape) - len(divisors))]
    settled = list(strides)
    inside = 1
    for position, mode in enumerate(order):
        if shape[mode] > 1:
            inside = strides[mode] * shape[mode]
            continue
        outside = next((strides[m] for m in order[position + 1 :] if shape[m] > 1), 0)
        wanted = max(1, inside, outside)
        settled[mode] = wanted + -wanted % (promised[mode] or 1)
    return tuple(settled)
