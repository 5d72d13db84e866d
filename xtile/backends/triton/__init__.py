"""Kernels of Triton as machine code, by the Triton that is installed."""
