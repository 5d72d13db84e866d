"""What atomic accesses order is kept from one level and language to the next."""

from __future__ import annotations

import re

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

import xtile
from tests.transforms.distribute_tiles.distributed import distributed
from xtile.dialects.core.attributes import MemoryOrder, MemoryScope
from xtile.dialects.memory_orders import Ordering, ordering_of
from xtile.dialects.walk import walk
from xtile.text.diagnostics import DiagnosticError

TILES = """
gpu.module @kernels {{
  gpu.func @k(%m: memref<64xi32>, %v: i32, %w: i32) kernel attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    {update}
    gpu.return
  }}
}}"""

TYPES = ": i32, memref<64xi32>[index]"

ORDERS = list(MemoryOrder)
SCOPES = list(MemoryScope)


def said(order: MemoryOrder, scope: MemoryScope) -> str:
    """The attributes, as text."""
    words = [f'core.memory_order = "{order}"'] if order is not MemoryOrder.RELAXED else []
    words += [f'core.memory_scope = "{scope}"'] if scope is not MemoryScope.DEVICE else []
    return f" {{{', '.join(words)}}}" if words else ""


def orderings(module: ModuleOp) -> list[Ordering]:
    """What the atomic updates of a module say."""
    updates = (each for each in walk(module) if "atomic_rmw" in each.name)
    return [ordering_of(each) for each in updates]


def text_of(module: ModuleOp) -> str:
    return xtile.to_text(module, "mlir")


@pytest.mark.parametrize("level", ["subgroup", "lane"])
@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("order", ORDERS)
def test_updates_are_distributed(order: MemoryOrder, scope: MemoryScope, level: str) -> None:
    update = f"%0 = core.atomic_rmw addi {order} {scope} %v, %m[%c0] {TYPES}"
    module = distributed(TILES.format(update=update), level)
    text = text_of(module)
    line = f"memref.atomic_rmw addi %v, %m[%c0]{said(order, scope)} : (i32, memref<64xi32>) -> i32"
    assert line in text
    assert orderings(xtile.parse(text, language="mlir")) == [Ordering(order, scope)]


@pytest.mark.parametrize(
    ("update", "kind"),
    [
        ("%0 = core.atomic_compare_and_swap acquire system %v, %w, %m[%c0] " + TYPES, None),
        ("%0 = core.gather_load acquire system %m[%c0] : memref<64xi32>[index] -> i32", "ori"),
        ("core.scatter_store acq_rel system %v, %m[%c0] " + TYPES, "assign"),
    ],
    ids=["swap", "load", "store"],
)
def test_other_accesses_are_distributed(update: str, kind: str | None) -> None:
    order = MemoryOrder.ACQUIRE
    if kind == "assign":
        update, order = update.replace("acq_rel", "release"), MemoryOrder.RELEASE
    used = "" if kind == "assign" else "\nmemref.store %0, %m[%c0] : memref<64xi32>"
    text = text_of(distributed(TILES.format(update=update + used), "lane"))
    expected = said(order, MemoryScope.SYSTEM)
    pattern = rf"memref\.atomic_rmw {kind} .*" if kind else r"    \}"
    assert re.search(pattern + re.escape(expected), text), text
    assert orderings(xtile.parse(text, language="mlir")) == [Ordering(order, MemoryScope.SYSTEM)]


LANES = """func @f(%a: memref<i32x16>) attributes {{subgroup_size=16, work_group_size=[16,1]}} {{
    parallel {{
        %one = constant 1 : i32
        %lane = subgroup_local_id : i32
        %i = cast %lane : index
        %old = atomic_add{modifiers} %one, %a[%i] : i32
    }}
}}"""

WORDS = [
    (".device.acquire", Ordering(MemoryOrder.ACQUIRE)),
    (".device.release", Ordering(MemoryOrder.RELEASE)),
    (".cross_device.acquire_release", Ordering(MemoryOrder.ACQUIRE_RELEASE, MemoryScope.SYSTEM)),
    (".device.sequentially_consistent", Ordering(MemoryOrder.ACQUIRE_RELEASE)),
    (".device.relaxed", Ordering()),
    (".work_group.acquire", Ordering()),
    (".acquire", Ordering()),
    ("", Ordering()),
]
"""Modifiers, and what other work-groups see of them."""


@pytest.mark.parametrize(("modifiers", "ordering"), WORDS)
def test_the_tensor_language_and_back(modifiers: str, ordering: Ordering) -> None:
    source = xtile.parse(LANES.format(modifiers=modifiers))
    lanes = xtile.translate(source, "xegpu")
    assert orderings(lanes) == [ordering]
    assert f"%a[%i]{said(*ordering)} : (" in text_of(lanes)
    tiles = xtile.translate(source, "tile")
    assert f"core.atomic_rmw addi {ordering.order} {ordering.scope} " in text_of(tiles)
    back = xtile.to_text(xtile.translate(lanes, "tensorlang"))
    words = modifiers.replace("sequentially_consistent", "acquire_release")
    assert f"atomic_add{words if ordering != Ordering() else '.device'} %one" in back


def test_matrices_and_back() -> None:
    source = """func @f(%a: memref<f32x16x16>)
    attributes {subgroup_size=16, work_group_size=[16,1]} { parallel {
        %c0 = constant 0 : index
        %m = cooperative_matrix_load.n %a[%c0,%c0] : coopmatrix<f32x16x16,matrix_acc>
        %o = cooperative_matrix_atomic_add.n.device.release %m, %a[%c0,%c0]
            : coopmatrix<f32x16x16,matrix_acc>
    } }"""
    core = xtile.translate(xtile.parse(source), "core")
    text = text_of(core)
    assert re.search(r'core.atomic_update .*\{core.memory_order = "release"\}', text), text
    lanes = xtile.translate(core, "xegpu")
    assert set(orderings(lanes)) == {Ordering(MemoryOrder.RELEASE)}
    back = xtile.to_text(xtile.translate(core, "tensorlang"))
    assert "cooperative_matrix_atomic_add.device.release" in back


@pytest.mark.parametrize("order", ORDERS)
def test_xegpu_of_work_groups_and_back(order: MemoryOrder) -> None:
    update = f"%0 = core.atomic_rmw addi {order} device %v, %m[%c0] {TYPES}"
    tiles = xtile.parse(TILES.format(update=update), language="mlir")
    groups = xtile.translate(tiles, "xegpu")
    assert orderings(groups) == [Ordering(order)]
    back = xtile.translate(xtile.parse(text_of(groups), language="mlir"), "tile")
    assert orderings(back) == [Ordering(order)]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ('core.memory_order = "acquires"', '"relaxed", "acquire", "release", "acq_rel"'),
        ("core.memory_order = 1 : i32", '"relaxed", "acquire", "release", "acq_rel"'),
        ('core.memory_scope = "group"', '"block", "device", "system"'),
    ],
)
def test_words_that_are_none(attribute: str, expected: str) -> None:
    text = f"""func.func @f(%m: memref<4xi32>, %v: i32, %i: index) {{
    %0 = memref.atomic_rmw addi %v, %m[%i] {{{attribute}}} : (i32, memref<4xi32>) -> i32
    return
    }}"""
    with pytest.raises((DiagnosticError, VerifyException), match=f"expected one of {expected}"):
        xtile.parse(text, language="mlir")


@pytest.mark.parametrize(
    ("language", "words"),
    [("triton", "add, acq_rel, sys"), ("cuda_tile", "acq_rel sys")],
)
def test_what_attributes_say_reaches_languages_of_tiles(language: str, words: str) -> None:
    attributes = said(MemoryOrder.ACQUIRE_RELEASE, MemoryScope.SYSTEM)
    update = f"%0 = memref.atomic_rmw addi %v, %m[%c0]{attributes} : (i32, memref<64xi32>) -> i32"
    module = xtile.parse(TILES.format(update=update), language="mlir")
    assert words in text_of(xtile.translate(module, language))


ACQUIRED = """
gpu.module @kernels {{
  gpu.func @k(%m: memref<64xi32> {{core.noalias}}, %x: memref<64xi32> {{core.noalias}},
      %y: memref<64xi32> {{core.noalias}}, %v: i32) kernel attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %0 = memref.atomic_rmw addi %v, %m[%c0]{attributes} : (i32, memref<64xi32>) -> i32
    %1 = vector.transfer_read %x[%c0], %v {{in_bounds = [true]}} : memref<64xi32>, vector<64xi32>
    vector.transfer_write %1, %y[%c0] {{in_bounds = [true]}} : vector<64xi32>, memref<64xi32>
    gpu.return
  }}
}}"""


@pytest.mark.parametrize(
    ("order", "is_ordered"), [(MemoryOrder.RELAXED, False), (MemoryOrder.ACQUIRE, True)]
)
def test_what_is_read_after_an_acquire_waits_for_it(order: MemoryOrder, is_ordered: bool) -> None:
    text = ACQUIRED.format(attributes=said(order, MemoryScope.DEVICE))
    ported = text_of(xtile.translate(xtile.parse(text, language="mlir"), "cuda_tile"))
    (load,) = [line for line in ported.splitlines() if "load_view_tko" in line]
    assert ("token = " in load) is is_ordered
