"""A table says what becomes of each operation: a rule, or what becomes of all others."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32, i64
from xdsl.dialects.test import TestOp as Op
from xdsl.dialects.test import TestPureOp as PureOp
from xdsl.ir import Block, Operation, Region

from xtile.rewrite.kernels import with_kernels_replaced
from xtile.rewrite.rebuilder import Rebuilder, Rule, RuleTable, again, copy, refuse
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


def test_an_operation_again_keeps_what_is_not_given() -> None:
    name, other = StringAttr("name"), StringAttr("other")
    first = Op(result_types=[i32])
    old = Op(first.results, [i32], {"note": name}, {"prop1": name, "prop2": name}, [Region()])
    same, changed = again(old), again(old, first.results, [i64], properties={"prop2": other})
    assert (len(same.operands), same.result_types, len(same.regions)) == (0, (i32,), 0)
    assert same.properties == old.properties
    assert (list(changed.operands), changed.result_types) == (list(first.results), (i64,))
    assert changed.properties == {"prop1": name, "prop2": other}
    assert changed.attributes == old.attributes == {"note": name}
    assert old.properties["prop2"] is name
    changed.attributes["note"] = other
    assert old.attributes["note"] is name


def test_a_module_has_its_operations_translated_and_its_attributes() -> None:
    module = ModuleOp([Op()], {"note": StringAttr("kept")})
    rebuilder = Rebuilder(RuleTable({Op.name: _double}), "another language")
    assert [each.name for each in rebuilder.module(module).ops] == [Op.name, Op.name]
    assert rebuilder.module(module).attributes == module.attributes
    assert not rebuilder.module(module, {}).attributes


def test_without_a_kernel_that_is_chosen_a_module_stays_itself() -> None:
    module = ModuleOp([Op()])
    assert with_kernels_replaced(module, lambda kernel: True, lambda kernel: kernel) is module


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


def test_modules_are_searched_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> ModuleType:
        loaded.append(name)
        module = ModuleType(name)
        vars(module)["RULES"] = modules[name]
        return module

    modules: Mapping[str, Mapping[str, Rule]] = {
        "first": {"test.often": copy, "test.both": copy},
        "second": {"test.seldom": refuse, "test.both": refuse, "other.op": copy},
        "third": {"test.never": copy},
    }
    loaded: list[str] = []
    monkeypatch.setattr("xtile.rewrite.rebuilder.import_module", load)
    rules = RuleTable(modules={"test": list(modules)})
    assert rules.get("test.often") is copy
    assert loaded == ["first"]
    assert rules.get("test.seldom") is refuse
    assert rules.get("test.both") is copy
    assert rules.get("other.op") is None
    assert loaded == ["first", "second"]
    assert rules.get("test.unknown") is None
    assert rules.get("test.unknown") is None
    assert loaded == ["first", "second", "third"]


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
