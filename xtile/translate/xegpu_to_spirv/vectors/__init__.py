"""Vectors of any shape; those of SPIR-V have up to 16 elements."""
