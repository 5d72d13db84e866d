"""`ttg`: kernels on tensors whose layouts are chosen, with local memory and asynchronous copies."""
