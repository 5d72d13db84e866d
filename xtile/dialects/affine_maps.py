"""What affine maps say of the accesses and the products that they belong to."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineDimExpr


def dimensions_of(map: Attribute) -> list[int | None]:
    """The dimension that each result of an attribute with an affine map is; None: a constant."""
    results = cast(AffineMapAttr, map).data.results
    return [each.position if isinstance(each, AffineDimExpr) else None for each in results]
