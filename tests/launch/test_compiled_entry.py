"""Compiled kernels come back from the cache as they were."""

from __future__ import annotations

import dataclasses
import json

import pytest
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute

import xtile
from xtile.arguments.launch_checks import LaunchCheck
from xtile.arguments.signature import Parameter, Signature
from xtile.backends.cache import Entry
from xtile.backends.intel.compilation import KernelInterface, Program
from xtile.backends.intel.compiler import compiler_for
from xtile.launch.compiled import Compiled, decode, encode
from xtile.targets import INTEL
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import Diagnostic, Severity
from xtile.text.source import Source, Span

SOURCE = Source("kernel.ir", "one\ntwo\n")

PARAMETERS = """
(%a: i8, %b: index, %c: bf16, %d: c64, %A: memref<f32x?x4,strided<2,?>>, %B: memref<c32x3x?>,
 %C: group<memref<f64x?x?>x?, offset: ?>, %D: group<memref<i16x8>x4, offset: 2>)
"""

UPSTREAM = """
(i64, complex<f32>, memref<?x4xf16, strided<[?, 1], offset: ?>>, memref<?xmemref<4x?xbf16>>,
 memref<4xf32, #gpu.address_space<global>>, memref<2x2xf32, affine_map<(i, j) -> (j, i)>>)
"""


def types() -> list[Attribute]:
    """Types of the tensor language and of MLIR."""
    module = xtile.parse(f"func @f{PARAMETERS} {{\n}}\n")
    (function,) = module.body.block.ops
    own = [value.type for value in function.regions[0].block.args]
    module = xtile.parse(f"func.func private @f{UPSTREAM}\n", language="mlir")
    (function,) = module.body.block.ops
    inputs = function.properties["function_type"].inputs  # type: ignore[attr-defined]
    return [*own, *inputs]


def compiled(size: tuple[int, int, int] | None, subgroup_size: int | None) -> Compiled[Program]:
    """Something of everything."""
    gcd = ArrayAttr([IntegerAttr(4, i64), IntegerAttr(1, i64)])
    attributes: dict[str, Attribute] = {"alignment": IntegerAttr(64, i64), "shape_gcd": gcd}
    parameters = tuple(
        Parameter(f"p{number}", type, attributes if number % 2 else {}, number == 1)
        for number, type in enumerate(types())
    )
    checks = (
        LaunchCheck(("add", 64, ("argument", 0), ("mul", 64, ("block", 1), 128)), 0, 2**31 - 1),
        LaunchCheck(("between", 3, ("grid", 2)), -4, 5),
    )
    signatures = {
        "f": Signature("f", parameters, frozenset({4, 6}), checks),
        "nothing": Signature("nothing", (), frozenset()),
    }
    kernels = {
        name: KernelInterface(
            name,
            tuple(parameter.type for parameter in signature.parameters),
            size,
            subgroup_size,
            1000,
            32,
            size,
            ignores_block=size is None,
            checks=checks[:1],
        )
        for name, signature in signatures.items()
    }
    note = Diagnostic(Severity.NOTE, "hère", SOURCE, Span(4, 7))
    warnings = [
        Diagnostic(Severity.WARNING, "old", SOURCE, Span(0, 3), (note,)),
        Diagnostic(Severity.WARNING, "somewhere", None, None),
    ]
    program = Program(b"\x03\x02\x23\x07", kernels, "-cl-fast", is_risky=True)
    return Compiled(program, signatures, ["main"], warnings)


@pytest.mark.parametrize(("size", "subgroup_size"), [((16, 2, 1), 16), (None, None)])
def test_everything_comes_back(
    size: tuple[int, int, int] | None, subgroup_size: int | None
) -> None:
    before = compiled(size, subgroup_size)
    compiler = compiler_for(for_spirv(INTEL.chips["pvc"]))
    header, content = encode(before, compiler)
    after = decode(Entry(json.loads(json.dumps(header)), content), SOURCE, compiler)
    assert after == before
    assert [d.render() for d in after.warnings] == [d.render() for d in before.warnings]


def test_nothing_is_left_out() -> None:
    """A field that is added must be kept, too."""
    fields = {
        type: {field.name for field in dataclasses.fields(type)}
        for type in (Program, KernelInterface, Signature, Parameter, Compiled)
    }
    assert fields == {
        Program: {"spirv", "kernels", "build_options", "is_risky"},
        KernelInterface: {
            *("name", "parameters", "work_group_size", "subgroup_size", "local_memory"),
            *("lanes_together", "source_size", "ignores_block", "checks"),
        },
        Signature: {"name", "parameters", "written", "checks"},
        Parameter: {"name", "type", "attributes", "may_be_address", "is_noalias"},
        Compiled: {"program", "signatures", "hosts", "warnings"},
    }
