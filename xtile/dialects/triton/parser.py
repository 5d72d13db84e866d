"""Reads the text of every release of Triton, without being told which."""

from __future__ import annotations

from typing_extensions import override
from xdsl.ir import Attribute, Operation

from xtile.dialects.triton.versions import new_name
from xtile.text.mlir_parser import MlirParser


class TritonParser(MlirParser):
    """Reads MLIR text with the operations of every release of Triton.

    Attributes:
        given_name: What the text calls the operation that is being read.
    """

    given_name: str = ""

    @override
    def _get_op_by_name(self, name: str) -> type[Operation]:
        self.given_name = name
        return super()._get_op_by_name(new_name(name))

    @override
    def _parse_extended_type_or_attribute(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, attr_or_dialect_name: str, is_type: bool
    ) -> Attribute:
        return super()._parse_extended_type_or_attribute(new_name(attr_or_dialect_name), is_type)
