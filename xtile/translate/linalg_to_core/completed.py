"""Operations that xDSL's builders have made, as the classes that this package completes them in."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation

from xtile.dialects.registry import COMPLETED_DIALECTS, OWN_DIALECTS
from xtile.rewrite.rebuilder import Rebuilder


def copy_completed(operation: Operation, rebuilder: Rebuilder) -> None:
    """Emits an operation again, as the class that knows upstream's text and restrictions."""
    kind = completed_class(operation)
    rebuilder.replace(
        operation,
        kind.create(
            operands=rebuilder.values(operation.operands),
            result_types=operation.result_types,
            properties=operation.properties.copy(),
            attributes=operation.attributes.copy(),
            regions=rebuilder.regions(operation),
        ),
    )


def completed_class(operation: Operation) -> type[Operation]:
    """The class of an operation's name, or its own where there is no other."""
    if type(operation).__module__.startswith("xtile."):
        return type(operation)
    return _classes(operation.dialect_name()).get(operation.name, type(operation))


@cache
def _classes(dialect: str) -> dict[str, type[Operation]]:
    made = {**COMPLETED_DIALECTS, **OWN_DIALECTS}.get(dialect)
    return {} if made is None else {each.name: each for each in made().operations}
