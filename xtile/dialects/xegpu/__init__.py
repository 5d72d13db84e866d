"""The `xegpu` dialect: Intel GPU's tensor descriptors, block loads and matrix products."""

from xdsl.ir import Dialect

XeGPU = Dialect("xegpu", [], [])
