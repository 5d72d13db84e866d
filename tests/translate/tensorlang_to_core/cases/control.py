"""Structured control flow."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

CASES = [
    Case(
        "for",
        """
%z = constant 0 : index
%f = constant 1.0 : f32
%r = for %i=%z,%n,%s init(%x=%f) -> (f32) {
    %y = add %x, %x : f32
    yield (%y)
} attributes{unroll=true}
""",
        """
%z = arith.constant 0 : index
%f = arith.constant 1.000000e+00 : f32
%r = scf.for %i = %z to %n step %s iter_args(%x = %f) -> (f32) {
  %y = arith.addf %x, %x : f32
  scf.yield %y : f32
} {core.unroll = true}
""",
        parameters="%n: index, %s: index",
    ),
    Case(
        "for that cannot wrap around",
        """
%z = constant 0 : i32
for %i=%z,%n {
    %a = add %i, %i : i32
}
""",
        """
%z = arith.constant 0 : i32
%0 = arith.constant 1 : i32
scf.for %i = %z to %n step %0  : i32 {
  %a = arith.addi %i, %i : i32
}
""",
        parameters="%n: i32",
    ),
    Case(
        "for with known bounds",
        """
%z = constant 0 : i8
%n = constant 100 : i8
%s = constant 28 : i8
for %i=%z,%n,%s {
}
""",
        """
%z = arith.constant 0 : i8
%n = arith.constant 100 : i8
%s = arith.constant 28 : i8
scf.for %i = %z to %n step %s  : i8 {
}
""",
    ),
    Case(
        "for that may wrap around",
        """
%z = constant 0 : i8
for %i=%z,%n,%s {
    %a = add %i, %i : i8
}
""",
        """
%z = arith.constant 0 : i8
%c0 = arith.constant 0 : index
%0 = arith.index_cast %n : i8 to index
%1 = arith.index_cast %s : i8 to index
scf.for %i = %c0 to %0 step %1 {
  %i_0 = arith.index_cast %i : index to i8
  %a = arith.addi %i_0, %i_0 : i8
}
""",
        parameters="%n: i8, %s: i8",
    ),
    Case(
        "if",
        """
%r = if %c -> (i32) {
    yield (%a)
} else {
    yield (%b)
}
if %c {
    %s = add %a, %r : i32
}
""",
        """
%r = scf.if %c -> (i32) {
  scf.yield %a : i32
} else {
  scf.yield %b : i32
}
scf.if %c {
  %s = arith.addi %a, %r : i32
}
""",
        parameters="%c: bool, %a: i32, %b: i32",
    ),
]
