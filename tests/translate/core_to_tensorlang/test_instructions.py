"""Instructions of the tensor language, there and back: what comes out means the same."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.generators.tensorlang_kernels import random_kernel
from tests.seeds import fresh_seed
from tests.translate.core_to_tensorlang.ported import checked, there_and_back
from tests.translate.ported import fix_sizes
from tests.translate.tensorlang_to_core.agreement import GRID, Arguments, is_runnable
from tests.translate.tensorlang_to_core.cases import CASES
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.verification import verify_module
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, ScalarArgument
from xtile.semantics.engine import launch
from xtile.semantics.errors import ExecutionError
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.core_to_tensorlang import translate_module as lower
from xtile.translate.route import Options, translate_to
from xtile.translate.tensorlang_to_core import translate_module as raise_

KERNELS = {"core": 30, "subgroup": 12}
"""How many random kernels are taken through each level."""

REASONS = (
    "core.complex_part cannot be translated",
    "has none",
    "the dynamic stride of",
    "but must be at least",
    "cannot be reached by other strides than its own",
)
"""Why some of them are refused."""


def module_text(module: ModuleOp) -> str:
    """The header of a module's only function."""
    return xtile.to_text(module, "tensorlang").partition("{")[0]


@pytest.mark.slow
def test_every_instruction_comes_back() -> None:
    """Each row of the way there is a function again, with the parameters that it had."""
    for case in CASES:
        module = case.module()
        again = there_and_back(module)
        (before,), (after,) = (
            [each for each in m.body.ops if isinstance(each, FuncOp)] for m in (module, again)
        )
        has_offset = "offset" in module_text(module)
        assert ("core.signature" in after.attributes) == has_offset, case.name
        if has_offset:
            continue
        assert [arg.type for arg in after.parameters] == [arg.type for arg in before.parameters]
        assert [arg.name_hint for arg in after.parameters] == [
            arg.name_hint for arg in before.parameters
        ]


def test_linear_algebra_is_the_same_text() -> None:
    text = """func @f(%A: memref<f32x8x8>, %B: memref<f32x8x8>, %b: memref<f32x8>, %alpha: f32) {
    axpby.t %alpha, %A, %alpha, %B
    gemm.t %alpha, %A, %A, %alpha, %B
    gemv %alpha, %A, %b, %alpha, %b
    ger %alpha, %b, %b, %alpha, %A
    hadamard %alpha, %A, %A, %alpha, %B
    cumsum %alpha, %A, 1, %alpha, %B
    sum.t %alpha, %A, %alpha, %b
}
"""
    again = there_and_back(xtile.parse(text, language="tensorlang"))
    assert xtile.to_text(again, "tensorlang") == text


class _Arguments(Arguments):
    """The same arguments for both functions, in memory of their own."""

    def both(self) -> tuple[list[Argument], list[Argument]]:
        """The arguments of either."""
        copies = iter(self.translated)
        second: list[Argument] = []
        for own in self.source:
            copy = next(copies)
            if isinstance(own, GroupArgument) and isinstance(copy, GroupArgument):
                pairs = zip(own.entries, copy.entries, strict=True)
                entries = [_like(*pair) for pair in pairs]
                second.append(GroupArgument(entries, 0))
            elif isinstance(own, MemrefArgument) and isinstance(copy, MemrefArgument):
                second.append(_like(own, copy))
            else:
                second.append(copy)
        second += [each for each in copies if isinstance(each, ScalarArgument)]
        return self.source, second


def _like(own: MemrefArgument, copy: MemrefArgument) -> MemrefArgument:
    return MemrefArgument(copy.base, own.shape, own.strides)


def _lowered_or_why(core: ModuleOp) -> ModuleOp | str:
    try:
        return lower(core)
    except DiagnosticError as error:
        return str(error)


def _agrees(seed: int, level: str) -> str:
    """What happened to a random kernel."""
    source = random_kernel(seed, 10)
    functions = [each for each in source.body.ops if isinstance(each, FuncOp)]
    try:
        for function in functions:
            fix_sizes(function)
        core = raise_(source)
        core = core if level == "core" else translate_to(core, level, Options("pvc"))
    except (DiagnosticError, ExecutionError):
        return "not raised"
    made = _lowered_or_why(core)
    if isinstance(made, str):
        assert any(reason in made for reason in REASONS), made
        return "refused"
    if "the divisor is the constant 0" in _problems(made):
        return "divides by 0"
    again = [each for each in checked(made).body.ops if isinstance(each, FuncOp)]
    result = "not run"
    for function, other in zip(functions, again, strict=True):
        if not is_runnable(function) or any("core" in name for name in other.attributes):
            continue
        arguments = _Arguments(function, Random(seed))
        if arguments.overlap:
            continue
        first, second = arguments.both()
        try:
            launch(function, first, GRID)
        except ExecutionError:
            continue
        launch(other, second, GRID)
        arguments.assert_equal()
        result = "agrees"
    return result


def _problems(module: ModuleOp) -> str:
    found = Diagnostics()
    verify_module(module, found)
    return found.render()


@pytest.mark.parametrize("level", KERNELS)
def test_random_kernels(level: str) -> None:
    first = fresh_seed() % 100_000
    results = [_agrees(seed, level) for seed in range(first, first + KERNELS[level])]
    assert len(results) - results.count("not raised") > 2


@pytest.mark.parametrize("name", ["div", "rem"])
def test_a_division_stays_in_its_branch(name: str) -> None:
    text = f"""func @f(%a: memref<i32>, %n: i32, %d: i32) {{
        %zero = constant 0 : i32
        %is = not_equal %d, %zero : bool
        if %is {{
            %q = {name} %n, %d : i32
            store %q, %a[]
        }}
    }}"""
    core = raise_(xtile.parse(text, language="tensorlang"))
    made = _lowered_or_why(core)
    assert not isinstance(made, str)
    for divisor, wanted in ((0, -1), (7, {"div": 5, "rem": 4}[name])):
        a = np.full((), -1, np.int32)
        xtile.run(made, [a, 39, divisor])
        assert a == wanted
