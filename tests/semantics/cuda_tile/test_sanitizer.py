"""What the sanitizer finds: accesses that no token orders, assumptions, and what nobody wrote."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.semantics.cuda_tile.entries import blank, constants, module, pointers, reports, run
from xtile.api import parse
from xtile.arguments.arrays import Output
from xtile.semantics.arguments import MemrefArgument
from xtile.semantics.sanitizer import Kind, sanitize

A = "%a: tile<ptr<i32>>"


def array(count: int = 8) -> Any:
    return np.zeros(count, np.int32)


def load(name: str, pointer: str = "a", *, token: str = "", how: str = "weak") -> str:
    given = f" token=%{token}" if token else ""
    return (
        f"%{name}, %{name}_t = load_ptr_tko {how} %{pointer}{given} : tile<ptr<i32>> -> "
        "tile<i32>, token"
    )


def store(name: str, value: str, pointer: str = "a", *, token: str = "", how: str = "weak") -> str:
    given = f" token=%{token}" if token else ""
    return (
        f"%{name}_t = store_ptr_tko {how} %{pointer}, %{value}{given} : tile<ptr<i32>>, "
        "tile<i32> -> token"
    )


def body(*lines: str) -> str:
    return "\n".join([constants([0, 1, 2]), *lines])


class TestWithinATileBlock:
    def test_a_load_after_a_store(self) -> None:
        later = load("x")
        ((message, text),) = reports(A, body(store("s", "c1"), later), array())
        assert message == (
            "element [0] of memory %a is accessed (read) and by store_ptr_tko; no token orders the "
            "two; by work-group (0,0,0)"
        )
        assert text == later

    def test_a_store_after_a_load(self) -> None:
        later = store("s", "c1")
        ((message, text),) = reports(A, body(load("x"), later), array())
        assert "is accessed (write) and by load_ptr_tko; no token orders the two" in message
        assert text == later

    def test_the_other_access_is_named(self) -> None:
        text = module(A, body(store("s", "c1"), load("x")))
        entry = next(op for op in parse(text).walk() if op.name == "cuda_tile.entry")
        (report,) = sanitize(entry, [MemrefArgument(array())], (1, 1, 1))
        assert report.kind is Kind.CONFLICT
        assert report.other is not None
        assert report.other.name == "cuda_tile.store_ptr_tko"
        assert report.group == (0, 0, 0)

    def test_two_stores(self) -> None:
        ((_, text),) = reports(A, body(store("s", "c1"), store("t", "c2")), array())
        assert text == store("t", "c2")

    def test_two_stores_of_one_value(self) -> None:
        assert not reports(A, body(store("s", "c1"), store("t", "c1")), array())

    def test_two_loads(self) -> None:
        assert not reports(A, body(load("x"), load("y")), array())

    def test_a_token_orders(self) -> None:
        lines = body(load("x"), store("s", "c1", token="x_t"), load("y", token="s_t"))
        assert not reports(A, lines, array())

    def test_a_chain_of_tokens_orders(self) -> None:
        join = "%j = join_tokens %m, %x_t : token"
        lines = [store("s", "c1"), "%m = make_token : token", load("x", "b", token="s_t"), join]
        offset = "%b = offset %a, %c1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>"
        printed = '%p = print_tko "" token=%j -> token'
        assert not reports(A, body(offset, *lines, printed, load("y", token="p")), array())

    def test_a_token_of_something_else_does_not(self) -> None:
        offset = "%b = offset %a, %c1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>"
        lines = body(offset, load("x", "b"), store("s", "c1"), load("y", token="x_t"))
        ((_, text),) = reports(A, lines, array())
        assert text == load("y", token="x_t")

    def test_each_of_several_reads_is_looked_at(self) -> None:
        later = store("s", "c1", token="y_t")
        ((message, text),) = reports(A, body(load("x"), load("y"), later), array())
        assert "load_ptr_tko" in message
        assert text == later
        both = body(
            load("x"), load("y"), "%j = join_tokens %x_t, %y_t : token", store("s", "c1", token="j")
        )
        assert not reports(A, both, array())

    def test_tokens_go_through_loops_and_conditions(self) -> None:
        def loop(token: str) -> str:
            return f"""
            %m = make_token : token
            %e = for %i in (%c0 to %c2, step %c1) : tile<i32> iter_values(%t = %m) -> (token) {{
              {load("x", token="t")}
              %n = addi %x, %c1 : tile<i32>
              {store("s", "n", token="x_t")}
              %true = constant <i1: true> : tile<i1>
              %u = if %true -> (token) {{
                yield %{token} : token
              }} else {{
                yield %m : token
              }}
              continue %u : token
            }}
            """

        a = array()
        assert not reports(A, body(loop("s_t")), a)
        assert a[0] == 2
        found = reports(A, body(loop("m")), array())
        assert [text for _, text in found] == [load("x", token="t"), store("s", "n", token="x_t")]

    def test_one_instruction_that_is_executed_twice(self) -> None:
        line = store("s", "i")
        loop = f"for %i in (%c1 to %c2, step %c1) : tile<i32> {{\n{line}\n}}"
        assert not reports(A, body(loop), array())
        ((message, text),) = reports(A, body(loop.replace("%c1 to", "%c0 to")), array() - 1)
        assert "twice by one instruction or two executions of it; no token orders" in message
        assert text == line

    def test_one_instruction_with_two_values_for_a_place(self) -> None:
        line = "%t = store_ptr_tko weak %p, %x : tile<2xptr<i32>>, tile<2xi32> -> token"
        made = """
        %p1 = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
        %p = broadcast %p1 : tile<1xptr<i32>> -> tile<2xptr<i32>>
        %x = constant <i32: VALUES> : tile<2xi32>
        """
        ((_, text),) = reports(A, made.replace("VALUES", "[1, 2]") + line, array())
        assert text == line
        assert not reports(A, made.replace("VALUES", "[1, 1]") + line, array())

    def test_views(self) -> None:
        view = "partition_view<tile=(4), tensor_view<8xi32, strides=[1]>>"
        made = f"""
        %tensor = make_tensor_view %a, shape = [8], strides = [1]
          : tensor_view<8xi32, strides=[1]>
        %view = make_partition_view %tensor : {view}
        %v = constant <i32: 5> : tile<4xi32>
        %s = store_view_tko weak %v, %view[%c0] : tile<4xi32>, {view}, tile<i32> -> token
        """

        def loaded(index: str) -> str:
            access = f"%x, %t = load_view_tko weak %view[{index}]"
            return f"{access} : {view}, tile<i32> -> tile<4xi32>, token"

        assert not reports(A, body(made, loaded("%c1")), array())
        ((message, text),) = reports(A, body(made, loaded("%c0")), array())
        assert message.startswith("element [0] of memory %a is accessed (read) and by store_view")
        assert text == loaded("%c0")

    def test_atomic_updates_may_come_in_any_order_among_themselves(self) -> None:
        update = "atomic_rmw_tko relaxed tl_blk %a, add, %c1"
        types = ": tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
        first, second = (f"%{name}, %{name}_t = {update} {types}" for name in "xy")
        assert not reports(A, body(first, second), array())
        assert not reports(A, body(first, load("z", how="relaxed tl_blk")), array())
        ((message, text),) = reports(A, body(first, load("z")), array())
        assert "by atomic_rmw_tko; no token orders the two" in message
        assert text == load("z")

    def test_memory_of_the_tile_block(self) -> None:
        alloca = "%m = alloca num_elem = 1, alignment = 4 : tile<ptr<i32>>"
        ((message, text),) = reports("", body(alloca, load("x", "m")))
        assert message.startswith("element [0] of memory %m is read, but nothing was written to it")
        assert text == load("x", "m")
        lines = (alloca, store("s", "c1", "m"), load("x", "m", token="s_t"))
        assert not reports("", body(*lines))
        written = "\n".join(lines)
        loop = f"for %i in (%c0 to %c2, step %c1) : tile<i32> {{\n{written}\n}}"
        assert not reports("", body(loop), grid=2)


NEXT = """
%bx, %by, %bz = get_tile_block_id : tile<i32>
%p = offset %a, %bx : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
"""


class TestBetweenTileBlocks:
    def test_stores_to_one_place(self) -> None:
        line = store("s", "bx")
        ((message, text),) = reports(A, body(NEXT, line), array(), grid=2)
        assert message == (
            "element [0] of memory %a is accessed (write) while another tile block accesses it "
            "with store_ptr_tko; nothing orders them; by work-group (1,0,0)"
        )
        assert text == line

    def test_stores_to_different_places(self) -> None:
        assert not reports(A, body(NEXT, store("s", "bx", "p")), array(), grid=4)

    def test_a_load_of_what_another_block_stores(self) -> None:
        lines = body(NEXT, load("x"), store("s", "c1", "p", token="x_t"))
        ((message, _),) = reports(A, lines, array(), grid=2)
        assert "while another tile block accesses it with store_ptr_tko" in message

    @pytest.mark.parametrize(("scope", "count"), [("device", 0), ("sys", 0), ("tl_blk", 1)])
    def test_the_scope_must_have_both(self, scope: str, count: int) -> None:
        update = f"""
        %x, %t = atomic_rmw_tko relaxed {scope} %a, add, %c1
          : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        """
        assert len(reports(A, body(update), array(), grid=3)) == count

    @staticmethod
    def _last_block_reads(semantics: str, *, token: str = "s_t") -> list[tuple[str, str]]:
        """Each block stores a number and counts itself; the last one reads all numbers."""
        text = f"""
        {constants([0, 1, 2, 3])}{NEXT}
        %one = offset %p, %c1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %v = addi %bx, %c1 : tile<i32>
        %m = make_token : token
        {store("s", "v", "one")}
        %n, %t = atomic_rmw_tko {semantics} device %a, add, %c1 token=%{token}
          : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        %last = cmpi equal %n, %c3, signed : tile<i32> -> tile<i1>
        if %last {{
          %first = offset %a, %c1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
          {pointers("q", "first", 4, "i32")}
          %x, %u = load_ptr_tko weak %q token=%t : tile<4xptr<i32>> -> tile<4xi32>, token
        }}
        """
        return reports(A, text, array(), grid=4)

    def test_release_and_acquire_order(self) -> None:
        assert not self._last_block_reads("acq_rel")

    @pytest.mark.parametrize("semantics", ["relaxed", "acquire", "release"])
    def test_without_one_of_them_nothing_is_ordered(self, semantics: str) -> None:
        ((message, text),) = self._last_block_reads(semantics)
        assert "while another tile block accesses it with store_ptr_tko" in message
        assert text.startswith("%x, %u = load_ptr_tko")

    def test_a_release_must_come_after_what_it_releases(self) -> None:
        ((_, text),) = self._last_block_reads("acq_rel", token="m")
        assert text.startswith("%x, %u = load_ptr_tko")

    def test_a_flag_that_is_stored_and_loaded(self) -> None:
        def flag(release: str, acquire: str) -> list[tuple[str, str]]:
            text = f"""
            {body(NEXT)}
            %data = offset %a, %c1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
            %first = cmpi equal %bx, %c0, signed : tile<i32> -> tile<i1>
            if %first {{
              {store("s", "c2", "data")}
              {store("f", "c1", token="s_t", how=release)}
            }} else {{
              {load("g", how=acquire)}
              {load("d", "data", token="g_t")}
            }}
            """
            return reports(A, text, array(), grid=2)

        assert not flag("release device", "acquire device")
        assert len(flag("relaxed device", "acquire device")) == 1
        assert len(flag("release device", "relaxed device")) == 1
        assert len(flag("weak", "acquire device")) == 2

    @pytest.mark.parametrize("mode", ["xchg", "or"])
    @pytest.mark.parametrize("is_taken", [True, False])
    def test_updates_hand_on_what_was_released(self, mode: str, is_taken: bool) -> None:
        """Also one of which nobody takes what was there."""
        text = f"""
        {body(NEXT)}
        %data = offset %a, %c1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %first = cmpi equal %bx, %c0, signed : tile<i32> -> tile<i1>
        %second = cmpi equal %bx, %c1, signed : tile<i32> -> tile<i1>
        if %first {{
          {store("s", "c2", "data")}
          {store("f", "c1", token="s_t", how="release device")}
        }}
        if %second {{
          %n, %t = atomic_rmw_tko relaxed device %a, {mode}, %c1
            : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
          {"%z = addi %n, %c1 : tile<i32>" if is_taken else ""}
        }}
        %third = cmpi equal %bx, %c2, signed : tile<i32> -> tile<i1>
        if %third {{
          {load("g", how="acquire device")}
          {load("d", "data", token="g_t")}
        }}
        """
        assert not reports(A, text, array(), grid=3)
        (report,) = reports(A, text.replace("release device", "relaxed device"), array(), grid=3)
        assert "while another tile block accesses it with store_ptr_tko" in report[0]


class TestContent:
    def test_outputs_that_are_read(self) -> None:
        for argument in (Output(array()), blank(4)):
            type = "f32" if isinstance(argument, np.ndarray) else "i32"
            line = load("x").replace("i32", type)
            ((message, text),) = reports(A.replace("i32", type), line, argument)
            assert "is read, but nothing was written to it" in message
            assert text == line

    def test_what_a_mask_leaves_out_is_not_read(self) -> None:
        text = f"""
        {pointers("p", "a", 4, "i32")}
        %m = constant <i1: [true, true, false, false]> : tile<4xi1>
        %x = constant <i32: 1> : tile<4xi32>
        %s = store_ptr_tko weak %p, %x, %m : tile<4xptr<i32>>, tile<4xi32>, tile<4xi1> -> token
        %y, %t = load_ptr_tko weak %p, %m token=%s
          : tile<4xptr<i32>>, tile<4xi1> -> tile<4xi32>, token
        """
        assert not reports(A, text, Output(array()))

    def test_memory_that_is_seen_as_another_type(self) -> None:
        cast = "%f = ptr_to_ptr %a : tile<ptr<i32>> -> tile<ptr<TYPE>>"
        later = "%x, %t = load_ptr_tko weak %f token=%s_t : tile<ptr<TYPE>> -> tile<TYPE>, token"
        for type in ("f32", "i8"):
            lines = body(cast, store("s", "c1"), later).replace("TYPE", type)
            assert not reports(A, lines, Output(array()))
            unordered = lines.replace(" token=%s_t", "")
            ((message, _),) = reports(A, unordered, Output(array()))
            assert "by store_ptr_tko; no token orders the two" in message
        # Of an i64 only the first half is written.
        lines = body(cast, store("s", "c1"), later).replace("TYPE", "i64")
        ((message, _),) = reports(A, lines, Output(array()))
        assert "is read, but nothing was written to it" in message

    @pytest.mark.parametrize("position", range(4))
    @pytest.mark.parametrize("is_first", [True, False])
    def test_a_word_that_keeps_some_of_its_elements(self, position: int, is_first: bool) -> None:
        """Atomic updates of small elements exchange whole words, and change one element of each."""
        exchange = """
        %w = ptr_to_ptr %a : tile<ptr<i8>> -> tile<ptr<i32>>
        %old = constant <i32: 0> : tile<i32>
        %new = constant <i32: 256> : tile<i32>
        %x, %x_t = atomic_cas_tko relaxed device %w, %old, %new
          : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
        """
        access = f"""
        %i = constant <i32: {position}> : tile<i32>
        %p = offset %a, %i : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
        %y, %y_t = load_ptr_tko weak %p : tile<ptr<i8>> -> tile<i8>, token
        """
        lines = access + exchange if is_first else exchange + access
        parameters = "%a: tile<ptr<i8>>"
        found = [message for message, _ in reports(parameters, lines, np.zeros(8, np.int8))]
        assert len(found) == (position == 1)
        assert all("element [1] of memory %a is accessed" in message for message in found)
        # A store of the element does conflict, as the word may be exchanged before it.
        store = """
        %v = constant <i8: 5> : tile<i8>
        %z_t = store_ptr_tko weak %p, %v token=%y_t : tile<ptr<i8>>, tile<i8> -> token
        """
        lines = access + (store + exchange if is_first else exchange + store)
        found = [" ".join(each) for each in reports(parameters, lines, np.zeros(8, np.int8))]
        assert any(
            f"element [{position}] of memory %a" in text
            and ("store_ptr_tko" in text and "atomic_cas_tko" in text)
            for text in found
        )

    def test_what_lies_outside(self) -> None:
        offset = "%b = offset %a, %c2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>"
        ((message, text),) = reports(A, body(offset, load("x", "b")), array(2))
        assert message.startswith("element [2] of memory %a is out of bounds: mode 0 has size 2")
        assert text == load("x", "b")


def assumed(predicate: str, values: str, type: str = "4xi32") -> list[str]:
    """What is found where constants are assumed to be something."""
    element = type.rpartition("x")[2]
    text = f"""
    %v = constant <{element}: {values}> : tile<{type}>
    %a = assume {predicate}, %v : tile<{type}>
    """
    return [message for message, _ in reports("", text)]


class TestAssumptions:
    @pytest.mark.parametrize(
        ("predicate", "holds", "broken", "position"),
        [
            ("bounded<0, ?>", "[0, 1, 2, 3]", "[0, -1, 2, 3]", 1),
            ("bounded<?, 3>", "[0, 1, -2, 3]", "[0, 1, 2, 4]", 3),
            ("bounded<-1, 1>", "[0, -1, 1, 1]", "[2, -1, 1, 1]", 0),
            ("div_by<4>", "[0, -4, 8, 12]", "[0, 4, 6, 12]", 2),
            ("div_by<4, every 2 along 0>", "[8, 9, 4, 5]", "[8, 9, 4, 6]", 3),
            ("div_by<4, every 2 along 0>", "[8, 9, -4, -3]", "[8, 9, 5, 6]", 2),
            ("same_elements<[2]>", "[7, 7, 3, 3]", "[7, 8, 3, 3]", 1),
            ("same_elements<[1]>", "[7, 8, 3, 4]", "", 0),
        ],
    )
    def test_tiles(self, predicate: str, holds: str, broken: str, position: int) -> None:
        assert not assumed(predicate, holds)
        if broken:
            (message,) = assumed(predicate, broken)
            what = f"{predicate} is assumed, but does not hold, in element [{position}]"
            assert message == f"{what}; in work-group (0,0,0)"

    def test_matrices(self) -> None:
        rows = "[[4, 8], [5, 9]]"
        assert not assumed("div_by<4, every 2 along 0>", rows, "2x2xi32")
        assert assumed("div_by<4, every 2 along 1>", rows, "2x2xi32")
        assert not assumed("same_elements<[2, 1]>", "[[1, 2], [1, 2]]", "2x2xi32")
        assert assumed("same_elements<[2, 2]>", "[[1, 2], [1, 2]]", "2x2xi32")

    def test_pointers_and_views(self) -> None:
        text = f"""
        {constants([0, 1])}
        {pointers("p", "a", 4, "i32")}
        %q = assume div_by<16, every 4 along 0>, %p : tile<4xptr<i32>>
        %b = offset %a, %c1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %v = make_tensor_view %b, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
        %w = assume div_by<4>, %v : tensor_view<4xi32, strides=[1]>
        """
        assert not reports(A, text, array())
        ((message, _),) = reports(A, text.replace("div_by<4>", "div_by<8>"), array())
        assert message.startswith("div_by<8> is assumed, but does not hold, in the value")
        assert len(reports(A, text.replace("every 4", "every 2"), array())) == 1

    def test_without_the_sanitizer_nothing_is_checked(self) -> None:
        run("", "%v = constant <i32: -1> : tile<i32>\n%a = assume bounded<0, ?>, %v : tile<i32>")
