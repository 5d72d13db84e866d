"""Machine code for AMD's GPUs, and what is there to run it."""
