"""The classes of arithmetic, functions, conversions and products."""

from __future__ import annotations

import inspect
import re

import pytest
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from tests.dialects.cuda_tile.numbers_text import (
    TILES,
    line_of,
    only_operation,
    program,
    read,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.ops import (
    bitwise,
    conversions,
    floating_point,
    integer,
    mathematics,
    matrix_multiply,
)
from xtile.dialects.cuda_tile.version_check import check_versions
from xtile.dialects.cuda_tile.versions import V13_1, V13_2, V13_3, V13_4, VERSIONS, Version
from xtile.text.diagnostics import Diagnostics

MODULES = (bitwise, conversions, floating_point, integer, mathematics, matrix_multiply)
OPERATIONS = [operation for module in MODULES for operation in module.OPERATIONS]
TYPE = r"tile<(?:[^<>]|<[^<>]*>)*>"


def example(operation: type[Operation]) -> tuple[str, dict[str, str]]:
    """The text in an operation's docstring, and the types of the operands in it."""
    text = re.search(r"```\n(.*?)```", inspect.getdoc(operation) or "", re.DOTALL)
    assert text is not None
    line = text[1].strip()
    body, _, types = line.partition(" : ")
    names = re.findall(r"%(\w+)", body)[1:]
    operands = re.findall(TYPE, types.partition(" -> ")[0])
    if len(operands) == 1:
        operands *= len(names)
    return line, dict(zip(names, operands, strict=True))


def example_operation(operation: type[Operation]) -> Operation:
    """The operation in a docstring."""
    line, operands = example(operation)
    return only_operation(read(program(re.sub(r"^%\w+ =", "%r =", line), operands)))


def argument(operation: Operation, name: str) -> object:
    """What a parameter of a constructor must be for such an operation."""
    if name in ("to_type", "result_type"):
        return operation.results[0].type
    if name not in operation.get_irdl_definition().properties:
        return getattr(operation, name)
    value = operation.properties.get(name)
    return getattr(value, "data", isinstance(value, UnitAttr))


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if "pack" not in o.name])
def test_constructors(operation: type[Operation]) -> None:
    read_ = example_operation(operation)
    parameters = list(inspect.signature(operation.__init__).parameters.values())[1:]
    positional = [argument(read_, p.name) for p in parameters if p.kind is not p.KEYWORD_ONLY]
    keyword = {p.name: argument(read_, p.name) for p in parameters if p.kind is p.KEYWORD_ONLY}
    if "properties" in keyword:
        keyword = {}
    made = operation(*positional, **keyword)
    made.verify()
    assert made.properties == read_.properties
    assert [result.type for result in made.results] == [result.type for result in read_.results]
    assert list(made.operands) == list(read_.operands)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_text_in_the_documentation(operation: type[Operation]) -> None:
    line, operands = example(operation)
    program_ = program(re.sub(r"^%\w+ =", "%r =", line), operands)
    module = read(program_)
    assert type(only_operation(module)) is operation
    assert line_of(module) == re.sub(r"^%\w+ =", "%r =", line)


def test_there_are_as_many_as_in_the_specification() -> None:
    names = {operation.name for operation in OPERATIONS}
    assert len(names) == len(OPERATIONS)
    counts = [len(module.OPERATIONS) for module in MODULES[:1] + MODULES[2:]]
    # 13.4 added fpowi.
    assert counts == [3, 13, 13, 14 + 1, 3]
    assert len(conversions.OPERATIONS) >= 9


def test_versions() -> None:
    later: dict[str, object] = {}
    for operation in OPERATIONS:
        assert issubclass(operation, CudaTileOperation)
        if operation.SINCE != V13_1:
            later[operation.name.partition(".")[2]] = operation.SINCE
        for field, version in operation.SINCE_OF.items():
            assert field in operation.get_irdl_definition().properties
            later[f"{operation.name.partition('.')[2]} {field}"] = version
    # pack and unpack may stand in a module of their own.
    assert {name: later[name] for name in later if "pack" not in name} == {
        "atan2": V13_2,
        "exp rounding_mode": V13_3,
        "fpowi": V13_4,
        "ftoi saturating": V13_4,
        "mmaf fast_acc": V13_3,
        "mmaf_scaled": V13_3,
        "negi overflow": V13_2,
        "tanh rounding_mode": V13_2,
    }


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("%f32 rounding<zero> : tile<4x8xf32> -> tile<4x8xf16>", V13_4),
        ("%f16 rounding<positive_inf> : tile<4x8xf16> -> tile<4x8xf32>", V13_4),
        ("%f32 : tile<4x8xf32> -> tile<4x8xf16>", V13_1),
        ("%f32 rounding<zero> : tile<4x8xf32> -> tile<4x8xf8E8M0FNU>", V13_2),
    ],
)
def test_versions_of_rounding_modes(text: str, since: Version) -> None:
    module = read(program(f"%r = ftof {text}", {"f32": TILES["f32"], "f16": TILES["f16"]}))
    for version in VERSIONS:
        diagnostics = Diagnostics()
        check_versions(module, version, diagnostics)
        assert diagnostics.has_errors == (version < since)
