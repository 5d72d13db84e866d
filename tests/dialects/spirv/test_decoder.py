"""Binaries are read back to the same module, and those of other tools to an equivalent one."""

from __future__ import annotations

import subprocess
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    FileLineColLoc,
    FunctionType,
    StringAttr,
    VectorType,
    f16,
    f32,
    i32,
)

from tests.dialects.spirv.kernels import copy_kernel
from tests.generators.spirv_modules import random_module
from tests.mlir_opt import llvm_tool
from tests.seeds import share_of
from tests.spirv_tools import assembled, disassembled, problems_of
from xtile.dialects.spirv import (
    ArrayType,
    CooperativeMatrixType,
    FuncOp,
    IdType,
    Instruction,
    ModuleOp,
    OtherType,
    PointerType,
    StructType,
    VoidType,
    decode,
    encode,
)
from xtile.dialects.spirv.instruction import decorations_of
from xtile.text.diagnostics import DiagnosticError

HEAD = """\
OpCapability Addresses
OpCapability Kernel
OpMemoryModel Physical64 OpenCL
"""


def named(module: ModuleOp, name: str) -> list[Instruction]:
    """The instructions of a name."""
    return [
        operation
        for operation in module.walk()
        if isinstance(operation, Instruction) and operation.entry.name == name
    ]


def read(text: str, environment: str = "spv1.4") -> ModuleOp:
    """The module of a text, whose binary stays the same when it is read and written again."""
    module = decode(assembled(text, environment), "text.spv")
    data = encode(module)
    again = decode(data)
    assert encode(again) == data
    assert again.is_structurally_equivalent(module)
    return module


def test_a_kernel() -> None:
    module = copy_kernel()
    again = decode(encode(module))
    assert again.is_structurally_equivalent(module)
    assert again.version == (1, 4)
    (function,) = [operation for operation in again.block.ops if isinstance(operation, FuncOp)]
    assert [argument.name_hint for argument in function.parameters] == ["source", None, None]
    assert not again.capabilities
    assert not again.extensions


@settings(max_examples=share_of(40))
@given(st.integers(0, 2**32))
def test_random_modules(seed: int) -> None:
    module = random_module(Random(seed))
    data = encode(module)
    again = decode(data)
    assert again.is_structurally_equivalent(module)
    assert encode(again) == data


def test_either_byte_order() -> None:
    data = encode(copy_kernel())
    swapped = b"".join(data[position : position + 4][::-1] for position in range(0, len(data), 4))
    assert encode(decode(swapped)) == data


def test_a_module_with_everything_that_debuggers_want() -> None:
    module = read(
        HEAD
        + """
        %file = OpString "k.cl"
        OpSource OpenCL_C 200000 %file "kernel void f() {}"
        OpSourceContinued "// more"
        OpSourceExtension "cl_khr_fp16"
        OpModuleProcessed "by hand"
        OpName %f "f"
        OpName %s "pair"
        OpMemberName %s 0 "first"
        %void = OpTypeVoid
        %int = OpTypeInt 32 0
        %s = OpTypeStruct %int %int
        %ft = OpTypeFunction %void %int
        %f = OpFunction %void None %ft
        %x = OpFunctionParameter %int
        %l = OpLabel
        OpLine %file 3 7
        %a = OpIAdd %int %x %x
        OpNoLine
        %b = OpIAdd %int %x %x
        %u = OpUndef %s
        OpReturn
        OpFunctionEnd
        """
    )
    first, second = named(module, "IAdd")
    assert isinstance(first.location, FileLineColLoc)
    assert first.location.filename == StringAttr("k.cl")
    assert (first.location.line.data, first.location.column.data) == (3, 7)
    assert not isinstance(second.location, FileLineColLoc)
    structure = StructType([i32, i32])
    assert named(module, "Name")[0].arguments == (structure, "pair")
    assert named(module, "MemberName")[0].arguments == (structure, 0, "first")
    assert named(module, "Source")[0].arguments == (
        "OpenCL_C",
        200000,
        None,
        "kernel void f() {}",
    )
    text = disassembled(encode(module))
    for expected in ("OpSourceContinued", "OpSourceExtension", "OpModuleProcessed", "OpMemberName"):
        assert expected in text


def test_types() -> None:
    module = read(
        HEAD
        + """
        OpCapability Float16
        OpCapability Int64
        OpCapability Vector16
        OpCapability ImageBasic
        %void = OpTypeVoid
        %half = OpTypeFloat 16
        %int = OpTypeInt 32 0
        %long = OpTypeInt 64 0
        %n = OpConstant %long 12
        %v = OpTypeVector %half 16
        %a = OpTypeArray %v %n
        %s1 = OpTypeStruct %a %int
        %s2 = OpTypeStruct %a %int
        %event = OpTypeEvent
        %image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
        %opaque = OpTypeOpaque "name"
        %p = OpTypePointer Function %opaque
        %u1 = OpUndef %s1
        %u2 = OpUndef %s2
        %u3 = OpUndef %event
        %u4 = OpUndef %image
        %u5 = OpUndef %p
        """
    )
    array = ArrayType(VectorType(f16, [16]), 12)
    assert [undef.result.type for undef in named(module, "Undef")] == [
        StructType([array, i32]),
        StructType([array, i32], 1),
        OtherType("TypeEvent", ()),
        OtherType("TypeImage", (VoidType(), "2D", 0, 0, 0, 0, "Unknown", "ReadOnly")),
        PointerType(OtherType("TypeOpaque", ("name",)), "Function"),
    ]
    # Only the type needed it.
    assert named(module, "Constant") == []


def test_signed_integers_and_an_addition_of_two_kinds() -> None:
    module = read(
        """
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        %int = OpTypeInt 32 1
        %uint = OpTypeInt 32 0
        %short = OpTypeInt 16 1
        %a = OpConstant %int -5
        %b = OpConstant %uint 4294967295
        %c = OpSpecConstantOp %int IAdd %a %b
        %d = OpSpecConstant %int 7
        """
    )
    assert [constant.arguments for constant in named(module, "Constant")] == [(-5,), (-1,)]
    (sum,) = named(module, "SpecConstantOp")
    assert sum.arguments == ("IAdd", None, None)
    assert str(sum.result.type) == "si32"
    assert module.memory_model == "GLSL450"
    text = disassembled(encode(module))
    assert "OpConstant %int -5" in text
    assert "OpConstant %uint 4294967295" in text


def test_groups_of_decorations_are_taken_apart() -> None:
    module = read(
        HEAD
        + """
        OpDecorate %group Constant
        OpDecorate %group Alignment 16
        OpDecorate %one LinkageAttributes "one" Import
        %group = OpDecorationGroup
        OpGroupDecorate %group %one %two
        %int = OpTypeInt 32 0
        %p = OpTypePointer UniformConstant %int
        %one = OpVariable %p UniformConstant
        %two = OpVariable %p UniformConstant
        """
    )
    one, two = named(module, "Variable")
    shared = [("Constant",), ("Alignment", 16)]
    linkage = ("LinkageAttributes", "one", "Import")
    assert [decoration.data for decoration in decorations_of(one)] == [linkage, *shared]
    assert [decoration.data for decoration in decorations_of(two)] == shared


def test_members_are_decorated_by_instructions() -> None:
    module = read(
        """
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpDecorate %s Block
        OpMemberDecorate %s 1 Offset 4
        OpDecorate %group Offset 0
        %group = OpDecorationGroup
        OpGroupMemberDecorate %group %s 0
        %float = OpTypeFloat 32
        %s = OpTypeStruct %float %float
        %p = OpTypePointer StorageBuffer %s
        %v = OpVariable %p StorageBuffer
        """
    )
    structure = StructType([f32, f32])
    assert [made.arguments for made in named(module, "MemberDecorate")] == [
        (structure, 1, "Offset", 4),
        (structure, 0, "Offset", 0),
    ]
    assert [made.arguments for made in named(module, "Decorate")] == [(structure, "Block")]


def test_a_function_has_the_name_that_it_is_linked_by() -> None:
    module = read(
        HEAD
        + """
        OpCapability Linkage
        OpName %f "local"
        OpName %g "local"
        OpDecorate %f LinkageAttributes "global" Export
        %void = OpTypeVoid
        %ft = OpTypeFunction %void
        %f = OpFunction %void Inline|Const %ft
        %l = OpLabel
        %r = OpFunctionCall %void %g
        OpReturn
        OpFunctionEnd
        %g = OpFunction %void None %ft
        %m = OpLabel
        OpReturn
        OpFunctionEnd
        %h = OpFunction %void None %ft
        %n = OpLabel
        OpUnreachable
        OpFunctionEnd
        """
    )
    functions = [operation for operation in module.block.ops if isinstance(operation, FuncOp)]
    assert [function.sym_name for function in functions] == ["global", "local", "function"]
    assert [function.linkage for function in functions] == ["Export", None, None]
    assert functions[0].control == "Inline|Const"
    (call,) = named(module, "FunctionCall")
    assert call.arguments == ("local",)
    assert not call.results


def test_parameters_of_other_modules_functions_are_decorated() -> None:
    module = read(
        HEAD
        + """
        OpCapability Linkage
        OpName %x "x"
        OpDecorate %f LinkageAttributes "f" Import
        OpDecorate %x FuncParamAttr NoAlias
        %void = OpTypeVoid
        %int = OpTypeInt 32 0
        %p = OpTypePointer Function %int
        %ft = OpTypeFunction %void %p
        %f = OpFunction %void None %ft
        %x = OpFunctionParameter %p
        OpFunctionEnd
        """
    )
    (function,) = [operation for operation in module.block.ops if isinstance(operation, FuncOp)]
    ((decoration,),) = function.parameter_decorations
    assert decoration.data == ("FuncParamAttr", "NoAlias")
    assert "OpDecorate %6 FuncParamAttr NoAlias" in disassembled(encode(module), "--raw-id")


def test_phis_become_block_arguments_and_switches_keep_their_numbers() -> None:
    module = read(
        HEAD
        + """
        OpCapability Int64
        OpCapability Linkage
        OpName %a "first.case"
        %void = OpTypeVoid
        %long = OpTypeInt 64 0
        %one = OpConstant %long 1
        %ft = OpTypeFunction %long %long
        %f = OpFunction %long None %ft
        %x = OpFunctionParameter %long
        %entry = OpLabel
        OpSwitch %x %end 18446744073709551615 %a 5000000000 %end
        %a = OpLabel
        OpBranch %end
        %end = OpLabel
        %phi = OpPhi %long %one %entry %x %a
        OpReturnValue %phi
        OpFunctionEnd
        """
    )
    (switch,) = named(module, "Switch")
    literals = [argument for argument in switch.arguments if isinstance(argument, int)]
    assert literals == [-1, 5000000000]
    assert len(switch.successors) == 3
    assert [len(block.args) for block in switch.successors] == [1, 0, 1]
    assert switch.successors[1].name_hint == "first.case"
    assert "%first_case = OpLabel" in disassembled(encode(module))


def test_instructions_of_other_sets_keep_their_operands() -> None:
    module = read(
        """
        OpCapability Shader
        OpExtension "SPV_KHR_non_semantic_info"
        %glsl = OpExtInstImport "GLSL.std.450"
        %debug = OpExtInstImport "NonSemantic.Shader.DebugInfo.100"
        %unknown = OpExtInstImport "NonSemantic.Unknown.7"
        OpMemoryModel Logical GLSL450
        %text = OpString "float"
        %void = OpTypeVoid
        %float = OpTypeFloat 32
        %uint = OpTypeInt 32 0
        %size = OpConstant %uint 32
        %none = OpExtInst %void %debug DebugInfoNone
        %basic = OpExtInst %void %debug DebugTypeBasic %text %size %size %size
        %other = OpExtInst %void %unknown 77 %none %text
        %ft = OpTypeFunction %float %float
        %f = OpFunction %float None %ft
        %x = OpFunctionParameter %float
        %l = OpLabel
        %r = OpExtInst %float %glsl Sqrt %x
        OpReturnValue %r
        OpFunctionEnd
        """
    )
    none, basic, other, root = named(module, "ExtInst")
    assert none.arguments == (None, "NonSemantic.Shader.DebugInfo.100:DebugInfoNone")
    assert len(basic.values) == 5
    assert other.arguments == (None, 77, None, None)
    assert other.values[1] is none.result
    assert root.arguments == (None, "GLSL.std.450:Sqrt", None)
    assert none.result.type == VoidType()
    assert [imported.result.type for imported in named(module, "ExtInstImport")] == [IdType()] * 3


def test_inline_assembly_and_matrices() -> None:
    module = read(
        """
        OpCapability Addresses
        OpCapability Kernel
        OpCapability AsmINTEL
        OpCapability Linkage
        OpCapability CooperativeMatrixKHR
        OpExtension "SPV_INTEL_inline_assembly"
        OpExtension "SPV_KHR_cooperative_matrix"
        OpMemoryModel Physical64 OpenCL
        %t = OpAsmTargetINTEL "spirv64-unknown-unknown"
        %void = OpTypeVoid
        %uint = OpTypeInt 32 0
        %float = OpTypeFloat 32
        %c3 = OpConstant %uint 3
        %c8 = OpConstant %uint 8
        %c2 = OpConstant %uint 2
        %m = OpTypeCooperativeMatrixKHR %float %c3 %c8 %c8 %c2
        %ft = OpTypeFunction %void
        %a = OpAsmINTEL %void %ft %t "nop" ""
        %zero = OpConstantNull %m
        %f = OpFunction %void None %ft
        %l = OpLabel
        %r = OpAsmCallINTEL %void %a
        OpReturn
        OpFunctionEnd
        """
    )
    (text,) = named(module, "AsmINTEL")
    assert text.arguments == (FunctionType.from_lists([], []), None, "nop", "")
    assert text.result.type == VoidType()
    (zero,) = named(module, "ConstantNull")
    assert zero.result.type == CooperativeMatrixType(f32, "Subgroup", 8, 8, "MatrixAccumulatorKHR")
    assert module.capabilities == ("Linkage",)


def test_vectors_of_any_size_are_read_but_not_written() -> None:
    text = HEAD + "%float = OpTypeFloat 32\n%v = OpTypeVector %float 19\n%u = OpUndef %v\n"
    module = decode(assembled(text))
    assert named(module, "Undef")[0].result.type == VectorType(f32, [19])
    with pytest.raises(DiagnosticError, match="has 2, 3, 4, 8, 16 components: vector<19xf32>"):
        encode(module)


def test_capabilities_that_nothing_uses_are_kept() -> None:
    module = read(
        """
        OpCapability Groups
        OpCapability Addresses
        OpCapability Kernel
        OpCapability !6118
        OpExtension "SPV_KHR_expect_assume"
        OpMemoryModel Physical64 OpenCL
        """
    )
    assert module.capabilities == ("Groups", "6118")
    assert module.extensions == ("SPV_KHR_expect_assume",)


def serialized(text: str) -> bytes:
    """The binary that MLIR makes of a module of its own dialect."""
    return run_mlir_translate(text.encode(), "--serialize-spirv")


def run_mlir_translate(data: bytes, *arguments: str) -> bytes:
    """What mlir-translate of LLVM 22 writes for what it reads."""
    command = llvm_tool("mlir-translate")
    done = subprocess.run(
        [command, "--no-implicit-module", *arguments],
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


MLIR = """\
spirv.module Physical64 OpenCL requires #spirv.vce<v1.4, [Kernel, Addresses, Int64], []> {
  spirv.GlobalVariable @id built_in("GlobalInvocationId") : !spirv.ptr<vector<3xi64>, Input>
  spirv.func @f(%a: !spirv.ptr<!spirv.array<8 x f32>, CrossWorkgroup>, %n: i64) "None" {
    %zero = spirv.Constant 0 : i64
    %one = spirv.Constant 1 : i64
    %var = spirv.Variable : !spirv.ptr<i64, Function>
    spirv.mlir.loop {
      spirv.Branch ^header(%zero : i64)
    ^header(%i: i64):
      %more = spirv.SLessThan %i, %n : i64
      spirv.BranchConditional %more, ^body, ^merge
    ^body:
      spirv.Branch ^continue
    ^continue:
      %next = spirv.IAdd %i, %one : i64
      spirv.Branch ^header(%next : i64)
    ^merge:
      spirv.mlir.merge
    }
    %address = spirv.mlir.addressof @id : !spirv.ptr<vector<3xi64>, Input>
    %ids = spirv.Load "Input" %address : vector<3xi64>
    %x = spirv.CompositeExtract %ids[0 : i32] : vector<3xi64>
    %place = spirv.AccessChain %a[%x] : !spirv.ptr<!spirv.array<8 x f32>, CrossWorkgroup>, i64
        -> !spirv.ptr<f32, CrossWorkgroup>
    %v = spirv.Load "CrossWorkgroup" %place ["Aligned", 4] : f32
    %e = spirv.CL.exp %v : f32
    spirv.Store "CrossWorkgroup" %place, %e ["Aligned", 4] : f32
    spirv.Return
  }
  spirv.EntryPoint "Kernel" @f, @id
  spirv.ExecutionMode @f "LocalSize", 16, 1, 1
}
"""


def test_what_mlir_writes() -> None:
    data = serialized(MLIR)
    module = decode(data, "mlir.spv")
    assert problems_of(encode(module)) == ""
    (exp,) = [made for made in module.walk() if made.name == "spirv.CL.exp"]
    assert exp.results[0].type == f32
    again = encode(module)
    assert encode(decode(again)) == again


@pytest.mark.parametrize("module", [decode(serialized(MLIR)), copy_kernel()])
def test_mlir_reads_what_is_written(module: ModuleOp) -> None:
    text = run_mlir_translate(encode(module), "--deserialize-spirv").decode()
    assert text.startswith("spirv.module Physical64 OpenCL")
    assert 'spirv.EntryPoint "Kernel" @f' in text
    assert "spirv.Store" in text
