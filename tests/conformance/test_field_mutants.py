"""A sample of the mutants: the field finds every mistake that a comparison of floats finds."""

from __future__ import annotations

import pytest

from tests.conformance.field_mutants import Port, outcome, ports_of_examples
from tests.conformance.mutants import mutants

_EACH = 2

PORTS = {port.name: port for port in ports_of_examples()}


@pytest.mark.slow
@pytest.mark.parametrize("name", PORTS)
def test_the_field_finds_what_floats_find(name: str) -> None:
    port: Port = PORTS[name]
    found = mutants(port.port, _EACH, name)
    assert len(found) == _EACH
    for mutant in found:
        field, floats = outcome(port, mutant)
        assert floats == "agree" or field in ("differ", "error"), (mutant.kind, mutant.what)


def test_mutants_are_the_same_each_time() -> None:
    port = PORTS["matrix_unit to cuda_tile"].port
    first, again = ([each.what for each in mutants(port, 20, "x")] for _ in range(2))
    assert first == again
    assert first != [each.what for each in mutants(port, 20, "y")]
    assert "constant" in {each.kind for each in mutants(port, 20, "x")}
