"""The meaning of XeGPU's operations, for whole vectors and for the parts of lanes."""
