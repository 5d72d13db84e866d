"""Schedules of XeGPU kernels: their text is mlir-opt's, and what is wrong is refused."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import (
    accepted,
    read,
    upstream,
    upstream_errors,
    without_names,
)

OPERATION, VALUE, NUMBER = "!transform.any_op", "!transform.any_value", "!transform.param<i64>"


def schedule(body: str) -> str:
    """Returns a module that runs operations on `%op`, one of its operands `%v` and numbers."""
    return f"""module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%root: {OPERATION} {{transform.readonly}}) {{
    %op = transform.structured.match ops{{["xegpu.dpas"]}} in %root : ({OPERATION}) -> {OPERATION}
    %v = transform.get_operand %op[1] : ({OPERATION}) -> {VALUE}
    %n = transform.param.constant 6 : i64 -> {NUMBER}
    {body}
    transform.yield
  }}
}}
"""


RIGHT = [
    schedule(body)
    for body in (
        f"%a = transform.get_operand %op[all] : ({OPERATION}) -> {VALUE}",
        f"%a = transform.get_operand %op[except(0, 2)] : ({OPERATION}) -> {VALUE}",
        f"%a = transform.get_operand %op[0, 2] {{note}} : ({OPERATION}) -> {VALUE}",
        f"%d = transform.xegpu.get_desc_op %v : ({VALUE}) -> {OPERATION}",
        f'transform.debug.emit_remark_at %op, "seen" : {OPERATION}',
        f"""transform.apply_patterns to %op {{
      transform.apply_patterns.canonicalization
    }} : {OPERATION}""",
        f"""%d = transform.xegpu.set_desc_layout %op sg_layout = [6, 3] sg_data = [24, 40]
      : ({OPERATION}) -> {OPERATION}""",
        f"""%d = transform.xegpu.set_desc_layout %op sg_layout = [%n, 3] sg_data = [24, %n]
      inst_data = [8, %n] slice_dims = [1] {{note}}
      : ({OPERATION}, {NUMBER}, {NUMBER}, {NUMBER}) -> {OPERATION}""",
        f"""transform.xegpu.set_op_layout_attr %op sg_layout = [6, 3] sg_data = [24, 40]
      : {OPERATION}""",
        f"""transform.xegpu.set_op_layout_attr %op result index = 2 sg_layout = [6, %n]
      sg_data = [24, 40] inst_data = [8, 20] slice_dims = [0] : {OPERATION}, {NUMBER}""",
        f"transform.xegpu.set_gpu_launch_threads %op threads = [6, %n, 1] : {OPERATION}, {NUMBER}",
        f"%d = transform.xegpu.insert_prefetch %v nb_prefetch = 3 : ({VALUE}) -> {OPERATION}",
        f"""%d = transform.xegpu.insert_prefetch %v nb_prefetch = %n
      : ({VALUE}, {NUMBER}) -> {OPERATION}""",
        f"""%d = transform.xegpu.convert_layout %v
      input_sg_layout = [6, 3] input_sg_data = [24, 40] input_inst_data = [%n, 20]
      target_sg_layout = [%n, 3] target_sg_data = [8, 20] target_inst_data = [8, 20]
      : ({VALUE}, {NUMBER}, {NUMBER}) -> {OPERATION}""",
        f"""%d = transform.xegpu.convert_layout %v
      input_sg_layout = [6, 3] input_sg_data = [24, 40]
      target_sg_layout = [6, 3] target_sg_data = [8, 20] : ({VALUE}) -> {OPERATION}""",
    )
]

WRONG = {
    schedule(body): message
    for body, message in (
        (
            f"%d = transform.xegpu.get_desc_op %op : ({OPERATION}) -> {OPERATION}",
            "expected a handle of values, got !transform.any_op",
        ),
        (
            f"""%d = transform.xegpu.set_desc_layout %op sg_layout = [%n, 3] sg_data = [24, 40]
      : ({OPERATION}) -> {OPERATION}""",
            "there are 2 operands, but 1 types; expected as many",
        ),
        (
            f"transform.xegpu.set_op_layout_attr %op sg_data = [4] : {OPERATION}",
            "sg_layout",
        ),
        (
            f"%a = transform.param.constant 6 : i64 -> {OPERATION}",
            "expected a parameter, got !transform.any_op",
        ),
        (
            f"transform.xegpu.set_gpu_launch_threads %v threads = [6, 3, 1] : {VALUE}",
            "expected a handle of operations, got !transform.any_value",
        ),
        (
            f'transform.debug.emit_remark_at %n, "seen" : {NUMBER}',
            "expected a handle, got !transform.param<i64>",
        ),
    )
}


def text(form: str) -> str:
    """Returns text without names and without the space that upstream leaves after `yield`."""
    return "\n".join(line.rstrip() for line in without_names(form).splitlines())


@pytest.mark.parametrize("index", range(len(RIGHT)))
def test_agreement_with_mlir_opt(index: int) -> None:
    expected = upstream(tuple(RIGHT))[index]
    for form in (RIGHT[index], expected.custom, expected.generic):
        ours = accepted(form)
        assert text(ours.custom) == text(expected.custom)
        assert text(ours.generic) == text(expected.generic)


@pytest.mark.parametrize(("piece", "message"), WRONG.items())
def test_both_refuse_what_is_wrong(piece: str, message: str) -> None:
    assert message in str(read(piece))
    assert upstream_errors(tuple(WRONG))[list(WRONG).index(piece)] != ""


def test_lists_need_an_operand_for_each_number_that_they_leave_open() -> None:
    """Upstream's custom form of it would name no operand."""
    unknown = -(2**63)
    piece = (
        f'"transform.xegpu.set_gpu_launch_threads"(%op) <{{static_threads = array<i64: {unknown}, '
        f"4, {unknown}>}}> : ({OPERATION}) -> ()"
    )
    assert "threads leaves 2 of its numbers to operands, but has 0" in str(read(schedule(piece)))
