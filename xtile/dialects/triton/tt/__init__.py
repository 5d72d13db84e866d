"""The `tt` dialect: kernels on tensors, before layouts are chosen and after."""
