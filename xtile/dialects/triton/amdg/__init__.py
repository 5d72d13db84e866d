"""`amdg`: what Triton's kernels have for AMD's GPUs only; `amdgpu` until Triton 3.5."""
