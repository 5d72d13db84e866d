"""Seeded mistakes of each kind are found at their place; correct kernels have no reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xtile.semantics.arguments import GroupArgument, MemrefArgument
from xtile.semantics.sanitizer import Kind, Report, sanitize

ATTRIBUTES = "attributes {subgroup_size=16, work_group_size=[32,2]}"
ID = """%lane = subgroup_local_id : i32
    %sg = subgroup_linear_id : i32
    %size = subgroup_size : i32
    %base = mul %sg, %size : i32
    %id32 = add %base, %lane : i32
    %id = cast %id32 : index"""


def in_parallel(body: str, parameters: str = "%a: memref<i32x64>", before: str = "") -> str:
    """A kernel whose four subgroups of 16 execute `body`; %id is 0 to 63."""
    return f"func @f({parameters}) {ATTRIBUTES} {{\n{before}\nparallel {{\n{ID}\n{body}\n}} }}"


@pytest.fixture
def check(function, argument) -> Callable[..., list[Report]]:
    def run(text: str, *arguments: Any, grid=(1, 1, 1)) -> list[Report]:
        return sanitize(function(text), [argument(a) for a in arguments], grid)

    return run


def line_of(report: Report) -> str:
    """The source line that a report marks."""
    diagnostic = report.diagnostic()
    assert diagnostic.source is not None
    assert diagnostic.span is not None
    return diagnostic.source.text[diagnostic.span.start : diagnostic.span.end]


def only(reports: list[Report], kind: Kind, marked: str) -> Report:
    """The single report, which is of a kind and marks an instruction."""
    assert [(r.kind, line_of(r)) for r in reports] == [(kind, marked)]
    return reports[0]


def zeros(*shape: int, dtype=np.int32) -> np.ndarray:
    return np.zeros(shape, dtype, order="F")


def blank(*shape: int, dtype=np.float32) -> MemrefArgument:
    strides = tuple(int(np.prod(shape[:mode])) for mode in range(len(shape)))
    memory = np.full(int(np.prod(shape)), np.nan, dtype)
    return MemrefArgument(memory, shape, strides, is_initialized=False)


def test_out_of_bounds_load(check) -> None:
    text = in_parallel(
        "%c3 = constant 3 : index\n%j = add %id, %c3 : index\n"
        "%z = constant 0 : index\n%x = load %v[%j,%z] : i32",
        "%a: memref<i32x?x2>",
        "%z0 = constant 0 : index %n = constant 64 : index\n"
        "%v = subview %a[0:%n,0:2] : memref<i32x?x2,strided<1,?>>",
    )
    # Index 64 of mode 0 is element [0,1]: the memory is there, but it is not meant.
    report = only(check(text, zeros(64, 2)), Kind.OUT_OF_BOUNDS, "load %v[%j,%z] : i32")
    assert report.work_item == 61
    assert report.index == (64, 0)
    assert report.group == (0, 0, 0)
    assert "element [64,0] of memory %a is out of bounds: mode 0 has size 64" in report.message
    assert "work-item 13 of subgroup 3 of work-group (0,0,0)" in report.message


def test_out_of_bounds_where_the_memory_ends(check) -> None:
    text = in_parallel("%c3 = constant 3 : index\n%j = add %id, %c3 : index\nstore %id32, %a[%j]")
    report = only(check(text, zeros(64)), Kind.OUT_OF_BOUNDS, "store %id32, %a[%j]")
    assert (report.work_item, report.index) == (61, (64,))


def test_out_of_bounds_coopmatrix(check) -> None:
    text = in_parallel(
        "%z = constant 0 : index\n"
        "%m = cooperative_matrix_load %v[%z,%z] : coopmatrix<f32x16x8,matrix_acc>\n",
        "%a: memref<f32x16x8>",
        "%z0 = constant 0 : index\n%v = subview %a[0:16,0:5] : memref<f32x16x5>",
    )
    marked = "cooperative_matrix_load %v[%z,%z] : coopmatrix<f32x16x8,matrix_acc>"
    report = only(check(text, zeros(16, 8, dtype=np.float32)), Kind.OUT_OF_BOUNDS, marked)
    assert report.index == (0, 5)
    assert report.work_item == 0


@pytest.mark.parametrize(("offset", "size"), [(60, 5), (-1, 3), (64, 1), (3, 0)])
def test_subview_out_of_bounds(offset, size, check) -> None:
    text = (
        "func @f(%a: memref<i32x64>, %o: index, %n: index) {\n"
        "%v = subview %a[%o:%n] : memref<i32x?>\n}"
    )
    marked = "subview %a[%o:%n] : memref<i32x?>"
    report = only(check(text, zeros(64), offset, size), Kind.OUT_OF_BOUNDS, marked)
    assert report.index == (offset,)
    assert check(text, zeros(64), 59, 5) == []


_PADDED = """func @f({parameters}%o: index, %n: index, %j: index) {{
{memory}
%v = subview %a[%o:%n,%j:1] : memref<f32x?x1,strided<1,8>{space}>
}}"""


@pytest.mark.parametrize(
    ("offset", "size", "column", "is_inside"),
    [(0, 8, 2, True), (5, 3, 0, True), (7, 1, 2, True), (6, 10, 1, True), (7, 2, 2, False),
     (0, 25, 0, False), (0, 1, 3, False)],
)  # fmt: skip
def test_subview_of_padding_of_local_memory(offset, size, column, is_inside, check) -> None:
    """All of an allocation belongs to the memref, wherever the slices begin."""
    memory = "%a = alloca : memref<f32x5x3,strided<1,8>,local>"
    text = _PADDED.format(parameters="", memory=memory, space=",local")
    reports = check(text, offset, size, column)
    if is_inside:
        assert reports == []
    else:
        marked = "subview %a[%o:%n,%j:1] : memref<f32x?x1,strided<1,8>,local>"
        assert only(reports, Kind.OUT_OF_BOUNDS, marked).index == (offset, column)


@pytest.mark.parametrize(
    ("offset", "size", "column", "elements", "is_inside"),
    [(0, 8, 1, 21, True), (7, 1, 2, 24, True), (7, 1, 2, 23, False), (1, 8, 0, 24, False),
     (0, 5, 3, 40, False)],
)  # fmt: skip
def test_subview_of_padding_of_an_argument(
    offset, size, column, elements, is_inside, check
) -> None:
    """The padding between columns belongs to the memref, what is behind the last one does not."""
    parameters = "%a: memref<f32x5x3,strided<1,8>>, "
    text = _PADDED.format(parameters=parameters, memory="", space="")
    memory = MemrefArgument(np.zeros(elements, np.float32), (5, 3), (1, 8))
    reports = check(text, memory, offset, size, column)
    if is_inside:
        assert reports == []
    else:
        marked = "subview %a[%o:%n,%j:1] : memref<f32x?x1,strided<1,8>>"
        assert only(reports, Kind.OUT_OF_BOUNDS, marked).index == (offset, column)


def test_local_memory_that_was_never_written(check) -> None:
    body = """
        %c32 = constant 32 : index
        %is = less_than %id, %c32 : bool
        if %is { store %id32, %t[%id] }
        barrier.local
        %x = load %t[%id] : i32
        store %x, %a[%id]"""
    before = "%t = alloca : memref<i32x64,local>"
    report = only(
        check(in_parallel(body, before=before), zeros(64)),
        Kind.UNINITIALIZED,
        "load %t[%id] : i32",
    )
    assert (report.work_item, report.index) == (32, (32,))
    assert "memory %t" in report.message


def test_output_that_was_never_written(check) -> None:
    text = (
        "func @f(%A: memref<f32x4x4>, %C: memref<f32x4x4>, %beta: f32) {"
        " %one = constant 1.0 : f32\ngemm %one, %A, %A, %beta, %C\n}"
    )
    a = zeros(4, 4, dtype=np.float32)
    report = only(
        check(text, a, blank(4, 4), 0.5), Kind.UNINITIALIZED, "gemm %one, %A, %A, %beta, %C"
    )
    assert report.index == (0, 0)
    assert check(text, a, blank(4, 4), 0.0) == []
    assert check(text, a, a.copy(), 0.5) == []


def test_access_after_lifetime_stop(check) -> None:
    text = (
        "func @f(%a: memref<f32x4>) { %t = alloca : memref<f32x4,local>"
        " %one = constant 1.0 : f32  %zero = constant 0.0 : f32"
        " axpby %one, %a, %zero, %t  lifetime_stop %t\naxpby %one, %t, %zero, %a\n}"
    )
    only(check(text, zeros(4, dtype=np.float32)), Kind.LIFETIME, "axpby %one, %t, %zero, %a")


NEIGHBOUR = """
    %one = constant 1 : i32
    %c64 = constant 64 : i32
    %n = add %id32, %one : i32
    %m = rem %n, %c64 : i32
    %j = cast %m : index
    store %id32, %t[%id]
    {barrier}
    %x = load %t[%j] : i32
    {barrier}
    store %x, %t[%id]"""


@pytest.mark.parametrize("space", ["local", "global"])
def test_conflict_without_a_barrier(space, check) -> None:
    """Each work-item reads what its neighbour wrote."""
    is_local = space == "local"
    before = "%t = alloca : memref<i32x64,local>" if is_local else ""
    parameters = "%a: memref<i32x64>" if is_local else "%t: memref<i32x64>"

    def with_barrier(barrier: str) -> str:
        return in_parallel(NEIGHBOUR.format(barrier=barrier), parameters, before)

    assert check(with_barrier(f"barrier.{space}"), zeros(64)) == []
    for barrier in ("", "barrier", "barrier.global" if is_local else "barrier.local"):
        found = check(with_barrier(barrier), zeros(64))
        assert [r.kind for r in found] == [Kind.CONFLICT, Kind.CONFLICT]
        load, store = found
        assert line_of(load) == "load %t[%j] : i32"
        assert load.index == (1,)
        assert load.work_item == 0
        assert load.other is not None
        assert "store" in load.other.name
        assert "the other access is here" in load.diagnostic().render()
        assert line_of(store) == "store %x, %t[%id]"


def test_conflict_in_one_instruction(check) -> None:
    text = in_parallel(
        "%four = constant 4 : index\n%j = rem %id, %four : index\nstore %id32, %a[%j]"
    )
    report = only(check(text, zeros(64)), Kind.CONFLICT, "store %id32, %a[%j]")
    assert report.index in [(0,), (1,), (2,), (3,)]
    # All write the same number.
    same = in_parallel("%z = constant 0 : index\n%k = constant 7 : i32\nstore %k, %a[%z]")
    assert check(same, zeros(64)) == []


def test_conflict_between_trips_of_a_foreach(check) -> None:
    text = """func @f(%a: memref<f32x8>, %b: memref<f32x8x8>) {
        %z = constant 0 : index  %n = constant 8 : index
        foreach (%i,%j)=(%z,%z),(%n,%n) {
            %x = load %b[%i,%j] : f32
            %y = load %a[%i] : f32
            %s = add %x, %y : f32
            store %s, %a[%i]
        }
    }"""
    found = check(text, zeros(8, dtype=np.float32), np.ones((8, 8), np.float32, order="F"))
    assert {r.kind for r in found} == {Kind.CONFLICT}
    assert "store %s, %a[%i]" in [line_of(r) for r in found]


def test_conflict_between_work_groups(check) -> None:
    text = "func @f(%a: memref<f32x4>) { %one = constant 1.0 : f32\naxpby{0} %one, %a, %one, %a\n}"
    found = check(text.replace("{0}", ""), np.ones(4, np.float32), grid=(2, 1, 1))
    assert {r.kind for r in found} == {Kind.CONFLICT}
    assert found[0].group == (1, 0, 0)
    assert found[0].work_item is None
    assert check(text.replace("{0}", ""), np.ones(4, np.float32)) == []


def test_atomics_do_not_conflict(check) -> None:
    update = "%z = constant 0 : index\n%o = atomic_add %id32, %a[%z] : i32\n"
    assert check(in_parallel(update), zeros(64), grid=(3, 1, 1)) == []
    found = check(in_parallel(update + "%x = load %a[%z] : i32"), zeros(64))
    only(found, Kind.CONFLICT, "load %a[%z] : i32")
    assert check(in_parallel(update + "barrier.global\n%x = load %a[%z] : i32"), zeros(64)) == []


def test_collective_instructions_are_separated(check) -> None:
    text = """func @f(%a: memref<f32x4x4>, %b: memref<f32x4x4>) {
        %t = alloca : memref<f32x4x4,local>
        %one = constant 1.0 : f32  %zero = constant 0.0 : f32
        gemm %one, %a, %a, %zero, %t
        gemm %one, %t, %a, %zero, %b
        %z = constant 0 : index  %n = constant 4 : index
        foreach (%i,%j)=(%z,%z),(%n,%n) { %x = load %b[%i,%j] : f32  store %x, %t[%j,%i] }
        axpby %one, %t, %zero, %b
        %y = load %b[%z,%z] : f32
        store %y, %a[%z,%z]
    }"""
    assert check(text, np.ones((4, 4), np.float32, order="F"), blank(4, 4)) == []


# The verifier knows what follows from subgroup_local_id; what comes from memory it does not know.
FROM_MEMORY = """%l = load %lanes[%id] : i32
    %s = load %subgroups[%id] : i32
    %i0 = cast %l : index"""
NUMBERS = "%lanes: memref<i32x64>, %subgroups: memref<i32x64>, %a: memref<f32x64x8>"


def unpredictable() -> list[np.ndarray]:
    """The arguments of a kernel with parameters NUMBERS."""
    item = np.arange(64, dtype=np.int32)
    return [item % 16, item // 16, np.ones((64, 8), np.float32, order="F")]


@pytest.mark.parametrize(
    "body",
    [
        "%k = constant 2 : i32\n%is = less_than %s, %k : bool\nif %is {\nbarrier.local\n}",
        "%k = constant 8 : i32\n%is = less_than %l, %k : bool\nif %is {\nbarrier.local\n}",
        "%k = constant 8 : i32\nfor %i=%s,%k {\nbarrier.local\n}",
    ],
)
def test_a_barrier_that_some_do_not_reach(body, check) -> None:
    text = in_parallel(f"{FROM_MEMORY}\n{body}", NUMBERS)
    report = only(check(text, *unpredictable()), Kind.BARRIER, "barrier.local")
    assert "of 64 work-items reach the barrier" in report.message
    assert report.work_item is not None


def test_a_barrier_under_a_uniform_condition(check) -> None:
    body = "%k = constant 2 : i32\n%is = less_than %k, %size : bool\nif %is {\nbarrier.local\n}"
    assert check(in_parallel(body), zeros(64)) == []


LOAD = ".both_checked {0}[{1},%z] : coopmatrix<f32x16x8,matrix_acc>"
NOT_UNIFORM = {
    "the first index": "%m = cooperative_matrix_load" + LOAD.format("%a", "%i0"),
    "the memref": "%v = subview %a[%i0:1,0:1] : memref<f32x1x1,strided<1,64>>\n"
    "%m = cooperative_matrix_load" + LOAD.format("%v", "%z"),
    "the number": "%f = cast %l : f32\n"
    "%m = cooperative_matrix_construct %f : coopmatrix<f32x16x8,matrix_acc>",
    "the index": "%x = subgroup_broadcast %l, %l : i32",
    "all work-items of a subgroup must execute": "%three = constant 3 : i32\n"
    "%is = less_than %l, %three : bool\nif %is {\n%x = subgroup_reduce_add %l : i32 }",
}


@pytest.mark.parametrize("what", NOT_UNIFORM)
def test_what_must_be_uniform(what, check) -> None:
    body = NOT_UNIFORM[what]
    text = in_parallel(f"{FROM_MEMORY}\n%z = constant 0 : index\n{body}", NUMBERS)
    marked = body.split("\n")[-1].split("= ", 1)[1].removesuffix(" }")
    report = only(check(text, *unpredictable()), Kind.NOT_UNIFORM, marked)
    assert what in report.message
    assert report.work_item is not None


MATRIX = "coopmatrix<f32x16x8,matrix_acc>"
TOGETHER = (
    "all work-items of a subgroup must execute the instruction together, but work-item 0 of "
    "subgroup 0 of work-group (0,0,0) does not"
)
WITH_MATRICES = {
    f"if %c -> ({MATRIX}) {{ yield (%m) }} else {{ yield (%n) }}": (
        "the condition must be the same in a subgroup, but is True in work-item 1 of subgroup 0 "
        "of work-group (0,0,0) and False in another work-item"
    ),
    f"for %k=%z32,%l init(%p=%m) -> ({MATRIX}) {{ yield (%n) }}": (
        "the number of iterations must be the same in a subgroup, but is 1 in work-item 1 of "
        "subgroup 0 of work-group (0,0,0) and 0 in another work-item"
    ),
    f"add %m, %n : {MATRIX}": TOGETHER,
    f"neg %m : {MATRIX}": TOGETHER,
    "cast %m : coopmatrix<f16x16x8,matrix_acc>": TOGETHER,
    f"constant 3.0 : {MATRIX}": TOGETHER,
    f"cooperative_matrix_construct %one : {MATRIX}": TOGETHER,
    f"if %known -> ({MATRIX}) {{ yield (%m) }} else {{ yield (%n) }}": TOGETHER,
}


@pytest.mark.parametrize("instruction", WITH_MATRICES)
def test_matrices_are_those_of_whole_subgroups(instruction, check) -> None:
    is_under_condition = WITH_MATRICES[instruction] == TOGETHER
    body = f"if %c {{\n%r = {instruction}\n}}" if is_under_condition else f"%r = {instruction}"
    text = in_parallel(
        f"""%l = load %numbers[%id] : i32
        %z32 = constant 0 : i32  %one = constant 1.0 : f32
        %c = not_equal %l, %z32 : bool
        %known = equal %z32, %z32 : bool
        %m = constant 1.0 : {MATRIX}
        %n = constant 2.0 : {MATRIX}
        {body}""",
        "%numbers: memref<i32x64>",
    )
    item = np.arange(64, dtype=np.int32)
    report = only(check(text, item % 16), Kind.NOT_UNIFORM, instruction.split(" {")[0])
    assert report.message == WITH_MATRICES[instruction]
    assert report.work_item == int(not is_under_condition)
    # Subgroups may differ.
    assert check(text, item // 16) == []


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("mul %n, %n : index", 2**40),
        ("add %n, %n : index", 2**62),
        ("sub %k, %n : index", -(2**63) + 5),
        ("cast %n : i32", 2**31),
        ("shl %n, %k : index", 2**60),
        ("neg %n : index", -(2**63)),
    ],
)
def test_index_overflow(expression, value, check) -> None:
    text = f"func @f(%n: index) {{ %k = constant 7 : index\n%r = {expression}\n}}"
    report = only(check(text, value), Kind.INDEX_OVERFLOW, expression)
    assert "does not fit the type" in report.message
    assert report.work_item == 0
    assert check(text, 5) == []


def test_index_overflow_in_one_work_item(check) -> None:
    body = "%k = constant 4611686018427387904 : index\n%c63 = constant 1 : index\n"
    body += "%q = shr %id, %five : index\n%r = mul %q, %k : index\n%s = add %r, %r : index"
    text = in_parallel("%five = constant 5 : index\n" + body)
    report = only(check(text, zeros(64)), Kind.INDEX_OVERFLOW, "add %r, %r : index")
    assert report.work_item == 32


def test_broken_promises(check) -> None:
    text = (
        "func @f(%a: memref<f32x?x?> {shape_gcd=[4], stride_gcd=[1,8], alignment=16},\n"
        "        %g: group<memref<f32x?>x?, offset: ?> {alignment=8}) { }"
    )
    memory = np.zeros(1000, np.float32)
    good = MemrefArgument(memory[4:], (8, 3), (1, 16))
    entry = MemrefArgument(np.zeros(10, np.float32), (2,), (1,))
    group = GroupArgument([entry, entry], offset=2)
    assert check(text, good, group) == []

    def messages(*arguments: Any) -> list[str]:
        found = check(text, *arguments)
        assert all(r.kind is Kind.BROKEN_PROMISE for r in found)
        return [r.message for r in found]

    (message,) = messages(MemrefArgument(memory[4:], (6, 3), (1, 16)), group)
    assert "size 6 of mode 0 of %a is no multiple of the promised 4" in message
    (message,) = messages(MemrefArgument(memory[4:], (8, 3), (1, 20)), group)
    assert "stride 20 of mode 1 of %a" in message
    (message,) = messages(MemrefArgument(memory[1:], (8, 3), (1, 16)), group)
    assert "begins 4 bytes after the start of its allocation" in message
    found = messages(good, GroupArgument([entry, entry], offset=3))
    assert [m.split(" of")[0] for m in found] == ["entry 0", "entry 1"]
    (report,) = check(text, MemrefArgument(memory[1:], (8, 3), (1, 16)), group)
    assert "%a: memref<f32x?x?>" in report.diagnostic().render()


def test_a_failure_is_a_report(check) -> None:
    text = "func @f(%n: i32) {\n%z = constant 1 : i32\n%q = div %z, %n : i32\n}"
    report = only(check(text, 0), Kind.FAILURE, "div %z, %n : i32")
    assert "division by zero" in report.message


def test_a_mistake_is_reported_once(check) -> None:
    text = in_parallel(
        "%z = constant 0 : index\n%k = constant 5 : index\n"
        "for %i=%z,%k {\n%j = add %id, %k : index\n%w = load %v[%j] : i32\n}",
        "%a: memref<i32x90>",
        "%v = subview %a[0:64] : memref<i32x64>",
    )
    only(check(text, zeros(90), grid=(2, 1, 1)), Kind.OUT_OF_BOUNDS, "load %v[%j] : i32")


def test_apply_on_a_matrix_without_a_layout(check) -> None:
    text = in_parallel(
        "%z = constant 0 : index\n"
        "%m = constant 1.0 : coopmatrix<f32x24x4,matrix_acc>\n"
        "%n = cooperative_matrix_apply (%i,%j,%v)=%m -> coopmatrix<f32x24x4,matrix_acc> {\n"
        "%x = cast %i : index\n%y = mul %x, %x : index\n%w = add %v, %v : f32\nyield (%w) }\n"
        "cooperative_matrix_store %n, %a[%z,%z]",
        "%a: memref<f32x24x4>",
    )
    a = zeros(24, 4, dtype=np.float32)
    assert check(text, a) == []
    assert (a == 2).all()


def test_apply_knows_the_work_items(check) -> None:
    text = in_parallel(
        "%z = constant 0 : index\n"
        "%m = constant 1.0 : coopmatrix<f32x16x4,matrix_acc>\n"
        "%n = cooperative_matrix_apply (%i,%j,%v)=%m -> coopmatrix<f32x16x4,matrix_acc> {\n"
        "%x = cast %i : index\n%y = load %a[%x] : f32\nyield (%y) }",
        "%a: memref<f32x?>",
    )
    found = check(text, np.ones(15, np.float32))
    report = only(found, Kind.OUT_OF_BOUNDS, "load %a[%x] : f32")
    assert (report.work_item, report.index) == (15, (15,))
    assert check(text, np.ones(16, np.float32)) == []
