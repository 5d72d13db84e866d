"""What property tests need: random kernels and damaged text. Part of the extra `test`."""
