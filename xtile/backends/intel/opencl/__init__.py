"""Running kernels through OpenCL."""
