"""Properties of the text forms, over random kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, seed, settings
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Attribute

from tests.dialects.tensorlang.round_trip import (
    assert_equivalent,
    ir_text,
    locations,
    mlir_text,
    module_from_ir,
    module_from_mlir,
)
from tests.generators.tensorlang_kernels import kernels, random_kernel
from tests.samples import one_of
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import OPERATIONS
from xtile.dialects.tensorlang.syntax import MODIFIERS
from xtile.dialects.tensorlang.types import SCALAR_TYPES
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics

CHUNKS = 6
KERNELS_PER_CHUNK = 100

FEATURES = {
    **{f"a memref of order {n}": rf"memref<f32{'x[0-9?]+' * n}[>,]" for n in range(6)},
    **{f"the type {name}": rf": {name}\b" for name in SCALAR_TYPES},
    **{f"a {use} coopmatrix": rf"coopmatrix<\w+,{use}>" for use in ("matrix_a", "matrix_b")},
    "an accumulator": r"coopmatrix<\w+,matrix_acc>",
    "a dynamic mode": r"memref<f64x\?",
    "a strided layout": r"memref<f64[x0-9?]*,strided<[0-9]",
    "a dynamic stride": r",strided<[0-9,]*\?",
    "local memory": r"memref<f64[x0-9?]*,local>",
    "strided local memory": r"strided<[0-9,]*>,local>",
    "a group of dynamic size": r"group<memref<[^>]*>+x\?",
    "a group of static size": r"group<memref<[^>]*>+x[0-9]",
    "a group with a dynamic offset": r"x[0-9?]+, offset: \?>",
    "a group with a static offset": r"x[0-9?]+, offset: [0-9]+>",
    "a subgroup size": r"attributes \{[^\n]*subgroup_size=16",
    "a work-group size": r"work_group_size=\[32,2\]",
    "an alignment of a parameter": r"> \{alignment=",
    "an alignment of local memory": r"alloca \{alignment=",
    "divisors of a shape": r"shape_gcd=\[[0-9]+,[0-9]+\]",
    "divisors of strides": r"stride_gcd=\[[0-9]+,[0-9]+\]",
    "an unknown attribute": r'"a name"=',
    "no step": r"= for %\w+=%\w+,%\w+ init|\n *for %\w+=%\w+,%\w+ \{",
    "a step": r"for %\w+=%\w+,%\w+,%\w+",
    "a loop without values": r"\n *for ",
    "a loop that carries a scalar": r"init\(.*\) -> \((f32|i64|c32)",
    "a loop that carries a matrix": r"init\(.*\) -> \(.*coopmatrix",
    "an unrolled loop": r"\{unroll=true",
    "a loop not unrolled": r"\{unroll=false",
    "a partially unrolled loop": r"\{unroll=4",
    "an if without else": r"\n *if %\w+ \{\n(?:(?! *\}).*\n)*? *\}\n",
    "an if with else": r"\} else \{",
    "an if that returns a matrix": r"= if %\w+ -> \(.*coopmatrix",
    "an empty region": r"\{\n *\}",
    "a plain double": r"constant 1\.0 :",
    "a negative zero": r"constant -0\.0 :",
    "infinity": r"constant inf :",
    "negative infinity": r"constant -inf :",
    "a nan": r"constant nan :",
    "the largest double": r"constant 1\.7976931348623157e\+308 :",
    "the least double": r"0x0\.0000000000001p-1022",
    "the largest integer": r"constant 9223372036854775807 :",
    "the least integer": r"constant -9223372036854775807 :",
    "a complex constant": r"constant \[[-0-9.e+]+, [-0-9.e+]+\] :",
    "a boolean constant": r"constant true :",
    "a matrix of a constant": r"constant [-0-9.e+]+ : coopmatrix",
    "a value as expand shape": r"expand %\w+\[[0-9]+ -> [0-9]+ x %",
    "a slice": r"subview %\w+\[.*[0-9%]:[0-9%]",
    "a numbered value": r"%[0-9]+ =",
    "a named value": r"%alpha =",
    "a comment before an instruction": r"\n +; ",
    "a comment behind an instruction": r"\n +[^;\n]+ ; ",
    "a blank line in a comment": r"\n +;.*\n\n +;",
    "a comment at the end of a region": r"\n +;.*\n *\}",
    "a comment before a function": r"(?:^|\n); ",
}


def check_texts(module: ModuleOp) -> str:
    """Prints and reads the module in every text form; returns its `.ir` text."""
    text = ir_text(module)
    read = module_from_ir(text)
    assert_equivalent(module, read, text)
    assert ir_text(read) == text
    generic = mlir_text(module, generic=True)
    assert_equivalent(module, module_from_mlir(generic), generic)
    custom = mlir_text(read, debuginfo=True)
    reread = module_from_mlir(custom)
    assert_equivalent(module, reread, custom)
    assert locations(reread) == locations(read)
    return text


def check_rules(module: ModuleOp, text: str) -> None:
    """Fails if the verifier has anything to say about a module."""
    diagnostics = Diagnostics()
    verify_module(module, diagnostics)
    assert not diagnostics, f"{diagnostics.render()}\n{text}"


def for_each_kernel(chunk: int, check: Callable[[ModuleOp], object]) -> None:
    """Calls `check` with the same random kernels in every run."""

    @seed(chunk)
    @settings(
        max_examples=KERNELS_PER_CHUNK,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(kernels())
    def run(module: ModuleOp) -> None:
        check(module)

    run()


@pytest.mark.parametrize("chunk", one_of(4, range(CHUNKS)))
def test_every_text_form_holds_the_whole_kernel(chunk: int) -> None:
    for_each_kernel(chunk, lambda module: check_rules(module, check_texts(module)))


def modifiers_in(module: ModuleOp) -> Iterator[tuple[str, str, Attribute | None]]:
    """The modifiers of all operations of a module, as they are stored."""
    for operation in module.walk():
        for name in modifier_names(type(operation)):
            yield operation.name, name, operation.properties.get(name)


def modifier_names(cls: type) -> list[str]:
    """The modifiers that an operation class names in its SYNTAX."""
    if not issubclass(cls, TensorLangOperation):
        return []
    return [name for name in re.findall(r"\.(\w+)", cls.SYNTAX) if name in MODIFIERS]


def every_modifier() -> Iterator[tuple[str, str, Attribute | None]]:
    """Every value of every modifier of every operation; None where there is none."""
    for cls in OPERATIONS:
        for name in modifier_names(cls):
            values = list(MODIFIERS[name].values())
            for value in values + [None] * (UnitAttr() in values):
                yield cls.name, name, value


def test_the_kernels_hold_everything_that_the_language_has() -> None:
    texts: list[str] = []
    operations: set[str] = set()
    modifiers: set[tuple[str, str, Attribute | None]] = set()

    def collect(module: ModuleOp) -> None:
        texts.append(ir_text(module))
        operations.update(operation.name for operation in module.walk())
        modifiers.update(modifiers_in(module))

    for chunk in range(CHUNKS):
        for_each_kernel(chunk, collect)
    assert len(texts) >= CHUNKS * KERNELS_PER_CHUNK
    assert {cls.name for cls in OPERATIONS} - operations == set()
    assert len(set(every_modifier())) >= 171
    assert set(every_modifier()) - modifiers == set()
    everything = "\n".join(texts)
    assert [name for name, pattern in FEATURES.items() if not re.search(pattern, everything)] == []


def test_the_same_seed_gives_the_same_kernel() -> None:
    assert ir_text(random_kernel(7, 40)) == ir_text(random_kernel(7, 40))
    assert ir_text(random_kernel(7, 40)) != ir_text(random_kernel(8, 40))


def test_a_kernel_of_size_one_is_small() -> None:
    sizes = [sum(1 for _ in random_kernel(seed, 1).walk()) for seed in range(50)]
    assert max(sizes) < 40
