"""The operations of the core form, each by its name."""

from xtile.dialects.registry import operations_by_name

__getattr__ = operations_by_name("core")
