"""The meaning of CUDA Tile IR. `numbers.py` says how tiles are held."""
