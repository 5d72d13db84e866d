"""A table says what becomes of each operation: a rule, or what becomes of all others."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

import pytest
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp as Op
from xdsl.dialects.test import TestPureOp as PureOp
from xdsl.ir import Block, Operation, Region

from xtile.rewrite.rebuilder import Rebuilder, Rule, RuleTable, copy, refuse
from xtile.text.diagnostics import DiagnosticError


def _rebuilt(rules: RuleTable, *operations: Operation) -> list[Operation]:
    rebuilder = Rebuilder(rules, "another language")
    rebuilder.translate_block(Block(operations))
    return list(rebuilder.block.ops)


def _double(operation: Operation, rebuilder: Rebuilder) -> None:
    rebuilder.emit(Op())
    copy(operation, rebuilder)


def test_rows_come_before_what_becomes_of_others() -> None:
    rules = RuleTable({PureOp.name: _double}, otherwise=copy)
    assert [new.name for new in _rebuilt(rules, Op(), PureOp())] == [Op.name, Op.name, PureOp.name]


def test_copies_are_on_what_operands_have_become() -> None:
    first = Op(result_types=[i32])
    inner = Op([first.results[0]])
    outer = Op(regions=[Region(Block([inner])), Region()])
    new_first, new_outer = _rebuilt(RuleTable(otherwise=copy), first, outer)
    (new_inner,) = new_outer.regions[0].block.ops
    assert new_first is not first
    assert new_inner.operands[0] is new_first.results[0]
    assert not new_outer.regions[1].blocks


@pytest.mark.parametrize("rules", [RuleTable(), RuleTable({Op.name: refuse}, otherwise=copy)])
def test_refused(rules: RuleTable) -> None:
    with pytest.raises(DiagnosticError, match=r"test\.op cannot be translated to another language"):
        _rebuilt(rules, Op())


def test_modules_load_when_their_dialect_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> ModuleType:
        loaded.append(name)
        module = ModuleType(name)
        rows: Mapping[str, Rule] = {"test.op": copy, "other.op": copy}
        vars(module)["RULES"] = rows
        return module

    loaded: list[str] = []
    monkeypatch.setattr("xtile.rewrite.rebuilder.import_module", load)
    rules = RuleTable(modules={"test": ["first"], "other": ["second"]})
    assert not loaded
    assert rules.get("test.op") is copy
    assert rules.get("test.unknown") is None
    assert rules.get("another.op") is None
    assert loaded == ["first"]
    assert rules.get("other.op") is copy
    assert loaded == ["first", "second"]


def test_a_module_that_does_not_load_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> ModuleType:
        raise ImportError(f"there is no {name}")

    monkeypatch.setattr("xtile.rewrite.rebuilder.import_module", load)
    rules = RuleTable(modules={"test": ["first"]})
    for _ in range(2):
        with pytest.raises(ImportError, match="there is no first"):
            rules.get("test.op")


def test_other_rules_hold_for_a_while() -> None:
    def inside(operation: Operation, rebuilder: Rebuilder) -> None:
        with rebuilder.using(RuleTable()):
            rebuilder.translate(operation)

    rebuilder = Rebuilder(RuleTable({PureOp.name: inside}, otherwise=copy), "another language")
    rebuilder.translate(Op())
    with pytest.raises(DiagnosticError):
        rebuilder.translate(PureOp())
    rebuilder.translate(Op())
    assert [new.name for new in rebuilder.block.ops] == [Op.name, Op.name]
