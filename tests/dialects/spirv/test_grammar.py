"""The table is what Khronos publishes, and lookups find what it says."""

from __future__ import annotations

import json

import pytest

from tests.generators.spirv_grammar import CORE, installed_headers, table_text
from xtile.dialects.spirv.grammar import (
    NO_VERSION,
    TABLE,
    Operand,
    enumerants,
    extended_instructions,
    generator_name,
    instructions,
    opencl_instructions,
)


def test_the_table_is_fresh() -> None:
    assert table_text(installed_headers()) == TABLE.read_text(encoding="utf-8")


def test_every_instruction_and_enumerant_of_the_grammar_is_found() -> None:
    grammar = json.loads((installed_headers() / CORE).read_text(encoding="utf-8"))
    for expected in grammar["instructions"]:
        entry = instructions().get(expected["opname"].removeprefix("Op"))
        assert entry is not None
        assert entry.number == expected["opcode"]
        kinds = [operand["kind"] for operand in expected.get("operands", ())]
        assert entry.has_type == ("IdResultType" in kinds)
        assert entry.has_result == ("IdResult" in kinds)
        assert len(entry.operands) == len(kinds) - entry.has_type - entry.has_result
        assert entry.capabilities == tuple(expected.get("capabilities", ()))
    for kind in grammar["operand_kinds"]:
        for expected in kind.get("enumerants", ()):
            section = enumerants(kind["kind"])
            assert section is not None
            assert section.is_mask == (kind["category"] == "BitEnum")
            entry = section.get(expected["enumerant"])
            assert entry is not None
            assert entry.number == int(str(expected["value"]), 0)


def test_an_instruction() -> None:
    entry = instructions().of_number(61)
    assert entry is not None
    assert entry.name == "Load"
    assert entry.operands == (Operand("IdRef"), Operand("MemoryAccess", "?"))
    assert entry.has_type
    assert entry.has_result
    assert entry.version == (1, 0)


def test_an_instruction_of_an_extension() -> None:
    entry = instructions().get("SubgroupMatrixMultiplyAccumulateINTEL")
    assert entry is not None
    assert entry.number == 6237
    assert entry.capabilities == ("SubgroupMatrixMultiplyAccumulateINTEL",)
    assert entry.version == NO_VERSION
    capability = enumerants("Capability")
    assert capability is not None
    needed = capability.get("SubgroupMatrixMultiplyAccumulateINTEL")
    assert needed is not None
    assert needed.extensions == ("SPV_INTEL_subgroup_matrix_multiply_accumulate",)


def test_an_alias_is_the_same_entry() -> None:
    access = enumerants("MemoryAccess")
    assert access is not None
    assert access.get("MakePointerVisibleKHR") is access.get("MakePointerVisible")
    assert instructions().get("DecorateStringGOOGLE") is instructions().get("DecorateString")


def test_extended_instructions() -> None:
    exp = opencl_instructions().get("exp")
    assert exp is not None
    assert (exp.number, exp.operands) == (19, (Operand("IdRef"),))
    section = extended_instructions("GLSL.std.450")
    assert section is not None
    sqrt = section.get("Sqrt")
    assert sqrt is not None
    assert sqrt.number == 31
    assert extended_instructions("Unknown.set") is None
    # A kind of enumerants is no set.
    assert extended_instructions("Scope") is None


@pytest.mark.parametrize(
    ("number", "name"), [(0, "Khronos"), (6, "Khronos LLVM/SPIR-V Translator"), (9999, None)]
)
def test_generators(number: int, name: str | None) -> None:
    assert generator_name(number) == name


def test_what_is_not_there() -> None:
    assert instructions().get("OpLoad") is None
    assert instructions().of_number(65000) is None
    assert enumerants("LiteralInteger") is None
