"""What passes and translations build kernels with, and what they ask about operations."""
