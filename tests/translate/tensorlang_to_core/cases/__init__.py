"""The rows of every family."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case
from tests.translate.tensorlang_to_core.cases import (
    arithmetic,
    builtins,
    collective,
    control,
    matrices,
    matrix_access,
    memory,
    products,
    subgroup,
    views,
)

CASES: list[Case] = [
    *arithmetic.CASES,
    *builtins.CASES,
    *collective.CASES,
    *control.CASES,
    *matrices.CASES,
    *matrix_access.CASES,
    *memory.CASES,
    *products.CASES,
    *subgroup.CASES,
    *views.CASES,
]
