"""What values are made of in the end, through loops and branches."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue


def only_origin(
    value: SSAValue, sources_of: Callable[[SSAValue], list[SSAValue] | None]
) -> SSAValue | None:
    """The one value that another is made of in the end; None if there are several, or if not known.

    Args:
        value: The other one.
        sources_of: The values that one is made of directly; none for an origin, and None where they
            are not known.
    """
    found: set[SSAValue] = set()
    seen: set[SSAValue] = set()
    left = [value]
    while left:
        each = left.pop()
        if each in seen:
            continue
        seen.add(each)
        sources = sources_of(each)
        if sources is None:
            return None
        if not sources:
            found.add(each)
        left += sources
    return found.pop() if len(found) == 1 else None
