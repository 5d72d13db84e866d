"""The quick check of a definition accepts what xDSL's accepts, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OpDef
from xdsl.utils.exceptions import VerifyException

import xtile
from tests.seeds import fresh_generator
from xtile.text.checked_definitions import CheckedDefinition

FILETESTS = Path(__file__).parents[1] / "filetests"

FILES = [
    *sorted((FILETESTS / "kernels").glob("*.mlir")),
    *(FILETESTS / "passes" / f"{name}-to-core.mlir" for name in ("cuda_tile", "triton")),
]


def _damaged(operation: Operation, types: list[Attribute]) -> Iterator[Operation]:
    """The operation itself, and others like it with one thing changed."""
    random = fresh_generator()
    operands, results = list(operation.operands), list(operation.result_types)
    properties = dict(operation.properties)

    def made(
        operands: Sequence[SSAValue] = operands,
        results: Sequence[Attribute] = results,
        properties: Mapping[str, Attribute] = properties,
    ) -> Operation:
        return type(operation).create(
            operands=operands,
            result_types=results,
            properties=properties,
            attributes=operation.attributes,
        )

    yield made()
    for index in range(len(operands)):
        yield made(operands=operands[:index] + operands[index + 1 :])
        yield made(operands=[*operands, operands[index]])
        other = operands[random.integers(len(operands))]
        yield made(operands=[*operands[:index], other, *operands[index + 1 :]])
    for index in range(len(results)):
        type_ = types[random.integers(len(types))]
        yield made(results=[*results[:index], type_, *results[index + 1 :]])
        yield made(results=[*results, type_])
    yield made(results=results[1:])
    yield made(properties={**properties, "unknown": StringAttr("x")})
    for name, value in properties.items():
        yield made(properties={n: each for n, each in properties.items() if n != name})
        yield made(properties={**properties, name: StringAttr("x")})
        if isinstance(value, DenseArrayBase):
            sizes = random.integers(-1, 3, len(cast("DenseArrayBase", value))).tolist()
            yield made(properties={**properties, name: DenseArrayBase.from_list(i32, sizes)})


def _refuses(check: Callable[[Operation], None], operation: Operation) -> bool:
    try:
        check(operation)
    except VerifyException:
        return True
    return False


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_verdicts(file: Path) -> None:
    operations = [each for each in xtile.parse(file).walk() if not each.regions]
    types = [type for each in operations for type in each.result_types]
    seen: set[bool] = set()
    for original in operations:
        if not isinstance(original, IRDLOperation) or original.successors:
            continue
        definition = original.get_irdl_definition()
        if not isinstance(definition, CheckedDefinition):
            continue
        for operation in _damaged(original, types):
            is_refused = _refuses(lambda each: OpDef.verify(definition, each), operation)  # noqa: B023
            assert _refuses(definition.check, operation) is is_refused, operation
            seen.add(is_refused)
            operation.erase()
    assert seen == {False, True}
