"""The `index` dialect."""

from xdsl.ir import Dialect

Index = Dialect("index", [], [])
