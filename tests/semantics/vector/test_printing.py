"""`vector.print`: what stands on standard output."""

from __future__ import annotations

import pytest

from tests.semantics.upstream.kernels import kernel, run

ONE = "intel_reqd_sub_group_size = 1 : i32"

SHOWN = {
    "%v = arith.constant dense<[1.0, 0.1, -2.5e10, 3.0]> : vector<4xf32>\n"
    "vector.print %v : vector<4xf32>": "( 1, 0.1, -2.5e+10, 3 )\n",
    "%v = arith.constant dense<[[1, 2], [3, -4]]> : vector<2x2xi8>\n"
    "vector.print %v : vector<2x2xi8>": "( ( 1, 2 ), ( 3, -4 ) )\n",
    "%v = arith.constant dense<7> : vector<i8>\nvector.print %v : vector<i8>": "( 7 )\n",
    "%v = vector.constant_mask [2] : vector<3xi1>\nvector.print %v : vector<3xi1>": "( 1, 1, 0 )\n",
    # An index is printed without a sign.
    "%v = arith.constant -1 : index\nvector.print %v : index": "18446744073709551615\n",
    "%v = arith.constant dense<[0x7FC00000, 0xFFC00000, 0x7F800000, 0xFF800000]> : vector<4xf32>\n"
    "vector.print %v : vector<4xf32>": "( nan, -nan, inf, -inf )\n",
    "%v = arith.constant 3.140625 : bf16\nvector.print %v : bf16": "3.14062\n",
    "%v = arith.constant 5 : i32\n"
    "vector.print punctuation <open>\n"
    "vector.print %v : i32 punctuation <comma>\n"
    "vector.print %v : i32 punctuation <no_punctuation>\n"
    "vector.print punctuation <close>\n"
    "vector.print punctuation <newline>": "( 5, 5 )\n",
    'vector.print str "a"\nvector.print str "b\\0A"': "ab\n",
}
"""What stands on standard output, by the operations."""


@pytest.mark.parametrize("body", SHOWN)
def test_text(body: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(kernel("", body, attributes=ONE), block=(1, 1, 1))
    assert capsys.readouterr().out == SHOWN[body]


def test_each_active_work_item_prints(capsys: pytest.CaptureFixture[str]) -> None:
    body = """%x = gpu.thread_id x
    %two = arith.constant 2 : index
    %first = arith.cmpi ult, %x, %two : index
    scf.if %first {
      %v = vector.broadcast %x : index to vector<2xindex>
      vector.print %v : vector<2xindex>
      vector.print str "|"
    }"""
    run(kernel("", body), block=(4, 1, 1))
    assert capsys.readouterr().out == "( 0, 0 )\n( 1, 1 )\n||"


def test_a_work_group_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    body = "%x = gpu.block_id x\nvector.print %x : index"
    run(kernel("", body, attributes='core.level = "block"'), block=(4, 1, 1))
    assert capsys.readouterr().out == "0\n"
