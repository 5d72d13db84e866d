"""Which operations, types and parts of them a version of CUDA Tile IR has not.

The classes say since when there is what (`SINCE`, `SINCE_OF`); this compares.

Source: NVIDIA/cuda-tile 13.3.0, the versions in `Ops.td`, `Types.td` and `AttrDefs.td`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue

from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.types import FLOATS_SINCE, INT4_SINCE, is_integer
from xtile.dialects.cuda_tile.versions import V13_1, Version
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of, span_of

_INT4_WIDTH = 4


def check_versions(
    module: Operation, version: Version, diagnostics: Diagnostics, source: Source | None = None
) -> None:
    """Reports everything in a module that came later than a version.

    Args:
        module: What to check, with all in it.
        version: The version that may be used.
        diagnostics: Where the errors go.
        source: The text that the module was read from; None takes the one attached to it.
    """
    source = source or source_of(module)
    for operation in module.walk():
        if isinstance(operation, CudaTileOperation):
            for message in find_newer(operation, version):
                diagnostics.error(source, span_of(operation, source), message)


def find_newer(operation: CudaTileOperation, version: Version) -> Iterator[str]:
    """Yields what of an operation came later than a version; each message names both."""
    name = operation.name
    if version < operation.SINCE:
        yield f"'{name}' needs version {operation.SINCE} of CUDA Tile IR, but this is {version}"
        return
    for field, since in operation.SINCE_OF.items():
        if since > version and _is_used(operation, field):
            yield (
                f"'{field}' of '{name}' needs version {since} of CUDA Tile IR, but this is "
                f"{version}"
            )
    for use, since in operation.newer_uses():
        if since > version:
            yield (
                f"{use} in '{name}' needs version {since} of CUDA Tile IR, but this is {version}"
            )
    for type, since in _newer_types(operation, version):
        yield (f"{type} of '{name}' needs version {since} of CUDA Tile IR, but this is {version}")


def _is_used(operation: CudaTileOperation, field: str) -> bool:
    """Whether an operand is there, a property says something or a result is used."""
    definition = operation.get_irdl_definition()
    value = getattr(operation, field)
    if field in {name for name, _ in definition.results}:
        return isinstance(value, SSAValue) and value.first_use is not None
    if field in {name for name, _ in definition.operands}:
        return value is not None
    property_name, _ = definition.accessor_names.get(field, (field, "property"))
    attribute = operation.properties.get(property_name)
    if isinstance(attribute, DenseArrayBase):
        return any(attribute.get_values())
    return attribute is not None and attribute != definition.properties[property_name].default_value


def _newer_types(operation: Operation, version: Version) -> Iterator[tuple[Attribute, Version]]:
    """Yields each type of results, arguments and properties that came later than a version."""
    arguments = (
        argument.type
        for region in operation.regions
        for block in region.blocks
        for argument in block.args
    )
    seen: set[Attribute] = set()
    for attribute in (*operation.result_types, *arguments, *operation.properties.values()):
        if attribute in seen:
            continue
        seen.add(attribute)
        since = version_of(attribute)
        if since > version:
            yield _newest_part(attribute), since


@lru_cache(maxsize=4096)
def version_of(attribute: Attribute) -> Version:
    """Since when there is a type or an attribute with all its parts."""
    return max((_own_version(attribute), *map(version_of, _parts(attribute))))


def _own_version(attribute: Attribute) -> Version:
    since = getattr(attribute, "SINCE", None)
    if isinstance(since, Version):
        return since
    if is_integer(attribute, (_INT4_WIDTH,)):
        return INT4_SINCE
    return FLOATS_SINCE.get(attribute.__class__, V13_1)


def _parts(attribute: Attribute) -> Iterable[Attribute]:
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        return (attribute.parameters[0],)
    if isinstance(attribute, ArrayAttr):
        return cast("ArrayAttr[Attribute]", attribute).data
    if isinstance(attribute, DictionaryAttr):
        return tuple(attribute.data.values())
    return attribute.parameters if isinstance(attribute, ParametrizedAttribute) else ()


def _newest_part(attribute: Attribute) -> Attribute:
    """The innermost part that a type or an attribute is as new as."""
    since = version_of(attribute)
    for part in _parts(attribute):
        if version_of(part) == since:
            return _newest_part(part)
    return attribute
