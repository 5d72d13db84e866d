"""Random loops and branches, which are left in all ways, do the same when they are raised."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.seeds import fresh_random, share_of
from tests.semantics.cuda_tile.entries import module
from tests.translate.cuda_tile_to_core.raised import WAYS, body_of, raised, results

KERNELS = 2
SEEN = 400
"""How many numbers a kernel may write down."""


class _Writer:
    """Writes a kernel that notes a number at each step, and decides by what it has noted."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        self.lines: list[str] = []
        self.fors = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def note(self, value: str) -> str:
        """Adds a number to those that are written down; returns how many there are."""
        place, at, new, mixed = (self.name() for _ in range(4))
        pointer = "tile<ptr<i32>>"
        loaded = f"{place}, {self.name()}"
        self.line(f"{loaded} = load_ptr_tko weak %n : {pointer} -> tile<i32>, token")
        self.line(f"{at} = offset %o, {place} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>")
        self.line(f"{mixed} = addi {value}, {place} : tile<i32>")
        store = "store_ptr_tko weak"
        self.line(f"{self.name()} = {store} {at}, {mixed} : {pointer}, tile<i32> -> token")
        self.line(f"{new} = addi {place}, %c1 : tile<i32>")
        self.line(f"{self.name()} = {store} %n, {new} : {pointer}, tile<i32> -> token")
        return new

    def condition(self) -> str:
        """Something that is now true and now false."""
        noted = self.note(f"%c{self.random.randrange(4)}")
        bits, masked, condition = (self.name() for _ in range(3))
        shift = self.random.randrange(3)
        self.line(f"{bits} = shri {noted}, %c{shift} unsigned : tile<i32>")
        self.line(f"{masked} = andi {bits}, %c{self.random.choice([1, 3])} : tile<i32>")
        self.line(f"{condition} = cmpi equal {masked}, %c0, signed : tile<i32> -> tile<i1>")
        return condition

    def block(self, depth: int, value: str, loop: str | None) -> str:
        """Writes operations in which a number is carried on; returns it."""
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.choice(["note", "if", "if", "for", "loop"] if depth else ["note"])
            made = self.name()
            if kind == "note":
                self.line(f"{made} = addi {self.note(value)}, {value} : tile<i32>")
            elif kind == "if":
                self.branch(depth, value, loop, made)
            else:
                self.loop(kind, depth, value, made)
            value = made
        return value

    def branch(self, depth: int, value: str, loop: str | None, made: str) -> None:
        self.line(f"{made} = if {self.condition()} -> (tile<i32>) {{")
        ends = self.end(depth, value, loop)
        self.line("} else {")
        # One of them comes to its end, so that what follows may be reached.
        self.end(depth, value, loop if ends else None, may_return=ends)
        self.line("}")

    def end(self, depth: int, value: str, loop: str | None, *, may_return: bool = True) -> bool:
        """Writes a branch; returns whether it comes to its end."""
        value = self.block(depth - 1, value, loop)
        exits = [] if loop is None else ["continue", "continue"]
        exits += ["break", "break"] if loop == "loop" else []
        exits += ["return"] if may_return and not self.fors else []
        kind = self.random.choice([*exits, "yield", "yield", "yield"])
        self.line(kind if kind == "return" else f"{kind} {value} : tile<i32>")
        return kind == "yield"

    def loop(self, kind: str, depth: int, value: str, made: str) -> None:
        carried = self.name()
        if kind == "for":
            head = f"for {self.name()} in (%c0 to %c3, step %c1) : tile<i32>"
            self.line(f"{made} = {head} iter_values({carried} = {value}) -> (tile<i32>) {{")
        else:
            self.line(f"{made} = loop iter_values({carried} = {value}) : tile<i32> -> tile<i32> {{")
            # No loop runs for ever.
            noted, is_late = self.note(carried), self.name()
            late = f"cmpi greater_than {noted}, %limit, signed : tile<i32> -> tile<i1>"
            self.line(f"{is_late} = {late}")
            self.line(f"if {is_late} {{")
            self.line(f"break {noted} : tile<i32>")
            self.line("}")
        self.fors += kind == "for"
        last = self.block(depth - 1, carried, kind)
        self.fors -= kind == "for"
        end = self.random.choice(["continue", "break"]) if kind == "loop" else "continue"
        self.line(f"{end} {last} : tile<i32>")
        self.line("}")


def _kernel(random: Random) -> str:
    writer = _Writer(random)
    for number in range(4):
        writer.line(f"%c{number} = constant <i32: {number}> : tile<i32>")
    writer.line("%limit = constant <i32: 60> : tile<i32>")
    writer.note(writer.block(3, "%c2", None))
    return module("%o: tile<ptr<i32>>, %n: tile<ptr<i32>>", "\n".join(writer.lines))


@pytest.mark.parametrize("way", WAYS)
def test_random_control_flow(way: str) -> None:
    random = fresh_random()
    for _ in range(share_of(KERNELS)):
        text = _kernel(random)
        arguments = [np.full(SEEN * 100, -1, np.int32), np.zeros(1, np.int32)]
        wanted, found = results(text, arguments), results(WAYS[way](text), arguments)
        for expected, actual in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(actual, expected, err_msg=text)


def test_tokens_and_what_carries_them_are_gone() -> None:
    text = module(
        "%o: tile<ptr<i32>>",
        """
        %c0 = constant <i32: 0> : tile<i32>
        %c1 = constant <i32: 1> : tile<i32>
        %t = make_token : token
        %r:2 = for %i in (%c0 to %c1, step %c1) : tile<i32>
            iter_values(%before = %t, %x = %c0) -> (token, tile<i32>) {
          %y, %loaded = load_ptr_tko weak %o token=%before : tile<ptr<i32>> -> tile<i32>, token
          %both = join_tokens %before, %loaded : token
          continue %both, %y : token, tile<i32>
        }
        %u = store_ptr_tko weak %o, %r#1 token=%r#0 : tile<ptr<i32>>, tile<i32> -> token
        """,
    )
    assert body_of(raised(text)) == [
        "%c0 = arith.constant 0 : i32",
        "%c1 = arith.constant 1 : i32",
        "%r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %c0) -> (i32)  : i32 {",
        "%y = core.gather_load %o : !core.ptr<i32> -> i32",
        "scf.yield %y : i32",
        "}",
        "core.scatter_store %r, %o : i32, !core.ptr<i32>",
    ]
