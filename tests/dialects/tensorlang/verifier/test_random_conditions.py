"""Conditions are refused where they differ within a subgroup, and only there.

Random conditions on the numbers of work-items are tried out in plain Python.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtile.dialects.tensorlang.reader import read
from xtile.dialects.tensorlang.verifier import verify
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source

Number = Callable[[int, int], int]
"""A number, from those of the subgroup and of the lane."""


def _divided(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_BINARY: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "and": operator.and_,
}

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "less_than": operator.lt,
    "less_than_equal": operator.le,
    "greater_than": operator.gt,
    "greater_than_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}


class _Kernel:
    """A kernel that is written line by line, with what its numbers are."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw
        self.lanes, self.groups = draw(st.sampled_from([(8, 1), (16, 4), (32, 2), (16, 24)]))
        self.lines = [
            "%group = subgroup_linear_id : i32",
            "%lane = subgroup_local_id : i32",
            "%size = subgroup_size : i32",
        ]
        self.numbers: dict[str, Number] = {
            "%group": lambda group, lane: group,
            "%lane": lambda group, lane: lane,
            "%size": lambda group, lane: self.lanes,
        }

    def constant(self, choices: list[int]) -> str:
        number, name = self._draw(st.sampled_from(choices)), f"%v{len(self.lines)}"
        self.lines.append(f"{name} = constant {number} : i32")
        self.numbers[name] = lambda group, lane: number
        return name

    def any_number(self) -> str:
        if self._draw(st.booleans()):
            return self.constant([-16, -1, 0, 1, 3, 8, 16, 20, 32, 48])
        return self._draw(st.sampled_from(list(self.numbers)))

    def operation(self) -> None:
        kind = self._draw(st.sampled_from([*_BINARY, "div", "rem", "number"]))
        if kind == "number":
            first = self._emit("mul", operator.mul, "%group", "%size")
            self._emit("add", operator.add, first, "%lane")
        elif kind in ("div", "rem"):
            a, b = self.any_number(), self.constant([2, 4, 8, 16, 32])
            rem: Callable[[int, int], int] = lambda x, y: x - y * _divided(x, y)  # noqa: E731
            self._emit(kind, _divided if kind == "div" else rem, a, b)
        else:
            self._emit(kind, _BINARY[kind], self.any_number(), self.any_number())

    def condition(self) -> Number:
        kind = self._draw(st.sampled_from(list(_COMPARISONS)))
        a, b = self.any_number(), self.any_number()
        self.lines.append(f"%is = {kind} {a}, {b} : bool")
        compare, left, right = _COMPARISONS[kind], self.numbers[a], self.numbers[b]
        return lambda group, lane: compare(left(group, lane), right(group, lane))

    def _emit(self, kind: str, compute: Callable[[int, int], int], a: str, b: str) -> str:
        name, left, right = f"%v{len(self.lines)}", self.numbers[a], self.numbers[b]
        self.lines.append(f"{name} = {kind} {a}, {b} : i32")
        self.numbers[name] = lambda group, lane: compute(left(group, lane), right(group, lane))
        return name

    @property
    def text(self) -> str:
        lines = "\n".join(self.lines)
        size = f"subgroup_size={self.lanes}, work_group_size=[{self.lanes * self.groups},1]"
        return f"""
        func @f(%A: memref<f32x64x64>) attributes {{{size}}} {{
            parallel {{
                %c0 = constant 0 : index
                {lines}
                if %is {{
                    %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x32x32,matrix_acc>
                }}
            }}
        }}"""


@pytest.mark.parametrize(
    "bound",
    [
        *("div %a, %b", "rem %a, %b", "max %a, %c", "min %a, %b", "and %a, %c", "or %a, %c"),
        *("add %size, %a", "sub %b, %size"),
    ],
)
def test_constants_that_instructions_compute_are_known(bound: str) -> None:
    """No lane's number is below a bound that is not positive."""
    text = f"""
    func @f(%A: memref<f32x64x64>) attributes {{subgroup_size=16, work_group_size=[16,1]}} {{
        parallel {{
            %i = constant 0 : index
            %a = constant -17 : i32
            %b = constant 2 : i32
            %c = constant -4 : i32
            %size = subgroup_size : i32
            %bound = {bound} : i32
            %lane = subgroup_local_id : i32
            %is = less_than %lane, %bound : bool
            if %is {{
                %m = cooperative_matrix_load %A[%i,%i] : coopmatrix<f32x32x32,matrix_acc>
            }}
        }}
    }}"""
    diagnostics = Diagnostics()
    verify(read(Source("kernel.ir", text), diagnostics, "v0.4"), diagnostics)
    assert not diagnostics.errors, diagnostics.render()


@given(st.data())
def test_random_conditions(data: st.DataObject) -> None:
    kernel = _Kernel(data.draw)
    for _ in range(data.draw(st.integers(1, 4))):
        kernel.operation()
    condition = kernel.condition()
    groups, lanes = range(kernel.groups), range(kernel.lanes)
    differs = any(len({condition(group, lane) for lane in lanes}) > 1 for group in groups)
    # Only the first subgroups are looked at, in which a few kernels show nothing.
    shows = any(len({condition(group, lane) for lane in lanes}) > 1 for group in groups[:16])
    source, diagnostics = Source("kernel.ir", kernel.text), Diagnostics()
    verify(read(source, diagnostics, "v0.4"), diagnostics)
    messages = [error.message for error in diagnostics.errors]
    is_refused = bool(messages)
    assert all("differs between the work-items of a subgroup" in each for each in messages)
    assert differs or not is_refused, kernel.text
    assert is_refused or not shows, kernel.text
