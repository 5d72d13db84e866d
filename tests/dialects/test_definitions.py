"""Formats of operations, which are read when they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest
from xdsl.irdl import IRDLOperation

from xtile.dialects.definitions import program_of
from xtile.dialects.registry import COMPLETED_DIALECTS, OWN_DIALECTS

_FACTORIES = {**OWN_DIALECTS, **COMPLETED_DIALECTS}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", _FACTORIES)
def test_every_format_can_be_read(dialect: str) -> None:
    for operation in _FACTORIES[dialect]().operations:
        is_defined = issubclass(operation, IRDLOperation)
        if is_defined and operation.get_irdl_definition().assembly_format is not None:
            assert program_of(operation).stmts, operation.name


_ALL = """
from xdsl.irdl.declarative_assembly_format import FormatProgram
read = []
before = FormatProgram.from_str
def seen(text, definition):
    read.append(definition.name)
    return before(text, definition)
FormatProgram.from_str = staticmethod(seen)
from xtile.dialects.registry import OWN_DIALECTS
for factory in OWN_DIALECTS.values():
    factory()
own = [name for name in read if name.startswith(("core.", "xegpu.", "amdg.", "tt."))]
assert not own, own
"""


def test_none_is_read_before_it_is_used() -> None:
    subprocess.run([sys.executable, "-c", _ALL], check=True)
