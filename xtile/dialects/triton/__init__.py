"""Triton's languages: `tt`, `ttg` and `amdg`, in the text of Triton 3.4 to 3.9."""
