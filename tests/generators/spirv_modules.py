"""Random valid SPIR-V modules: kernels with loops, branches, calls, memory and all types."""

from __future__ import annotations

from random import Random

from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntegerType,
    VectorType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, SSAValue

from xtile.dialects.spirv import (
    ArrayType,
    FuncOp,
    ModuleOp,
    PointerType,
    StructType,
    decorate,
    operation,
)
from xtile.dialects.spirv.builder import BuildArgument

SCALARS: tuple[Attribute, ...] = (i8, i16, i32, i64, f16, f32, f64)
VECTOR_SIZES = (2, 3, 4, 8, 16)

_INTEGER = ("IAdd", "ISub", "IMul", "UDiv", "SRem", "BitwiseAnd", "BitwiseXor", "ShiftLeftLogical")
_FLOAT = ("FAdd", "FSub", "FMul", "FDiv", "FRem", "CL.fmax", "CL.pow", "CL.hypot")
_UNARY_FLOAT = ("FNegate", "CL.exp", "CL.sqrt", "CL.native_sin")
_INTEGER_COMPARISONS = ("IEqual", "SLessThan", "UGreaterThanEqual")
_FLOAT_COMPARISONS = ("FOrdEqual", "FUnordLessThan", "FOrdGreaterThan")
_NAMES = ("a", "i", "sum", "x.y", "Value", "_", "a", "t-1", "$")


def random_module(random: Random) -> ModuleOp:
    """A valid module."""
    return _Maker(random).make()


class _Maker:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._module = ModuleOp(version=(1, random.choice((3, 4))))
        self._constants: dict[tuple[str, object], SSAValue] = {}
        self._declarations: list[Attribute] = []
        self._helpers: list[FuncOp] = []
        self._block = Block()

    def make(self) -> ModuleOp:
        random, block = self._random, self._module.block
        kernels = [f"kernel{index}" for index in range(random.randint(1, 2))]
        for name in kernels:
            block.add_op(operation("EntryPoint", None, "Kernel", name, f"{name} entry"))
        for name in kernels:
            mode = random.choice(
                (("LocalSize", 16, 2, 1), ("SubgroupSize", 16), ("VecTypeHint", 0))
            )
            block.add_op(operation("ExecutionMode", None, name, mode))
        if random.random() < 0.5:
            block.add_op(operation("Source", None, "OpenCL_C", 300000))
        for float_type in (f16, f32, f64):
            self._constant(float_type, random.choice((-0.0, 1.5, float("inf"), float("nan"))))
        self._id = self._global(VectorType(i64, [3]), "Input")
        decorate(self._id.owner, ("BuiltIn", "GlobalInvocationId"), "Constant")
        self._local = self._global(ArrayType(f32, random.choice((4, 64))), "Workgroup")
        self._structure = self._global(StructType([i32, VectorType(f32, [4])]), "Workgroup")
        self._global(ArrayType(f32, 7), "Workgroup")
        functions = [self._import(), self._helper()]
        functions += [self._kernel(name) for name in kernels]
        block.add_ops(functions)
        return self._module

    # --- at module level ---

    def _constant(self, type: Attribute, value: float) -> SSAValue:
        key = (str(type), repr(value))
        if key not in self._constants:
            made = operation("Constant", type, value)
            self._module.block.add_op(made)
            self._constants[key] = made.result
        return self._constants[key]

    def _global(self, type: Attribute, storage_class: str) -> SSAValue:
        made = operation("Variable", PointerType(type, storage_class), storage_class)
        made.result.name_hint = self._random.choice((None, "shared", "id"))
        self._module.block.add_op(made)
        return made.result

    def _import(self) -> FuncOp:
        type = FunctionType.from_lists([f32, i64], [f32])
        self._imported = FuncOp("_Z6importfl", type, linkage="Import")
        return self._imported

    def _helper(self) -> FuncOp:
        type = FunctionType.from_lists([f32, f32], [f32])
        function = FuncOp("helper", type, control="Inline|Pure", linkage="Export")
        self._block = function.entry_block
        first, second = function.parameters
        self._emit("ReturnValue", None, self._emit("FMul", f32, first, second))
        return function

    # --- kernels ---

    def _kernel(self, name: str) -> FuncOp:
        pointer = PointerType(f32, "CrossWorkgroup")
        decorations = [[("FuncParamAttr", "NoAlias"), ("Alignment", 64)], [], []]
        type = FunctionType.from_lists([pointer, pointer, i32], [])
        self._function = FuncOp(name, type, parameter_decorations=decorations)
        self._function.parameters[0].name_hint = "A"
        self._block = self._function.entry_block
        self._values: list[SSAValue] = [*self._constants.values(), self._function.parameters[2]]
        self._private = self._emit("Variable", PointerType(i64, "Function"), "Function")
        self._index = self._emit("CompositeExtract", i64, self._emit_id(), 0)
        self._values.append(self._index)
        for _ in range(self._random.randint(1, 4)):
            self._statements(self._random.randint(1, 6))
            self._random.choice((self._branch, self._loop, self._switch))()
        self._statements(3)
        self._emit("Return", None)
        return self._function

    def _emit_id(self) -> SSAValue:
        return self._emit("Load", VectorType(i64, [3]), self._id, ("Aligned", 32))

    def _emit(self, name: str, result: Attribute | None, *arguments: BuildArgument) -> SSAValue:
        made = operation(name, result, *arguments)
        self._block.add_op(made)
        if not made.results:
            return self._id
        if self._random.random() < 0.3:
            made.result.name_hint = self._random.choice(_NAMES)
        return made.result

    def _new_block(self, *types: Attribute) -> Block:
        block = Block(arg_types=types)
        block.name_hint = self._random.choice((None, None, "loop"))
        self._function.body.add_block(block)
        return block

    def _some(self, type: Attribute) -> SSAValue:
        """A value of a type."""
        fitting = [value for value in self._values if value.type == type]
        if fitting and self._random.random() < 0.8:
            return self._random.choice(fitting)
        if isinstance(type, IntegerType):
            low = -(1 << (type.width.data - 1))
            return self._constant(type, self._random.choice((0, 1, -1, low, 5)))
        if isinstance(type, Float16Type | Float32Type | Float64Type):
            return self._constant(type, self._random.choice((0.1, -2.0, 0.0)))
        assert isinstance(type, VectorType)
        parts = [self._some(type.element_type) for _ in range(type.get_shape()[0])]
        return self._emit("CompositeConstruct", type, *parts)

    def _statements(self, count: int) -> None:
        choices = (self._compute, self._convert, self._access, self._call, self._synchronize)
        for _ in range(count):
            self._random.choice(choices)()

    def _compute(self) -> None:
        scalar = self._random.choice(SCALARS)
        count = self._random.choice((1, *VECTOR_SIZES))
        type = scalar if count == 1 else VectorType(scalar, [count])
        boolean = i1 if count == 1 else VectorType(i1, [count])
        is_integer = isinstance(scalar, IntegerType)
        first, second = self._some(type), self._some(type)
        made = self._emit(
            self._random.choice(_INTEGER if is_integer else _FLOAT), type, first, second
        )
        if not is_integer:
            made = self._emit(self._random.choice(_UNARY_FLOAT), type, made)
        comparisons = _INTEGER_COMPARISONS if is_integer else _FLOAT_COMPARISONS
        decided = self._emit(self._random.choice(comparisons), boolean, first, made)
        self._values.append(self._emit("Select", type, decided, first, made))
        if isinstance(type, VectorType):
            indices = [self._random.randrange(2 * count) for _ in range(2)]
            shuffled = self._emit("VectorShuffle", VectorType(scalar, [2]), first, second, *indices)
            self._values.append(self._emit("CompositeExtract", scalar, shuffled, 1))

    def _convert(self) -> None:
        source, target = self._random.sample(SCALARS, 2)
        is_integer = isinstance(source, IntegerType), isinstance(target, IntegerType)
        name = {
            (True, True): "SConvert",
            (True, False): "ConvertSToF",
            (False, True): "ConvertFToS",
            (False, False): "FConvert",
        }[is_integer]
        made = self._emit(name, target, self._some(source))
        if self._random.random() < 0.3 and name == "FConvert":
            decorate(made.owner, ("FPRoundingMode", "RTE"))
        self._values.append(made)

    def _access(self) -> None:
        pointer = PointerType(f32, "CrossWorkgroup")
        position = self._emit(
            "InBoundsPtrAccessChain", pointer, self._function.parameters[0], self._index
        )
        access = self._random.choice((("Aligned", 4), ("Volatile|Aligned", 4), "Nontemporal", ()))
        self._values.append(self._emit("Load", f32, position, access))
        self._emit("Store", None, position, self._some(f32), access)
        inner = self._emit(
            "InBoundsAccessChain", PointerType(f32, "Workgroup"), self._local, self._some(i64)
        )
        self._emit("Store", None, inner, self._some(f32))
        member = self._emit(
            "AccessChain",
            PointerType(VectorType(f32, [4]), "Workgroup"),
            self._structure,
            self._constant(i32, 1),
        )
        self._values.append(self._emit("Load", VectorType(f32, [4]), member, ("Aligned", 16)))
        self._emit("Store", None, self._private, self._some(i64))

    def _call(self) -> None:
        made = self._emit("FunctionCall", f32, "helper", self._some(f32), self._some(f32))
        made = self._emit("FunctionCall", f32, "_Z6importfl", made, self._some(i64))
        self._values.append(made)

    def _synchronize(self) -> None:
        scope, subgroup = self._constant(i32, 2), self._constant(i32, 3)
        semantics = self._constant(i32, 0x110)
        self._emit("ControlBarrier", None, scope, scope, semantics)
        inner = self._emit(
            "InBoundsAccessChain",
            PointerType(i32, "Workgroup"),
            self._structure,
            self._constant(i32, 0),
        )
        self._values.append(
            self._emit("AtomicIAdd", i32, inner, scope, self._constant(i32, 0), self._some(i32))
        )
        self._values.append(self._emit("GroupFAdd", f32, subgroup, "Reduce", self._some(f32)))
        position = self._function.parameters[1]
        self._values.append(
            self._emit(
                "AtomicFAddEXT", f32, position, scope, self._constant(i32, 0), self._some(f32)
            )
        )

    # --- control flow ---

    def _condition(self) -> SSAValue:
        return self._emit("SLessThan", i1, self._some(i64), self._index)

    def _branch(self) -> None:
        then, otherwise, end = self._new_block(), self._new_block(f32), self._new_block(f32, i64)
        condition = self._condition()
        if self._random.random() < 0.5:
            self._emit("SelectionMerge", None, end, "None")
        weights = self._random.choice(((), (3, 1)))
        self._emit(
            "BranchConditional", None, condition, then, (otherwise, self._some(f32)), *weights
        )
        before = list(self._values)
        for block in (then, otherwise):
            self._block, self._values = block, [*before, *block.args]
            self._statements(2)
            self._emit("Branch", None, (end, self._some(f32), self._some(i64)))
        self._block, self._values = end, [*before, *end.args]

    def _loop(self) -> None:
        header, body, end = self._new_block(i64, f32), self._new_block(), self._new_block(f32)
        self._emit("Branch", None, (header, self._some(i64), self._some(f32)))
        before = list(self._values)
        self._block, self._values = header, [*before, *header.args]
        condition = self._condition()
        self._emit("LoopMerge", None, end, body, self._random.choice(("None", "Unroll")))
        self._emit("BranchConditional", None, condition, body, (end, header.args[1]))
        self._block = body
        self._statements(2)
        following = self._emit("IAdd", i64, header.args[0], self._constant(i64, 1))
        self._emit("Branch", None, (header, following, self._some(f32)))
        self._block, self._values = end, [*before, *end.args]

    def _switch(self) -> None:
        cases = [self._new_block() for _ in range(self._random.randint(1, 3))]
        end = self._new_block(i32)
        selector_type = self._random.choice((i32, i64))
        selector = self._some(selector_type)
        value = self._some(i32)
        numbers = self._random.sample(range(-4, 100), len(cases))
        pairs: list[BuildArgument] = []
        for number, case in zip(numbers, cases, strict=True):
            pairs += [number, case]
        self._emit("Switch", None, selector, (end, value), *pairs)
        before = list(self._values)
        for case in cases:
            self._block, self._values = case, list(before)
            self._statements(1)
            self._emit("Branch", None, (end, self._some(i32)))
        self._block, self._values = end, [*before, *end.args]
