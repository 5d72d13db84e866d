"""Debug information: which scopes locations may have.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, `DebugInfoVerifier`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.debug_info import DILexicalBlockAttr, DILocAttr, DISubprogramAttr


def find_position(location: Attribute) -> DILocAttr | None:
    """The position with a scope that a location has in it; of a call that of its caller."""
    if isinstance(location, DILocAttr):
        return location
    parts: Sequence[Attribute] = ()
    # A position counts as a call for `isinstance` (`debug_info.py`), so it comes first above.
    if isinstance(location, CallSiteLoc):
        parts = (location.caller,)
    elif isinstance(location, NameLoc):
        parts = (location.location,)
    elif isinstance(location, FusedLoc):
        parts = cast("ArrayAttr[Attribute]", location.locations).data
    return next(filter(None, map(find_position, parts)), None)


def subprogram_of(location: Attribute) -> DISubprogramAttr | None:
    """The function of the source that a location is in."""
    position = find_position(location)
    scope = None if position is None else position.scope
    while isinstance(scope, DILexicalBlockAttr):
        scope = scope.scope
    return scope if isinstance(scope, DISubprogramAttr) else None


def verify_function(function: Operation, name: str) -> None:
    """Checks the locations of a function and of all in it.

    Raises:
        VerifyException: The scope of the function is no subprogram of its name, its location is a
            call, or something in it is of another subprogram.
    """
    location: Attribute = function.location
    position = find_position(location)
    if isinstance(location, CallSiteLoc) and not isinstance(location, DILocAttr):
        raise VerifyException("the location of a function must not be a call")
    if position is not None:
        if not isinstance(position.scope, DISubprogramAttr):
            raise VerifyException(
                f"the scope of a function must be a di_subprogram, but is {position.scope}"
            )
        linkage_name = position.scope.linkage_name.data
        if linkage_name != name:
            raise VerifyException(
                f'the scope\'s linkageName must be "{name}" as the function is called, but is '
                f'"{linkage_name}"'
            )
    _verify_operations(function)


def _verify_operations(function: Operation) -> None:
    expected = subprogram_of(function.location)
    for operation in function.walk():
        found = subprogram_of(operation.location)
        if found is None or found == expected:
            continue
        if expected is None:
            raise VerifyException(
                f"'{operation.name}' in it has the scope {found}, but the function has none"
            )
        raise VerifyException(
            f"'{operation.name}' in it has the scope {found}; it must be the function's {expected}"
        )


def verify_variable(operation: Operation) -> None:
    """Checks that what stands beside functions has no scope.

    Raises:
        VerifyException: It has.
    """
    if find_position(operation.location) is not None:
        raise VerifyException(f"'{operation.name}' must not have a scope in its location")
