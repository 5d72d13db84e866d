"""Work-groups are ordered by what one releases and another one acquires, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from xtile.semantics.sanitizer import Kind, Report, releases, sanitize

ATTRIBUTES = "attributes {subgroup_size=16, work_group_size=[32,2]}"

PARAMETERS = "%a: memref<i32x64>, %b: memref<i32x64>, %l: memref<i32x8>"

START = """%lane = subgroup_local_id : i32
    %sg = subgroup_linear_id : i32
    %size = subgroup_size : i32
    %first_lane = mul %sg, %size : i32
    %id32 = add %first_lane, %lane : i32
    %id = cast %id32 : index
    %group = group_id.x : index
    %zero = constant 0 : i32
    %one = constant 1 : i32
    %last = constant 2 : i32
    %c0 = constant 0 : index
    %c1 = constant 1 : index
    %c2 = constant 2 : index
    %c3 = constant 3 : index
    %is_first = equal %id32, %zero : bool
    %is_group_0 = equal %group, %c0 : bool
    %is_group_1 = equal %group, %c1 : bool
    %is_group_2 = equal %group, %c2 : bool"""

Check = Callable[..., list[Report]]


@pytest.fixture
def check(function: Any, argument: Any) -> Check:
    """What is wrong with code that the work-items of three work-groups of 64 execute."""

    def run(body: str, grid: int = 3, expected: Any = None) -> list[Report]:
        text = f"func @f({PARAMETERS}) {ATTRIBUTES} {{ parallel {{\n{START}\n{body}\n}} }}"
        arguments = [np.zeros(count, np.int32) for count in (64, 64, 8)]
        found = sanitize(function(text), [argument(each) for each in arguments], (grid, 1, 1))
        if expected is not None:
            np.testing.assert_array_equal(arguments[0], expected)
        return found

    return run


def kinds(reports: list[Report]) -> set[tuple[Kind, str]]:
    """The kinds of mistakes, and the lines where they are."""
    found: set[tuple[Kind, str]] = set()
    for report in reports:
        diagnostic = report.diagnostic()
        assert diagnostic.source is not None
        assert diagnostic.span is not None
        line = diagnostic.source.text[diagnostic.span.start : diagnostic.span.end]
        found.add((report.kind, line))
    return found


def conflicts(*lines: str) -> set[tuple[Kind, str]]:
    return {(Kind.CONFLICT, line) for line in lines}


LOAD, STORE = "load %a[%id] : i32", "store %y, %a[%id]"

LOCK = f"""
    if %is_first {{ %was = atomic_max.device.acquire %one, %l[%c0] : i32 }}
    barrier.global
    %x = {LOAD}
    %y = add %x, %one : i32
    {STORE}
    barrier.global
    if %is_first {{ atomic_store.device.release %zero, %l[%c0] }}"""
"""A lock: on the reference device it is always free."""


def test_a_lock(check: Check) -> None:
    assert check(LOCK, expected=3) == []
    wide = LOCK.replace(".device", ".cross_device").replace(".acquire", ".sequentially_consistent")
    assert check(wide) == []


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        (".device.acquire", ".device.relaxed"),
        (".device.acquire", ".device.release"),
        (".device.acquire", ""),
        (".device.acquire", ".work_group.acquire"),
        (".device.release", ".device.relaxed"),
        (".device.release", ".device.acquire"),
        (".device.release", ".work_group.release"),
        ("%zero, %l[%c0]", "%zero, %l[%c1]"),
        ("%one, %l[%c0] : i32 }\n    barrier.global", "%one, %l[%c0] : i32 }"),
        ("%one, %l[%c0] : i32 }\n    barrier.global", "%one, %l[%c0] : i32 }\n    barrier.local"),
        (f"{STORE}\n    barrier.global", STORE),
    ],
)
def test_what_is_wrong_with_a_lock(check: Check, what: str, instead: str) -> None:
    assert what in LOCK
    found = kinds(check(LOCK.replace(what, instead)))
    assert found == conflicts(LOAD, STORE)


def test_without_a_lock(check: Check) -> None:
    body = f"%x = {LOAD}\n%y = add %x, %one : i32\n{STORE}"
    assert kinds(check(body)) == conflicts(LOAD, STORE)


def test_what_follows_a_release_is_not_released(check: Check) -> None:
    """The work-item that frees the lock goes on in the same phase."""
    late = "store %one, %b[%c0]"
    body = LOCK.replace("%zero, %l[%c0] }", f"%id32, %l[%c0]\n    {late} }}")
    assert check(body.replace(late, "")) == []
    # All store one number, which is no conflict; this one differs between the work-groups.
    late = "store %mine, %b[%c0]"
    before = f"%mine = cast %group : i32\n{body.replace('store %one, %b[%c0]', late)}"
    assert kinds(check(before)) == conflicts(late)
    early = before.replace(late, "").replace("%y = add", f"if %is_first {{ {late} }}\n%y = add")
    assert check(early) == []


def test_other_work_items_of_the_one_that_acquires(check: Check) -> None:
    """Before the barrier it alone knows."""
    body = """
    if %is_first {{
        {store}
        %was = atomic_add.device.acquire_release %one, %l[%c0] : i32
        %x = load %a[%c0] : i32
    }}
    """
    store = "%mine = cast %group : i32\nif %is_group_0 { store %one, %a[%c0] }"
    assert check(body.format(store=store)) == []
    by_another = """%c1_32 = constant 1 : i32
    %is_second = equal %id32, %c1_32 : bool
    if %is_second { %y = load %a[%c0] : i32 }"""
    found = check(body.format(store=store) + by_another)
    assert kinds(found) == conflicts("load %a[%c0] : i32")
    assert check(body.format(store=store) + "barrier.global\n" + by_another) == []


PARTIAL = """
    if %is_first {
        %mine = cast %group : i32
        store %mine, %b[%group]
        %before = atomic_add.device.acquire_release %one, %l[%c0] : i32
        %is_last = equal %before, %last : bool
        if %is_last {
            %p = load %b[%c0] : i32
            %q = load %b[%c1] : i32
            %r = load %b[%c2] : i32
            %pq = add %p, %q : i32
            %s = add %pq, %r : i32
            store %s, %a[%c0]
            store %zero, %l[%c0]
        }
    }"""
"""The last work-group adds what all have stored."""


def test_the_last_work_group_adds(check: Check) -> None:
    assert check(PARTIAL, expected=[3] + 63 * [0]) == []


@pytest.mark.parametrize("order", ["acquire", "release", "relaxed"])
def test_the_last_work_group_adds_too_early(check: Check, order: str) -> None:
    found = kinds(check(PARTIAL.replace("acquire_release", order)))
    loads = [f"load %b[%c{number}] : i32" for number in (0, 1)]
    assert found == conflicts(*loads, "store %zero, %l[%c0]")


MANY_BEFORE = """
    %x = load %b[%c0] : i32
    %old = atomic_add.device.relaxed %one, %a[%c0] : i32
    barrier.global
    if %is_first {
        %before = atomic_add.device.acquire_release %one, %l[%c0] : i32
        %is_last = equal %before, %last : bool
        if %is_last {
            %all = load %a[%c0] : i32
            store %all, %b[%c0]
            store %zero, %a[%c0]
        }
    }"""
"""All read a number and add to another; the last work-group replaces both."""


def test_many_come_before(check: Check) -> None:
    assert check(MANY_BEFORE, expected=0) == []


@pytest.mark.parametrize("quiet", [0, 1])
def test_one_of_many_does_not_come_before(check: Check, quiet: int) -> None:
    """A work-group that accesses what the others do tells nobody."""
    body = MANY_BEFORE.replace(
        "if %is_first {", f"%tells = not_equal %group, %c{quiet} : bool\nif %is_who {{"
    ).replace("%last : bool", "%one : bool")
    body = body.replace("if %is_who", "%is_who = and %is_first, %tells : bool\nif %is_who")
    accesses = "load %a[%c0] : i32", "store %all, %b[%c0]", "store %zero, %a[%c0]"
    assert kinds(check(body)) == conflicts(*accesses)


HANDED_ON = """
    if %is_first {{
        if %is_group_0 {{
            store %one, %b[%c0]
            atomic_store.device.release %one, %l[%c0]
        }}
        if %is_group_1 {{
            {between}
        }}
        if %is_group_2 {{
            %flag = atomic_load.device.acquire %l[%c0] : i32
            %x = load %b[%c0] : i32
        }}
    }}"""
"""The first work-group tells the third one, and the second one does something to the flag."""


@pytest.mark.parametrize(
    ("between", "ends"),
    [
        ("", False),
        ("%old = atomic_add.device.relaxed %one, %l[%c0] : i32", False),
        ("%old = atomic_add.device.acquire %one, %l[%c0] : i32", False),
        ("%old = atomic_add.device.release %one, %l[%c0] : i32", False),
        ("%old = atomic_load.device.relaxed %l[%c0] : i32", False),
        ("atomic_store.device.relaxed %one, %l[%c0]", True),
        ("atomic_store.device.release %one, %l[%c0]", True),
        ("atomic_store.device.relaxed %one, %l[%c1]", False),
    ],
)
def test_what_hands_on_a_release(check: Check, between: str, ends: bool) -> None:
    found = kinds(check(HANDED_ON.format(between=between)))
    assert found == (conflicts("load %b[%c0] : i32") if ends else set())


def test_a_chain_of_flags(check: Check) -> None:
    """What was learnt is told, too: the third work-group reads the second one's flag only."""
    told = """%flag1 = atomic_load.device.acquire %l[%c0] : i32
            atomic_store.device.release %one, %l[%c1]"""
    body = HANDED_ON.format(between=told).replace(
        "%flag = atomic_load.device.acquire %l[%c0]", "%flag = atomic_load.device.acquire %l[%c1]"
    )
    assert check(body) == []
    broken = (
        body.replace("%flag1 = atomic_load.device.acquire", "%flag1 = atomic_load.device.relaxed"),
        body.replace("device.release %one, %l[%c1]", "device.relaxed %one, %l[%c1]"),
    )
    for text in broken:
        assert text != body
        assert kinds(check(text)) == conflicts("load %b[%c0] : i32")


@pytest.mark.slow
def test_each_work_item_tells_its_own(check: Check) -> None:
    """Without any barrier: each work-item takes over the element of the one of its number."""
    body = f"""
    %flag = atomic_load.device.acquire %b[%id] : i32
    %x = {LOAD}
    %y = add %x, %one : i32
    {STORE}
    atomic_store.device.release %one, %b[%id]"""
    assert check(body, expected=3) == []
    assert kinds(check(body.replace("release", "relaxed"))) == conflicts(LOAD, STORE)
    neighbour = body.replace(
        "%flag = atomic_load.device.acquire %b[%id]",
        """%c63 = constant 63 : index
    %other = sub %c63, %id : index
    %flag = atomic_load.device.acquire %b[%other]""",
    )
    assert kinds(check(neighbour)) == conflicts(LOAD, STORE)


def test_overwritten_releases_are_forgotten(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "_FEW", 2)
    body = f"%n = constant 9 : index\nfor %k=%c0,%n {{ {LOCK} \nbarrier.global }}"
    assert check(body, expected=27) == []
    broken = body.replace("release", "relaxed")
    assert kinds(check(broken)) == conflicts(LOAD, STORE)


@dataclass(frozen=True)
class Step:
    """What one work-item of one work-group does; a barrier is for all.

    Attributes:
        what: `load`, `store`, `atomic_load`, `atomic_store`, `atomic_add` or `barrier`.
        group: The work-group.
        thread: The work-item.
        place: The element.
        order: The order of an atomic access.
    """

    what: str
    group: int = 0
    thread: int = 0
    place: int = 0
    order: str = ""

    @property
    def acquires(self) -> bool:
        return "acquire" in self.order and self.what != "atomic_store"

    @property
    def releases(self) -> bool:
        return "release" in self.order and self.what != "atomic_load"


def random_steps(random: np.random.Generator) -> list[Step]:
    """Steps of three work-groups, each of whose releases follows a barrier."""
    steps: list[Step] = []
    for _ in range(int(random.integers(6, 24))):
        kinds = ("load", "store", "atomic_load", "atomic_store", "atomic_add", "atomic_add")
        what = str(random.choice(kinds))
        group, thread, place = (int(random.integers(count)) for count in (3, 2, 2))
        orders = ("relaxed", "acquire", "release", "acquire_release", "acquire_release")
        order = str(random.choice(orders)) if what.startswith("atomic") else ""
        step = Step(what, group, thread, place, order)
        steps += [Step("barrier"), step] if step.releases else [step]
        steps += [Step("barrier")] if random.integers(3) == 0 else []
    return steps


def text_of(steps: list[Step]) -> str:
    """The code of the steps; each store stores another number."""
    lines: list[str] = []
    for number, step in enumerate(steps):
        if step.what == "barrier":
            lines.append("barrier.global")
            continue
        where = f"%{'l' if step.order else 'a'}[%c{step.place}]"
        what = f"{step.what}.device.{step.order}" if step.order else step.what
        value = "" if step.what.endswith("load") else f"%v{number}, "
        result = "" if step.what.endswith("store") else f"%r{number} = "
        kind = "" if step.what.endswith("store") else " : i32"
        lines += [
            f"%t{number} = constant {step.thread} : i32",
            f"%v{number} = constant {number + 1} : i32",
            f"%is_thread{number} = equal %id32, %t{number} : bool",
            f"%acts{number} = and %is_thread{number}, %is_group_{step.group} : bool",
            f"if %acts{number} {{ {result}{what} {value}{where}{kind} }}",
        ]
    return "\n".join(lines)


def has_race(steps: list[Step]) -> bool:
    """Whether two accesses conflict, by what is known to come before each work-item's next one."""
    seen: list[tuple[Step, int]] = []
    released: dict[int, frozenset[int]] = {}
    race = False
    for group in range(3):
        known: list[frozenset[int]] = [frozenset(), frozenset()]
        for step in steps:
            if step.what == "barrier":
                known = [known[0] | known[1]] * 2
                continue
            if step.group != group:
                continue
            before = known[step.thread]
            if step.acquires:
                before |= released.get(step.place, frozenset())
            own = len(seen)
            if not step.order:
                race |= any(
                    step.place == other.place
                    and "store" in (step.what, other.what)
                    and number not in before
                    for other, number in seen
                    if not other.order
                )
            seen.append((step, own))
            before |= {own}
            known[step.thread] = before
            if step.order and step.what != "atomic_load":
                kept = released.get(step.place, frozenset()) if step.what == "atomic_add" else None
                told = before if step.releases else frozenset[int]()
                released[step.place] = told | (kept or frozenset())
    return race


@pytest.mark.slow
def test_random_orders(check: Check) -> None:
    """A conflict is reported where there is one, and nowhere else."""
    random = fresh_generator()
    races: list[bool] = []
    for _ in range(60):
        steps = random_steps(random)
        races.append(has_race(steps))
        text = text_of(steps)
        assert bool(check(text)) == races[-1], text
