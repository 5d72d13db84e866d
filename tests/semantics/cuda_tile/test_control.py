"""Control flow: loops, and what leaves them from inside of conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.semantics.cuda_tile.entries import blank, constants, failure, run

OUT = "%o: tile<ptr<i32>>"


def store(value: str, at: int = 0) -> str:
    """Stores an i32 at a position of %o."""
    name = value.strip("%").replace("#", "_")
    return f"""
    %at_{name} = constant <i32: {at}> : tile<i32>
    %to_{name} = offset %o, %at_{name} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %done_{name} = store_ptr_tko weak %to_{name}, {value} : tile<ptr<i32>>, tile<i32> -> token
    """


def result(body: str, count: int = 1, **options: Any) -> list[int]:
    """What a body stores in %o."""
    o = blank(count, dtype=np.int32)
    run(OUT, body, o, **options)
    return o.tolist()


def counted(first: int, last: int, step: int, type: str = "i32", unsigned: str = "") -> str:
    """Counts the iterations of a loop."""
    return f"""
    {constants([0, 1])}
    %first = constant <{type}: {first}> : tile<{type}>
    %last = constant <{type}: {last}> : tile<{type}>
    %step = constant <{type}: {step}> : tile<{type}>
    %n = for {unsigned} %i in (%first to %last, step %step) : tile<{type}>
        iter_values(%sum = %c0) -> (tile<i32>) {{
      %next = addi %sum, %c1 : tile<i32>
      continue %next : tile<i32>
    }}
    {store("%n")}
    """


@pytest.mark.parametrize(
    ("first", "last", "step"),
    [(0, 10, 1), (0, 10, 3), (-5, 5, 4), (5, 5, 1), (6, 5, 1), (-128, 127, 100), (0, 10, 100)],
)
def test_iterations(first: int, last: int, step: int) -> None:
    for type in ("i8", "i32", "i64"):
        assert result(counted(first, last, step, type)) == [len(range(first, last, step))]


def test_loops_of_unsigned_numbers() -> None:
    assert result(counted(100, -56, 10, "i8", "unsigned")) == [10]
    assert result(counted(100, -56, 10, "i8")) == [0]
    assert result(counted(-1, 1, 1, "i32", "unsigned")) == [0]
    # The step has no sign either.
    assert result(counted(0, -6, -56, "i8", "unsigned")) == [2]


def test_the_variable_and_carried_values() -> None:
    body = f"""
    {constants([0, 1, 5])}
    %n:2 = for %i in (%c0 to %c2, step %c1) : tile<i32>
        iter_values(%a = %c0, %b = %c1) -> (tile<i32>, tile<i32>) {{
      %s = addi %a, %i : tile<i32>
      continue %b, %s : tile<i32>, tile<i32>
    }}
    {store("%n#0")}{store("%n#1", 1)}
    """
    a, b = 0, 1
    for i in range(5):
        a, b = b, a + i
    assert result(body, 2) == [a, b]


def test_continue_in_a_condition() -> None:
    body = f"""
    {constants([0, 1, 10, 2])}
    %n = for %i in (%c0 to %c2, step %c1) : tile<i32> iter_values(%sum = %c0) -> (tile<i32>) {{
      %r = remi %i, %c3 signed : tile<i32>
      %odd = cmpi equal %r, %c1, signed : tile<i32> -> tile<i1>
      if %odd {{
        continue %sum : tile<i32>
      }}
      %next = addi %sum, %i : tile<i32>
      continue %next : tile<i32>
    }}
    {store("%n")}
    """
    assert result(body) == [0 + 2 + 4 + 6 + 8]


def test_break_out_of_conditions_in_conditions() -> None:
    body = f"""
    {constants([0, 1, 7, 100])}
    %n = loop iter_values(%i = %c0) : tile<i32> -> tile<i32> {{
      %next = addi %i, %c1 : tile<i32>
      %big = cmpi greater_than %i, %c1, signed : tile<i32> -> tile<i1>
      %x = if %big -> (tile<i32>) {{
        %end = cmpi equal %i, %c2, signed : tile<i32> -> tile<i1>
        if %end {{
          %r = addi %i, %c3 : tile<i32>
          break %r : tile<i32>
        }}
        yield %next : tile<i32>
      }} else {{
        continue %next : tile<i32>
      }}
      continue %x : tile<i32>
    }}
    {store("%n")}
    """
    assert result(body) == [107]


def test_break_leaves_the_innermost_loop_only() -> None:
    body = f"""
    {constants([0, 1, 4])}
    %n = for %i in (%c0 to %c2, step %c1) : tile<i32> iter_values(%sum = %c0) -> (tile<i32>) {{
      %m = loop iter_values(%j = %c0) : tile<i32> -> tile<i32> {{
        %end = cmpi greater_than_or_equal %j, %i, signed : tile<i32> -> tile<i1>
        if %end {{
          break %j : tile<i32>
        }}
        %next = addi %j, %c1 : tile<i32>
        continue %next : tile<i32>
      }}
      %s = addi %sum, %m : tile<i32>
      continue %s : tile<i32>
    }}
    {store("%n")}
    """
    assert result(body) == [0 + 1 + 2 + 3]


def test_a_loop_that_ends_with_break() -> None:
    body = f"""
    {constants([0, 1, 3])}
    %n = loop iter_values(%i = %c0) : tile<i32> -> tile<i32> {{
      %go = cmpi less_than %i, %c2, signed : tile<i32> -> tile<i1>
      if %go {{
        %next = addi %i, %c1 : tile<i32>
        continue %next : tile<i32>
      }}
      break %i : tile<i32>
    }}
    {store("%n")}
    """
    assert result(body) == [3]


def test_loops_without_values() -> None:
    body = f"""
    {constants([0, 1, 3])}
    for %i in (%c0 to %c2, step %c1) : tile<i32> {{
      %p = offset %o, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %t = store_ptr_tko weak %p, %i : tile<ptr<i32>>, tile<i32> -> token
    }}
    loop {{
      break
    }}
    """
    assert result(body, 3) == [0, 1, 2]


@pytest.mark.parametrize(("given", "expected"), [("true", 5), ("false", 6)])
def test_if(given: str, expected: int) -> None:
    body = f"""
    {constants([5, 6])}
    %true = constant <i1: {given}> : tile<i1>
    %x = if %true -> (tile<i32>) {{
      yield %c0 : tile<i32>
    }} else {{
      yield %c1 : tile<i32>
    }}
    {store("%x")}
    """
    assert result(body) == [expected]


def test_if_without_else() -> None:
    body = f"""
    {constants([5])}
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 1> : tile<i32>
    %first = cmpi less_than %bx, %zero, signed : tile<i32> -> tile<i1>
    if %first {{
      {store("%c0")}
    }}
    """
    assert result(body, 2, grid=2) == [5, -1]


def test_return_ends_a_tile_block() -> None:
    body = f"""
    {constants([5, 1])}
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %p = offset %o, %bx : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %first = cmpi less_than %bx, %c1, signed : tile<i32> -> tile<i1>
    if %first {{
      if %first {{
        return
      }}
    }}
    %t = store_ptr_tko weak %p, %c0 : tile<ptr<i32>>, tile<i32> -> token
    """
    assert result(body, 3, grid=3) == [-1, 5, 5]


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_that_is_not_positive(step: int) -> None:
    message, text = failure(OUT, counted(0, 5, step), np.zeros(1, np.int32))
    assert message == f"the step of a for loop must be at least 1, but is {step}"
    assert text.startswith("%n = for")


class TestAssert:
    def test_it_holds(self) -> None:
        run("", '%x = constant <i1: true> : tile<4xi1>\nassert %x, "no" : tile<4xi1>')

    def test_it_does_not(self) -> None:
        line = 'assert %x, "n is even" : tile<2x2xi1>'
        values = "%x = constant <i1: [[true, true], [false, true]]> : tile<2x2xi1>\n"
        message, text = failure("", values + line)
        assert message == "the assertion does not hold for element [1, 0]: n is even"
        assert text == line


@pytest.mark.parametrize("end", ["return", "if %yes { return }"])
def test_return_in_a_loop_ends_a_tile_block(end: str) -> None:
    body = f"""
    {constants([0, 1, 7])}
    %yes = constant <i1: true> : tile<i1>
    loop {{
      {store("%c1")}
      {end}
    }}
    {store("%c2")}
    """
    assert result(body) == [1]
