"""The meaning of every instruction of the tensor language, and the engine that runs a launch.

docs/semantics.md states what the language reference leaves open.
"""
