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
from xtile.text.diagnostics import DiagnosticError

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


_ISOLATED = """
cuda_tile.module @m {
  entry @f(%n: tile<i32>) {
    %a = addi %n, %n : tile<i32>
    %r = for %i in (%n to %a, step %n) : tile<i32> iter_values(%s = %a) -> (tile<i32>) {
      %b = addi %s, %i : tile<i32>
      %c = addi %b, %n : tile<i32>
      continue %c : tile<i32>
    }
    %d = addi %r, %a : tile<i32>
    return
  }
  entry @g(%m: tile<i32>) {
    %e = addi %m, %m : tile<i32>
    return
  }
}
"""


def _named(module: Operation, name: str) -> SSAValue:
    for operation in module.walk():
        blocks = [block for region in operation.regions for block in region.blocks]
        arguments = [argument for block in blocks for argument in block.args]
        for value in (*operation.results, *arguments):
            if value.name_hint == name:
                return value
    raise KeyError(name)


@pytest.mark.parametrize(
    ("user", "value", "is_refused"),
    [
        ("c", "n", False),
        ("c", "a", False),
        ("c", "i", False),
        # Wrong in another way, which something else checks.
        ("d", "b", False),
        ("c", "m", True),
        ("b", "e", True),
        ("d", "m", True),
        ("a", "e", True),
    ],
)
def test_isolation(user: str, value: str, is_refused: bool) -> None:
    module = xtile.parse(_ISOLATED, language="mlir")
    operation = _named(module, user).owner
    assert isinstance(operation, Operation)
    operation.operands[0] = _named(module, value)
    outer = next(each for each in module.walk() if each.name == "cuda_tile.entry")
    definition = cast("IRDLOperation", outer).get_irdl_definition()
    assert isinstance(definition, CheckedDefinition)
    assert _refuses(definition.verify, outer) is is_refused
    assert _refuses(lambda each: OpDef.verify(definition, each), outer) is is_refused


def test_isolation_is_told_in_words_of_xdsl() -> None:
    module = xtile.parse(_ISOLATED, language="mlir")
    operation = _named(module, "c").owner
    assert isinstance(operation, Operation)
    operation.operands[0] = _named(module, "m")
    with pytest.raises(DiagnosticError) as caught:
        xtile.verify(module)
    isolated, reach = (each.message for each in caught.value.diagnostics)
    assert isolated == (
        "'cuda_tile.entry': Operation using value defined out of its IsolatedFromAbove parent: "
        "AddIOp(%c = cuda_tile.addi %m, %n : tile<i32>)"
    )
    assert reach == (
        "operand 0 of 'cuda_tile.addi' is defined outside of the 'cuda_tile.entry' around it, "
        "which may only use values of its own"
    )
