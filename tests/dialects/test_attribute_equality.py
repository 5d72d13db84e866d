"""Attributes and types differ where a parameter differs, also one that a base class declares."""

from __future__ import annotations

from dataclasses import fields

import pytest
from xdsl.ir import Attribute, ParametrizedAttribute

from xtile.dialects.registry import make_context


def _classes() -> list[type[ParametrizedAttribute]]:
    """Those of this package: xDSL has more dialects, one of which looks at the machine."""
    context = make_context()
    for name in set(context.registered_dialect_names) - {"cmath"}:
        context.load_registered_dialect(name)
    found: list[type[Attribute]] = [*context.loaded_attrs, *context.loaded_types]
    return [
        each
        for each in found
        if issubclass(each, ParametrizedAttribute) and each.__module__.startswith("xtile.")
    ]


@pytest.mark.slow
def test_all_parameters_are_compared() -> None:
    classes = _classes()
    assert len(classes) > 60
    for each in classes:
        definition = each.get_irdl_definition()
        assert [field.name for field in fields(each)] == [name for name, _ in definition.parameters]
