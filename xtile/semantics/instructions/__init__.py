"""How each instruction executes: one handler for each, one module for each family.

A handler looks up an instruction's meaning and slots once and returns the step that executes it.
"""
