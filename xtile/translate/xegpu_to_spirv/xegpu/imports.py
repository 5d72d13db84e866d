"""Functions of the driver, and instructions of the GPU in inline assembly."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.spirv import FuncOp, IdType, VoidType, decorate, operation
from xtile.translate.xegpu_to_spirv.lowering import Lowering

_ASSEMBLY_TARGET = "spirv64-unknown-unknown"


def call(
    lowering: Lowering,
    name: str,
    result: Attribute | None,
    arguments: Sequence[SSAValue],
    control: str = "None",
) -> list[SSAValue]:
    """Calls a function of the driver, which is declared where it is called first.

    Args:
        lowering: Where to emit.
        name: The mangled name.
        result: The type of the result; None if there is none.
        arguments: The arguments.
        control: What the function may be taken to do, such as `Pure`.

    Returns:
        The result, if there is one.
    """
    type_ = FunctionType.from_lists(
        [argument.type for argument in arguments], [] if result is None else [result]
    )

    def declare() -> bool:
        lowering.functions.append(FuncOp(name, type_, linkage="Import", control=control))
        return True

    lowering.once(("import", name), declare)
    return list(lowering.emit(operation("FunctionCall", result, name, *arguments)).results)


def assemble(
    lowering: Lowering,
    text: str,
    result: Attribute | None,
    arguments: Sequence[SSAValue],
    constraints: str,
    *,
    has_effects: bool,
) -> list[SSAValue]:
    """Executes inline assembly.

    Args:
        lowering: Where to emit.
        text: The instructions, with operands `$0`, `$1`, ..., the result first.
        result: The type of the result; None if there is none.
        arguments: The arguments.
        constraints: The constraint of each operand.
        has_effects: Whether it reads or writes memory.

    Returns:
        The result, if there is one.
    """
    types = [argument.type for argument in arguments]
    type_ = FunctionType.from_lists(types, [] if result is None else [result])

    def declare_target() -> SSAValue:
        made = operation("AsmTargetINTEL", IdType(), _ASSEMBLY_TARGET)
        lowering.declarations.add_op(made)
        return made.results[0]

    def declare() -> SSAValue:
        target = lowering.once("assembly", declare_target)
        made = operation("AsmINTEL", result or VoidType(), type_, target, text, constraints)
        if has_effects:
            decorate(made, "SideEffectsINTEL")
        lowering.declarations.add_op(made)
        return made.results[0]

    assembly = lowering.once(("assembly", text, type_, constraints), declare)
    return list(lowering.emit(operation("AsmCallINTEL", result, assembly, *arguments)).results)
