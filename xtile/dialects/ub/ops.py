"""The `ub` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from xtile.dialects.registry import operations_by_name

__getattr__ = operations_by_name("ub")
