"""XeGPU as its RFC writes it: the form of the first revisions and of the kernels of that time.

Both forms are one dialect. Reading takes either, operation by operation (`parser.py`); printing
takes the one that is asked for. `docs/xegpu-rfc.md` lists every spelling.

    names.py          names of operations, types and attributes; what LLVM 22 has no word for,
                      which has its rules in verifier.py
    operation_text.py the parts of an operation's text, and what reads them: operands.py,
                      descriptor.py, common.py, read_*.py
    operations.py     operations that LLVM 22 does not have
"""
