"""Positions in the grid, global variables, prints, and launches."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xtile
from tests.semantics.cuda_tile.entries import blank, constants, failure, module, pointers, run
from xtile.arguments.errors import ArgumentError


def test_places_in_the_grid() -> None:
    o = blank(2 * 3 * 4, 6, dtype=np.int32)
    stores = "".join(
        f"""
        %n{i} = constant <i32: {i}> : tile<i32>
        %p{i} = offset %p, %n{i} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %t{i} = store_ptr_tko weak %p{i}, %{name} : tile<ptr<i32>>, tile<i32> -> token
        """
        for i, name in enumerate(("x", "y", "z", "nx", "ny", "nz"))
    )
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
    %six = constant <i32: 6> : tile<i32>
    %a = muli %z, %ny : tile<i32>
    %b = addi %a, %y : tile<i32>
    %c = muli %b, %nx : tile<i32>
    %d = addi %c, %x : tile<i32>
    %e = muli %d, %six : tile<i32>
    %p = offset %o, %e : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    {stores}
    """
    run("%o: tile<ptr<i32>>", body, o, grid=(2, 3, 4))
    expected = [[x, y, z, 2, 3, 4] for z in range(4) for y in range(3) for x in range(2)]
    assert o.tolist() == expected


COUNTER = "global @counter <i32: [3, 4]> : tile<2xi32>"
GET = "%g = get_global @counter : tile<ptr<i32>>"


def counting(constant: str = "") -> str:
    return f"""
    {GET}
    {constants([1])}
    %old, %t = load_ptr_tko weak %g : tile<ptr<i32>> -> tile<i32>, token
    %new = addi %old, %c0 : tile<i32>
    %u = store_ptr_tko weak %g, %new token=%t : tile<ptr<i32>>, tile<i32> -> token
    %x, %y, %z = get_tile_block_id : tile<i32>
    %p = offset %o, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %v = store_ptr_tko weak %p, %old : tile<ptr<i32>>, tile<i32> -> token
    """


def test_global_variables_live_as_long_as_a_launch() -> None:
    for _ in range(2):
        o = blank(3, dtype=np.int32)
        run("%o: tile<ptr<i32>>", counting(), o, grid=3, before=COUNTER, workers=2)
        assert o.tolist() == [3, 4, 5]


def test_constant_global_variables_are_not_written() -> None:
    before = COUNTER.replace("global", "global constant")
    o = np.zeros(3, np.int32)
    message, text = failure("%o: tile<ptr<i32>>", counting(), o, before=before)
    assert message == "@counter is constant, but is written to"
    assert text.startswith("%u = store_ptr_tko")


def test_global_elements_of_four_bits() -> None:
    o = blank(1, dtype=np.uint8)
    body = f"""
    %g = get_global @g : tile<ptr<f4E2M1FN>>
    {pointers("p", "g", 2, "f4E2M1FN")}
    {pointers("q", "o", 2, "f4E2M1FN")}
    %x, %t = load_ptr_tko weak %p : tile<2xptr<f4E2M1FN>> -> tile<2xf4E2M1FN>, token
    %u = store_ptr_tko weak %q, %x : tile<2xptr<f4E2M1FN>>, tile<2xf4E2M1FN> -> token
    """
    before = "global @g <f4E2M1FN: [0.5, 1.5]> : tile<2xf4E2M1FN>"
    run("%o: tile<ptr<f4E2M1FN>>", body, o, before=before)
    assert o.tolist() == [0x31]


class TestPrint:
    @pytest.mark.parametrize(
        ("text", "values", "expected"),
        [
            ("hello 100%%\\n", [], "hello 100%\n"),
            (
                "%d and %5.2f\\n",
                ["<i32: -7> : tile<i32>", "<f32: 1.5> : tile<f32>"],
                "-7 and  1.50\n",
            ),
            ("%u %x", ["<i8: -1> : tile<i8>", "<i16: -1> : tile<i16>"], "4294967295 ffffffff"),
            ("%u", ["<i64: -1> : tile<i64>"], "18446744073709551615"),
            ("%i", ["<i32: [1, 2, 3, 4]> : tile<4xi32>"], "[1, 2, 3, 4]"),
            ("%lld", ["<i64: [[1, 2], [3, 4]]> : tile<2x2xi64>"], "[[1, 2], [3, 4]]"),
            ("%g", ["<bf16: [0.5, -2.0]> : tile<2xbf16>"], "[0.5, -2]"),
        ],
    )
    def test_values(self, capsys: Any, text: str, values: list[str], expected: str) -> None:
        made = "\n".join(f"%v{i} = constant {value}" for i, value in enumerate(values))
        names = "".join(f", %v{i}" for i in range(len(values)))
        types = ", ".join(value.rpartition(" : ")[2] for value in values)
        body = f'{made}\n%t = print_tko "{text}"{names}{" : " if types else ""}{types} -> token'
        run("", body)
        assert capsys.readouterr().out == expected

    def test_what_does_not_fit(self) -> None:
        body = '%v = constant <i32: 1> : tile<i32>\n%t = print_tko "%f", %v : tile<i32> -> token'
        message, _ = failure("", body)
        assert message == "'%f' cannot show a value of type i32"


class TestLaunch:
    def test_the_block(self) -> None:
        run("", "", block=(1, 1, 1))
        message, _ = failure("", "", block=(32, 1, 1))
        assert message == (
            "a tile block is launched as one, so the block must be (1, 1, 1), not (32, 1, 1)"
        )

    @pytest.mark.parametrize(
        ("parameter", "value", "problem"),
        [
            ("tile<i32>", 1.5, "argument 'a' (!cuda_tile.tile<i32>): expected an integer"),
            ("tile<i8>", 200, "expected an integer from -128 to 127, given 200"),
            ("tile<f32>", None, "expected a number, given None"),
            ("tile<ptr<f32>>", 3.0, "expected a numpy array or an object with __dlpack__"),
            ("tile<ptr<f32>>", np.zeros(3), "expected elements of type float32, given float64"),
            ("tile<ptr<f32>>", [np.zeros(3)], "a list is the argument of a group"),
            ("tile<ptr<f4E2M1FN>>", np.zeros(3, np.float32), "expected elements of type int8"),
        ],
    )
    def test_arguments_that_do_not_fit(self, parameter: str, value: Any, problem: str) -> None:
        with pytest.raises(ArgumentError, match=re.escape(problem)):
            run(f"%a: {parameter}", "", value)

    def test_an_array_that_is_only_read_may_be_read_only(self) -> None:
        a = np.zeros(4, np.float32)
        a.flags.writeable = False
        load = "%x, %t = load_ptr_tko weak %a : tile<ptr<f32>> -> tile<f32>, token"
        run("%a: tile<ptr<f32>>", load, a)
        store = "\n%u = store_ptr_tko weak %a, %x : tile<ptr<f32>>, tile<f32> -> token"
        with pytest.raises(ArgumentError, match="the given array is read-only"):
            run("%a: tile<ptr<f32>>", load + store, a)

    def test_scalars_of_all_types(self) -> None:
        for type, value in {"i1": True, "i64": -(2**63), "f64": 0.1, "bf16": 1.5}.items():
            o = blank(1, dtype=xtile_dtype(type))
            body = f"%t = store_ptr_tko weak %o, %a : tile<ptr<{type}>>, tile<{type}> -> token"
            run(f"%a: tile<{type}>, %o: tile<ptr<{type}>>", body, value, o)
            assert o[0] == value

    def test_arrays_with_strides(self) -> None:
        a, o = np.arange(12, dtype=np.int32).reshape(3, 4).T[1:], blank(4, dtype=np.int32)
        body = f"""
        {pointers("p", "a", 4, "i32")}
        {pointers("q", "o", 4, "i32")}
        %x, %t = load_ptr_tko weak %p : tile<4xptr<i32>> -> tile<4xi32>, token
        %u = store_ptr_tko weak %q, %x : tile<4xptr<i32>>, tile<4xi32> -> token
        """
        run("%a: tile<ptr<i32>>, %o: tile<ptr<i32>>", body, a, o)
        assert o.tolist() == [1, 2, 3, 4]

    def test_several_entries(self) -> None:
        text = module("", "").replace("entry @k", "entry @a() {\nreturn\n}\nentry @k")
        xtile.run(text, [], entry="a")
        with pytest.raises(ArgumentError, match="choose entry from 'a', 'k'"):
            xtile.run(text, [])


def xtile_dtype(type: str) -> Any:
    from tests.semantics.cuda_tile.tiles import NUMBERS

    return NUMBERS[type].dtype
