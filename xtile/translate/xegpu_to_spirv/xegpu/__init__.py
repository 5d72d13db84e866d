"""XeGPU: blocks, scattered points and products, in the spellings that drivers take."""
