"""Kernels with every instruction on every type that it takes, as texts.

Each computes with what it reads from its first parameters, and writes every result to a parameter
of its own, whose name says what it is a result of.
"""
