"""The operations of CUDA Tile IR, one module for each group of the specification."""
